package dispatch

import (
	"testing"
	"time"

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
