package dispatch

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// P9: what is due and free starts.
func TestP9_ItStarts(t *testing.T) {
	b := newBench(t)
	b.accept(ref(t, "1"))
	b.look()
	if it := b.item(ref(t, "1")); it.State != queue.Running {
		t.Errorf("%+v; want it running", it)
	}
}

// P9: a clock that was set back while nobody worked the queue keeps nothing waiting.
func TestP9_AClockSetBackWhileNobodyLooked(t *testing.T) {
	b := newBench(t)
	b.accept(ref(t, "1"))
	b.must("defer", b.Queue.Defer(b.ctx, b.item(ref(t, "1")).ID, "", b.clock.Wall().Add(time.Second), slot.Decision{Reason: "hours"}))
	b.clock.StepWall(-365 * 24 * time.Hour)
	if b.look(); b.item(ref(t, "1")).State != queue.Pending {
		t.Fatal("it is due without any ado")
	}
	b.rewound(b.ctx)
	b.look()
	if it := b.item(ref(t, "1")); it.State != queue.Running {
		t.Errorf("%+v; want it running", it)
	}
}

// P10: however often a held slot is looked at, its refusals are one record.
func TestP10_AHeldSlotIsOneRecord(t *testing.T) {
	b := newBench(t)
	b.occupy(ref(t, "1"))
	b.accept(ref(t, "1"))
	for range 5 {
		b.look()
		b.clock.Advance(gateEvery)
	}
	ds, err := b.Journal.Decisions(b.ctx, ref(t, "1"))
	if err != nil || len(ds) != 2 || ds[1].Reason != slot.ReasonHeld || ds[1].Count != 5 || ds[1].Run != "" {
		t.Errorf("%+v, %v; want the grant to the holder and one refusal, five times", ds, err)
	}
	if it := b.item(ref(t, "1")); it.Reason != slot.ReasonHeld || it.Defers != 5 {
		t.Errorf("%+v", it)
	}
}

// P6, P10: waiting for room is on record, once, and costs no place.
func TestP6_WaitingForRoom(t *testing.T) {
	b := newBench(t)
	b.limits = claim.Limits{Running: 1}
	holder := b.occupy(ref(t, "1"))
	b.accept(ref(t, "2"))
	since, due := b.clock.Wall(), b.item(ref(t, "2")).Due
	for range 3 {
		b.look()
		if _, _, none := b.occupied(); !none {
			t.Fatal("it is not known that all is full")
		}
		b.clock.Advance(fullFor)
		if it := b.item(ref(t, "2")); it.Reason != slot.ReasonCapacity || it.Defers != 1 || !it.Deferred.Equal(since) || !it.Due.Equal(due) {
			t.Errorf("%+v", it)
		}
	}
	_, err := b.claims.Release(b.ctx, holder.Key, slot.Outcome{Result: slot.Done})
	b.must("release", err)
	b.roomy() // as the store tells
	b.look()
	if it := b.item(ref(t, "2")); it.State != queue.Running {
		t.Errorf("%+v; want it running", it)
	}
}

// P6: room that was made while we were being refused is not missed.
func TestP6_RoomMadeDuringTheRefusal(t *testing.T) {
	b := newBench(t)
	b.limits = claim.Limits{Running: 1}
	holder := b.occupy(ref(t, "1"))
	b.accept(ref(t, "2"))
	b.claims.acquired = func() {
		b.claims.acquired = nil
		_, err := b.claims.Release(b.ctx, holder.Key, slot.Outcome{Result: slot.Done})
		if err != nil {
			t.Error(err)
		}
		b.roomy()
	}
	b.look() // refused
	b.look()
	if it := b.item(ref(t, "2")); it.State != queue.Running {
		t.Errorf("%+v; want it running", it)
	}
}

// A store that cannot be written is not asked in a hot loop, and one supervisor is
// enough for all that it refuses.
func TestAnIllStoreIsLeftAlone(t *testing.T) {
	b := newBench(t)
	b.occupy(ref(t, "1"))
	b.accept(ref(t, "1"))
	b.queue.ill = true
	for n := range 4 {
		b.look()
		for range 3 {
			if rest := b.look(); rest <= 0 || rest > time.Second<<n {
				t.Fatalf("after failure %d it rests for %v", n+1, rest)
			}
		}
		if got := b.supervisors(); got != 1 { // who was refused for certain gives it back
			t.Fatalf("%d supervisors were started for %d tries", got, n+1)
		}
		b.clock.Advance(time.Second << n)
	}
	b.queue.ill = false
	b.look()
	if all, first := b.resting(); all != 0 || first != 0 || b.item(ref(t, "1")).Reason != slot.ReasonHeld {
		t.Errorf("it still rests, for %v and %v: %+v", all, first, b.item(ref(t, "1")))
	}
}

// What keeps others out is let go if the claim was lost meanwhile.
func TestALostClaimLetsGo(t *testing.T) {
	b := newBench(t)
	b.accept(ref(t, "1"))
	b.claims.renew = &slot.LostError{Reason: "a test says so"}
	b.gates.hold = func(kept context.Context) {
		b.clock.Advance(slot.StartTTL) // it is time to renew
		<-kept.Done()
	}
	b.look()
	if it := b.item(ref(t, "1")); b.gates.let != 1 || it.State != queue.Pending || it.Attempts != 0 {
		t.Errorf("let go %d times: %+v", b.gates.let, it)
	}
}

// P8: that a run cannot be read does not mean that it has ended.
func TestP8_AnErrorIsNoEnd(t *testing.T) {
	b := newBench(t)
	b.accept(ref(t, "1"))
	l, err := b.Queue.Look(b.ctx, b.item(ref(t, "1")).ID)
	b.must("look", err)
	_, err = b.Queue.Begin(b.ctx, queue.Begin{Item: l.Item.ID, Run: "run-1", Policy: l.Item.Policy})
	b.must("begin", err)
	b.claims.run = errDisk
	if found, err := b.Sweep(b.ctx); !errors.Is(err, slot.ErrUnknown) || len(found) != 0 {
		t.Errorf("%+v, %v; want unknown", found, err)
	}
	if it := b.item(ref(t, "1")); it.State != queue.Running {
		t.Errorf("%+v; want it as it was", it)
	}
	b.claims.run = nil
	if found, err := b.Sweep(b.ctx); err != nil || len(found) != 1 {
		t.Errorf("%+v, %v; want that its run is not on record", found, err)
	}
}

// What the sweep could not clear, since somebody has the slot, is not told as cleared.
func TestTheSweepTellsWhatItDid(t *testing.T) {
	b := newBench(t)
	b.accept(ref(t, "1"))
	b.look()
	run := b.item(ref(t, "1")).Run
	s, err := b.claims.Look(b.ctx, ref(t, "1"))
	b.must("look", err)
	key := claim.NewKey(ref(t, "1"))
	_, err = b.claims.Acquire(b.ctx, claim.Request{
		Ref: ref(t, "1"), Key: key, Kind: slot.Detached, TTL: time.Second,
		Displace: &claim.Displace{Claim: s.Live().ID, Why: claim.Forced},
	})
	b.must("acquire", err)
	_, err = b.claims.Release(b.ctx, key, slot.Outcome{Result: slot.Done})
	b.must("release", err) // the slot is free, and the run is open
	if found, err := b.Sweep(b.ctx); err != nil || len(found) != 0 {
		t.Errorf("nothing was cleared: %+v, %v", found, err)
	}
	b.Reap = func(ctx context.Context, _ slot.Ref) error {
		return b.claims.TreeGone(ctx, run, slot.Outcome{Result: slot.Vanish})
	}
	if found, err := b.Sweep(b.ctx); err != nil || len(found) != 1 || found[0].Run != run {
		t.Errorf("%+v, %v; want that it was cleared", found, err)
	}
}

// shut are gates that say one thing.
type shut struct {
	*doors
	says gate.Decision
}

func (s shut) Decide(context.Context, gate.Ask) gate.Decision { return s.says }

// A slot that is kept for a person is given to an event only after the gates let that
// pass.
func TestResumed_GatesAreAskedFirst(t *testing.T) {
	b := newBench(t)
	r := ref(t, "1")
	req := claim.Request{Ref: r, Key: claim.NewKey(r), Kind: slot.Supervised, Run: "r1", TTL: time.Minute, Holder: slot.Holder{Host: "here", Path: slot.PathManual}}
	_, err := b.claims.Acquire(b.ctx, req)
	b.must("claim", err)
	_, err = b.claims.Start(b.ctx, req.Key)
	b.must("start", err)
	b.accept(r)
	b.look() // it is held
	_, err = b.claims.Park(b.ctx, req.Key, slot.Outcome{Result: slot.Waits})
	b.must("park", err)
	b.Dispatcher.Gates = shut{b.gates, gate.Decision{Verdict: slot.Defer, Reason: "hours: closed", Skipped: map[string]gate.Answer{}}}
	b.clock.Advance(gateEvery)
	b.look()
	s, err := b.claims.Look(b.ctx, r)
	b.must("look", err)
	if live := s.Live(); live == nil || live.Kind != slot.Waiting || b.item(r).Reason != "hours: closed" {
		t.Errorf("the waiting claim: %+v; the work: %s", live, b.item(r).Reason)
	}
	b.Dispatcher.Gates = b.gates
	b.clock.Advance(gateEvery)
	b.look()
	s, err = b.claims.Look(b.ctx, r)
	b.must("look", err)
	if live := s.Live(); live != nil && live.Kind == slot.Waiting {
		t.Errorf("an event that the gates let pass did not resume it: %+v", b.item(r))
	}
}

// P4: a configuration that lacks a rule for a moment, because somebody writes it, ends no
// work; one that stays so does.
func TestARuleIsGone(t *testing.T) {
	b := newBench(t)
	b.accept(ref(t, "1"))
	b.ruleless = errors.New("no rule has the name")
	b.look()
	b.ruleless = nil
	b.clock.Advance(ruleAgain)
	b.look()
	if it := b.item(ref(t, "1")); it.State != queue.Running {
		t.Errorf("after a moment without it: %+v", it)
	}
	b.accept(ref(t, "2"))
	b.ruleless = errors.New("no rule has the name")
	for range ruleLost/ruleAgain + 2 {
		b.look()
		b.clock.Advance(ruleAgain)
	}
	if it := b.item(ref(t, "2")); it.State != queue.Dead || it.Reason != queue.ReasonRule {
		t.Errorf("in the end: %+v", it)
	}
}
