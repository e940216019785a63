package dispatch

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/queue"
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

// dying sees whoever is watched end at once.
type dying struct{ living }

func (dying) Watch(slot.Process) (<-chan struct{}, func(), error) {
	gone := make(chan struct{})
	close(gone)
	return gone, func() {}, nil
}

// started is a run of somebody's, at work.
func (b *bench) started(n, run string) claim.Request {
	b.Helper()
	r := ref(b.T, n)
	req := claim.Request{Ref: r, Key: claim.NewKey(r), Kind: slot.Supervised, Run: run, TTL: time.Minute, Grace: time.Second,
		Holder: slot.Holder{Host: "here", Path: slot.PathManual, Process: slot.Process{Boot: b.clock.BootID(), PID: 4000, Ticks: 1}}}
	_, err := b.claims.Acquire(b.ctx, req)
	b.must("claim", err)
	_, err = b.claims.Start(b.ctx, req.Key)
	b.must("start", err)
	return req
}

// A run that waits for a person is told of once, as nothing wrong. Nobody works under
// its claim: nothing of it is cleared, now or later.
func TestWhatWaitsForAPersonIsLeftAlone(t *testing.T) {
	b := newBench(t)
	var log bytes.Buffer
	reaped := 0
	b.Dispatcher.Log, b.Sight = slog.New(slog.NewTextHandler(&log, nil)), dying{}
	b.Reap = func(context.Context, slot.Ref) error { reaped++; return nil }
	req := b.started("1", "run1")
	s, err := b.claims.Look(b.ctx, req.Ref)
	b.must("look", err)
	_, err = b.claims.Park(b.ctx, req.Key, slot.Outcome{Result: slot.Waits, Summary: "which branch?"})
	b.must("park", err)
	b.watch(*s.Live()) // as it was: its supervisor's end is seen now
	b.work.Wait()
	for range 3 {
		b.must("follow", b.Follow(b.ctx))
		b.work.Wait()
	}
	if n := strings.Count(log.String(), "msg=ended"); n != 1 || !strings.Contains(log.String(), "level=INFO msg=ended") {
		t.Errorf("the log tells %d times:\n%s", n, log.String())
	}
	if reaped != 0 {
		t.Errorf("it was cleared %d times", reaped)
	}
}

// A claim that a hold keeps on record after its holder's death is told of once.
func TestADeadClaimOnHoldIsToldOnce(t *testing.T) {
	b := newBench(t)
	var log bytes.Buffer
	b.Dispatcher.Log, b.Sight = slog.New(slog.NewTextHandler(&log, nil)), dying{}
	req := b.started("1", "run1")
	b.Reap = func(ctx context.Context, _ slot.Ref) error { // as on hold: the claim stays
		return b.claims.TreeGone(ctx, req.Run, slot.Outcome{Result: slot.Vanish, Reason: "its supervisor is dead"})
	}
	for range 3 {
		b.must("follow", b.Follow(b.ctx))
		b.work.Wait()
	}
	if n := strings.Count(log.String(), "level=WARN msg=ended"); n != 1 {
		t.Errorf("the log tells %d times:\n%s", n, log.String())
	}
}

// The log tells which attempt of how many failed, and when the next one is; after the
// last one that the work was given up, and what a person can do.
func TestFailedAttemptsAreTold(t *testing.T) {
	b := newBench(t)
	var log bytes.Buffer
	b.Dispatcher.Log = slog.New(slog.NewTextHandler(&log, nil))
	b.accept(ref(t, "1"))
	exit := 3
	out := slot.Outcome{Result: slot.Failed, Exit: &exit}
	for _, want := range []string{
		`level=WARN msg=ended .* attempt="1 of 3" next=2026-03-29T01:31:00`,
		`level=WARN msg=ended .* attempt="2 of 3" next=2026-03-29T01:33:00`,
		`level=WARN msg=ended .* attempt="3 of 3"\nlevel=WARN msg="given up" ref=github.com/octo/hello#1 rule=fix attempts=3 reason=unresolved detail="exit 3" hint="oneslot retry github.com/octo/hello#1"`,
	} {
		it := b.item(ref(t, "1"))
		b.clock.Advance(it.Due.Sub(b.clock.Wall()))
		run := slot.Run{ID: claim.NewID(), Ref: it.Ref, Rule: "fix", State: slot.RunEnded, Outcome: out}
		_, err := b.Queue.Begin(b.ctx, queue.Begin{Item: it.ID, Run: run.ID, Policy: it.Policy})
		b.must("begin", err)
		_, err = b.Queue.Settle(b.ctx, run.ID, out)
		b.must("settle", err)
		log.Reset()
		b.say(b.ctx, run)
		told := regexp.MustCompile(`time=\S+ `).ReplaceAllString(log.String(), "")
		if !regexp.MustCompile(want).MatchString(told) {
			t.Errorf("told:\n%s\nwant %s", told, want)
		}
	}
	// A run that nobody's work was for has no attempts, whatever its ref.
	log.Reset()
	b.say(b.ctx, slot.Run{ID: "hand-made", Ref: ref(t, "1"), State: slot.RunEnded, Outcome: out})
	if strings.Contains(log.String(), "given up") || !strings.Contains(log.String(), "msg=ended") {
		t.Errorf("told:\n%s", log.String())
	}
	if it := b.item(ref(t, "1")); it.State != queue.Dead {
		t.Errorf("%+v; want it dead", it)
	}
}

// So does the sweep, of work whose last run nobody settled.
func TestTheSweepTellsOfWhatIsGivenUp(t *testing.T) {
	b := newBench(t)
	var log bytes.Buffer
	b.Dispatcher.Log = slog.New(slog.NewTextHandler(&log, nil))
	b.accept(ref(t, "1"))
	it := b.item(ref(t, "1"))
	it.Policy.Attempts = 1
	_, err := b.Queue.Begin(b.ctx, queue.Begin{Item: it.ID, Run: "run1", Policy: it.Policy})
	b.must("begin", err)
	for range 2 {
		_, err = b.Sweep(b.ctx)
		b.must("sweep", err)
	}
	if n := strings.Count(log.String(), `msg="given up" ref=github.com/octo/hello#1 rule=fix attempts=1`); n != 1 {
		t.Errorf("told %d times:\n%s", n, log.String())
	}
}
