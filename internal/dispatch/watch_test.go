package dispatch

import (
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// A step of the wall clock is seen once, and ordinary slewing is none.
func TestSteps(t *testing.T) {
	clk := clock.NewManual(time.Unix(1e9, 0))
	s := newSteps(clk)
	for _, c := range []struct {
		pass, set, want time.Duration
	}{
		{time.Hour, 0, 0},
		{time.Second, 900 * time.Millisecond, 0},
		{time.Second, 2 * time.Hour, 2*time.Hour + 900*time.Millisecond},
		{time.Minute, 0, 0},
		{time.Minute, -90 * time.Second, -90 * time.Second},
	} {
		clk.Advance(c.pass)
		clk.StepWall(c.set)
		if got := s.step(); got != c.want {
			t.Errorf("after %v and a step of %v: %v, want %v", c.pass, c.set, got, c.want)
		}
	}
}

// The watch of a claim that somebody gave back ends with the claim's time, not only
// with the process that held it.
func TestAWatchEndsWithItsClaim(t *testing.T) {
	b := newBench(t)
	req := b.occupy(ref(t, "1"))
	s, err := b.claims.Look(b.ctx, ref(t, "1"))
	b.must("look", err)
	c := *s.Live()
	c.Left, c.Holder.Process = 0, slot.Process{PID: 1}
	_, err = b.claims.Release(b.ctx, req.Key, slot.Outcome{Result: slot.Done})
	b.must("release", err)
	b.watch(c)
	watched := func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.watched)
	}
	for end := time.Now().Add(10 * time.Second); watched() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it is watched for ever")
		}
	}
}

// What a run that others started leaves is cleared when it dies, not at the next sweep;
// and one out of sight when it is surely over.
func TestFollow(t *testing.T) {
	b := newBench(t)
	hold := func(n, boot string) string {
		r := ref(t, n)
		req := claim.Request{Ref: r, Key: claim.NewKey(r), Kind: slot.Supervised, Run: "run" + n, Warden: true, TTL: time.Minute, Grace: time.Second,
			Holder: slot.Holder{Host: "here", Path: slot.PathManual, Process: slot.Process{Boot: boot, PID: 4000, Ticks: 1}}}
		_, err := b.claims.Acquire(b.ctx, req)
		b.must("claim", err)
		_, err = b.claims.Start(b.ctx, req.Key)
		b.must("start", err)
		return req.Key.Claim
	}
	follows := func() map[string]bool {
		b.must("follow", b.Follow(b.ctx))
		b.mu.Lock()
		defer b.mu.Unlock()
		ids := map[string]bool{}
		for id := range b.watched {
			ids[id] = true
		}
		return ids
	}
	near, far := hold("1", b.clock.BootID()), hold("2", "far:elsewhere")
	if got := follows(); !got[near] || got[far] {
		t.Errorf("%v is followed; want %s alone", got, near)
	}
	b.clock.Advance(time.Minute + claim.LateMost + time.Second)
	if got := follows(); !got[far] {
		t.Errorf("%v is followed; want %s, too", got, far)
	}
}
