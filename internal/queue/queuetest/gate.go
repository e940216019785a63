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
		{"Drop/WhatWaitsNeverRuns", func(b *bench) {
			b.accept(b.event(b.ref(1)), slot.Queued) // deferred
			b.must("defer", b.Store.Defer(b.ctx, b.due().Item.ID, "", b.Clock.Wall().Add(time.Hour), deferral("hold")))
			b.accept(b.person(b.ref(2)), slot.Queued) // backing off
			run, _ := b.begin()
			b.settle(run, slot.Outcome{Result: slot.Failed})
			b.accept(b.event(b.ref(3)), slot.Queued) // parked
			run, _ = b.begin()
			b.settle(run, slot.Outcome{Result: slot.Waits, Summary: "which one?"})
			b.accept(b.event(b.ref(4)), slot.Queued) // dead
			b.must("kill", b.Store.Kill(b.ctx, b.due().Item.ID, "", skipping("rule")))
			for n := 1; n <= 4; n++ {
				if d := b.drop(b.ref(n), nil); len(d) != 1 || d[0].Events != 1 || d[0].Item.State != queue.Idle || d[0].Item.Waiting != 0 {
					b.Errorf("#%d: dropped %+v; want one event, and the item idle", n, d)
				}
				if it := b.wantState(b.ref(n), queue.Idle, queue.ReasonDropped); it.Detail != "by root@suite: not wanted" || it.Waiting != 0 {
					b.Errorf("#%d is %+v", n, it)
				}
				if r := b.wantEvents(b.ref(n), queue.EventSkipped)[0]; r.Reason != "dropped: by root@suite: not wanted" {
					b.Errorf("#%d: the event's reason is %q", n, r.Reason)
				}
				if d := b.drop(b.ref(n), nil); len(d) != 0 {
					b.Errorf("#%d: dropped again %+v", n, d)
				}
			}
			b.Clock.Advance(24 * time.Hour)
			if n, err := b.Store.Wake(b.ctx, slot.Ref{}, ""); n != 0 || err != nil {
				b.Errorf("woke %d, %v", n, err)
			}
			if list, err := b.Store.Revive(b.ctx, b.ref(4), nil); len(list) != 0 || err != nil {
				b.Errorf("revived %+v, %v", list, err)
			}
			b.noneDue()
		}},
		{"Drop/WhatComesLaterStartsAfresh", func(b *bench) {
			first := b.event(b.ref(1))
			b.accept(first, slot.Queued)
			run, _ := b.begin()
			b.settle(run, slot.Outcome{Result: slot.Failed})
			b.drop(b.ref(1), nil)
			second := b.accept(first, slot.Queued) // told again: what was skipped is judged anew
			if l := b.due(); l.Item.Attempts != 0 {
				b.Errorf("%d attempts are left over", l.Item.Attempts)
			}
			_, l := b.begin()
			b.wantTold(l, second)
		}},
		{"Drop/NotWhatARunIsToldOf", func(b *bench) {
			first := b.accept(b.event(b.ref(1)), slot.Queued)
			run, _ := b.begin()
			if d := b.drop(b.ref(1), nil); len(d) != 1 || d[0].Events != 0 || d[0].Item.Run != run || d[0].Item.Waiting != 1 {
				b.Errorf("dropped %+v; want nothing, and run %s named with its event", d, run)
			}
			b.accept(b.person(b.ref(1)), slot.Coalesced)
			if d := b.drop(b.ref(1), nil); len(d) != 1 || d[0].Events != 1 || d[0].Item.Run != run || d[0].Item.Waiting != 1 {
				b.Errorf("dropped %+v; want one event beside run %s", d, run)
			}
			if it := b.wantState(b.ref(1), queue.Running, ""); it.Person {
				b.Errorf("a person still asks: %+v", it)
			}
			b.settle(run, slot.Outcome{Result: slot.Failed})
			b.wantEvents(b.ref(1), queue.EventWaiting, queue.EventSkipped)
			b.Clock.Advance(b.policy.BackoffMin)
			run, l := b.begin() // it is the run's own business, also how it goes on
			b.wantTold(l, first)
			b.settle(run, slot.Outcome{Result: slot.Done})
			b.wantState(b.ref(1), queue.Idle, "")
			b.noneDue()
		}},
		{"Drop/NothingElse", func(b *bench) {
			fix := b.policy
			b.policy = policy("other")
			b.accept(b.event(b.ref(1)), slot.Queued)
			b.policy = fix
			b.accept(b.event(b.ref(1)), slot.Queued)
			b.accept(b.event(b.ref(2)), slot.Queued)
			if d := b.drop(b.ref(1), &fix.Rule); len(d) != 1 || d[0].Item.Policy.Rule != fix.Rule {
				b.Errorf("dropped %+v; want the work of rule %s", d, fix.Rule)
			}
			b.wantOrder("#1", "#2")
			if d := b.drop(b.ref(3), nil); len(d) != 0 {
				b.Errorf("dropped %+v of a ref that has none", d)
			}
			b.must("kill", b.Store.Kill(b.ctx, b.item(b.ref(2)).ID, "", skipping("rule")))
			if d := b.drop(slot.Ref{}, nil); len(d) != 1 || d[0].Item.Ref != b.ref(2) {
				b.Errorf("dropped %+v; want the dead work alone", d)
			}
			b.wantOrder("#1")
		}},
	}
}
