package queuetest

import (
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// gateTests: what is done with items that do not start.
func gateTests() []test {
	return []test{
		{"P6/DeferringIsFree", func(b *bench) {
			e := b.accept(b.event(b.ref(1)), slot.Queued)
			run, _ := b.begin()
			b.settle(run, slot.Outcome{Result: slot.Failed})
			b.Clock.Advance(b.policy.BackoffMin)
			since := b.Clock.Wall()
			for i := range 5 {
				it := b.due().Item
				b.must("defer", b.Store.Defer(b.ctx, it.ID, "", b.Clock.Wall().Add(10*time.Second), deferral("systemd: busy")))
				it = b.wantState(b.ref(1), queue.Pending, "systemd: busy")
				if it.Attempts != 1 || it.Defers != i+1 || !it.Deferred.Equal(since) {
					b.Errorf("deferral %d: %+v", i+1, it)
				}
				b.noneDue()
				b.Clock.Advance(10 * time.Second)
			}
			_, l := b.begin()
			if b.wantTold(l, e); l.Item.Attempts != 1 {
				b.Errorf("%d attempts", l.Item.Attempts)
			}
		}},
		{"P6/ARunThatDidNotStartIsPutBack", func(b *bench) {
			first := b.accept(b.person(b.ref(1)), slot.Queued)
			since := b.Clock.Wall()
			b.must("defer", b.Store.Defer(b.ctx, b.due().Item.ID, "", since.Add(time.Second), deferral("systemd: busy")))
			b.Clock.Advance(time.Second)
			run, _ := b.begin()
			second := b.accept(b.event(b.ref(1)), slot.Coalesced)
			id := b.item(b.ref(1)).ID
			b.must("defer", b.Store.Defer(b.ctx, id, run, b.Clock.Wall().Add(10*time.Second), deferral("systemd: busy")))
			if it := b.item(b.ref(1)); it.Defers != 2 || !it.Deferred.Equal(since) {
				b.Errorf("put off %d times since %v; want 2 since %v", it.Defers, it.Deferred, since)
			}
			if was, err := b.Store.Settle(b.ctx, run, slot.Outcome{Result: slot.NoStart}); was || err != nil {
				b.Errorf("the end of a run that was put back settles: %v, %v", was, err)
			}
			b.Clock.Advance(10 * time.Second)
			_, l := b.begin()
			if b.wantTold(l, first, second); l.Item.Attempts != 0 || !l.Item.Asked {
				b.Errorf("begun again as %+v", l.Item)
			}
		}},
		{"C43/EventsOfADeferredItemCallNoOne", func(b *bench) {
			b.policy.Quiet = 2 * time.Second
			b.accept(b.event(b.ref(1)), slot.Queued)
			b.must("defer", b.Store.Defer(b.ctx, b.item(b.ref(1)).ID, "", b.Clock.Wall().Add(time.Hour), deferral("systemd: busy")))
			for range 50 {
				b.accept(b.event(b.ref(1)), slot.Coalesced)
				b.Clock.Advance(time.Minute)
				b.noneDue()
				if b.item(b.ref(1)).Due.Sub(b.Clock.Wall()) < 5*time.Minute {
					break
				}
			}
			n, err := b.Store.Wake(b.ctx, b.ref(1), "")
			if err != nil || n != 1 {
				b.Errorf("woken %d, %v", n, err)
			}
			if l := b.due(); l.Item.Attempts != 0 || l.Item.Defers != 1 {
				b.Errorf("woken as %+v", l.Item)
			}
		}},
		{"Wake/ByRefOrByReason", func(b *bench) {
			for i, reason := range []string{"systemd: a", "systemd: b", "docker: a"} {
				b.accept(b.event(b.ref(i+1)), slot.Queued)
				b.must("defer", b.Store.Defer(b.ctx, b.item(b.ref(i+1)).ID, "", b.Clock.Wall().Add(time.Hour), deferral(reason)))
			}
			b.accept(b.event(b.ref(4)), slot.Queued)
			run, err := b.Store.Begin(b.ctx, queue.Begin{Item: b.due().Item.ID, Run: "run-x", Policy: b.policy})
			b.must("begin", err)
			b.settle("run-x", slot.Outcome{Result: slot.Failed})
			if n, err := b.Store.Wake(b.ctx, run.Item.Ref, ""); err != nil || n != 0 {
				b.Errorf("a back-off is no deferral: %d, %v", n, err)
			}
			if n, err := b.Store.Wake(b.ctx, slot.Ref{}, "systemd"); err != nil || n != 2 {
				b.Errorf("woken %d, %v; want 2", n, err)
			}
			b.wantOrder("#1", "#2")
		}},
		{"P4/ASkipEndsWhatWasLookedAt", func(b *bench) {
			b.accept(b.event(b.ref(1)), slot.Queued)
			l := b.due()
			since := b.accept(b.event(b.ref(1)), slot.Coalesced)
			b.must("skip", b.Store.Skip(b.ctx, l.Item.ID, "", l.Last, nil, skipping("closed")))
			if r := b.wantEvents(b.ref(1), queue.EventSkipped, queue.EventWaiting)[0]; r.Reason == "" {
				b.Error("skipped without a reason")
			}
			l = b.due()
			b.wantTold(l, since)
			b.must("skip", b.Store.Skip(b.ctx, l.Item.ID, "", l.Last, nil, skipping("closed")))
			b.wantState(b.ref(1), queue.Idle, "closed")
			b.noneDue()
		}},
		{"Skip/SomeOfThem", func(b *bench) {
			first := b.accept(b.event(b.ref(1)), slot.Queued)
			b.Clock.Advance(time.Second)
			second := b.accept(b.event(b.ref(1)), slot.Coalesced)
			l := b.due()
			b.must("skip", b.Store.Skip(b.ctx, l.Item.ID, "", l.Last, []string{first.Event.ID}, skipping("trust")))
			b.wantEvents(b.ref(1), queue.EventSkipped, queue.EventWaiting)
			if l := b.due(); !l.Item.Age.Equal(second.Event.At) {
				b.Errorf("its age is that of what was skipped: %v", l.Item.Age)
			}
			run, l := b.begin()
			b.wantTold(l, second)
			third := b.accept(b.event(b.ref(1)), slot.Coalesced)
			b.must("skip", b.Store.Skip(b.ctx, l.Item.ID, run, l.Last, []string{second.Event.ID}, skipping("trust")))
			b.wantTold(b.due(), third) // nothing is left for the run: it is given up
			if was, err := b.Store.Settle(b.ctx, run, slot.Outcome{Result: slot.NoStart, Unspent: true}); was || err != nil {
				b.Errorf("it still settles: %v, %v", was, err)
			}
		}},
		{"Skip/TheRunGoesOnWithTheRest", func(b *bench) {
			first, second := b.accept(b.event(b.ref(1)), slot.Queued), b.accept(b.event(b.ref(1)), slot.Coalesced)
			run, l := b.begin()
			b.must("skip", b.Store.Skip(b.ctx, l.Item.ID, run, l.Last, []string{second.Event.ID}, skipping("trust")))
			b.wantState(b.ref(1), queue.Running, "")
			b.settle(run, slot.Outcome{Result: slot.Done})
			recs := b.wantEvents(b.ref(1), queue.EventDone, queue.EventSkipped)
			if recs[0].ID != first.Event.ID {
				b.Errorf("done is %s; want %s", recs[0].ID, first.Event.ID)
			}
		}},
		{"Kill/DeadLettersComeBack", func(b *bench) {
			first, second := b.accept(b.event(b.ref(1)), slot.Queued), b.accept(b.event(b.ref(1)), slot.Coalesced)
			b.must("kill", b.Store.Kill(b.ctx, b.due().Item.ID, "", skipping("rule")))
			if it := b.wantState(b.ref(1), queue.Dead, "rule"); it.Waiting != 2 {
				b.Errorf("%d dead letters wait; want 2", it.Waiting)
			}
			b.wantEvents(b.ref(1), queue.EventDead, queue.EventDead)
			b.noneDue()
			other := "other"
			if list, err := b.Store.Revive(b.ctx, b.ref(1), &other); err != nil || len(list) != 0 {
				b.Errorf("revived for another rule: %+v, %v", list, err)
			}
			list, err := b.Store.Revive(b.ctx, b.ref(1), nil)
			if err != nil || len(list) != 1 || list[0].State != queue.Pending {
				b.Fatalf("revived %+v, %v", list, err)
			}
			run, l := b.begin()
			b.wantTold(l, first, second)
			b.settle(run, slot.Outcome{Result: slot.Done})
			if list, err := b.Store.Revive(b.ctx, slot.Ref{}, nil); err != nil || len(list) != 0 {
				b.Errorf("revived what is over: %+v, %v", list, err)
			}
		}},
		{"Revive/OfAllRefsTheDeadOnly", func(b *bench) {
			b.accept(b.event(b.ref(1)), slot.Queued)
			run, _ := b.begin()
			b.settle(run, slot.Outcome{Result: slot.Waits, Summary: "which one?"})
			b.wantState(b.ref(1), queue.Idle, queue.ReasonWaiting)
			b.accept(b.event(b.ref(2)), slot.Queued)
			b.must("kill", b.Store.Kill(b.ctx, b.due().Item.ID, "", skipping("rule")))
			list, err := b.Store.Revive(b.ctx, slot.Ref{}, nil)
			if err != nil || len(list) != 1 || list[0].Ref != b.ref(2) {
				b.Errorf("revived %+v, %v; want the dead one", list, err)
			}
			b.wantState(b.ref(1), queue.Idle, queue.ReasonWaiting)
			if list, err := b.Store.Revive(b.ctx, b.ref(1), nil); err != nil || len(list) != 1 {
				b.Errorf("revived %+v, %v; want the one that waits for a person, which is named", list, err)
			}
		}},
	}
}
