package queuetest

import (
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

func runTests() []test {
	return []test{
		{"P4/ARunIsToldOfAllThatWaits", func(b *bench) {
			first, second := b.accept(b.event(b.ref(1)), slot.Queued), b.accept(b.event(b.ref(1)), slot.Coalesced)
			run, l := b.begin()
			b.wantTold(l, first, second)
			b.wantState(b.ref(1), queue.Running, "")
			b.noneDue()
			told, err := b.Store.Events(b.ctx, queue.Filter{Run: run})
			if err != nil || len(told) != 2 {
				b.Errorf("told by the record: %+v, %v", told, err)
			}
			b.settle(run, slot.Outcome{Result: slot.Done})
			b.wantState(b.ref(1), queue.Idle, "")
			recs := b.wantEvents(b.ref(1), queue.EventSuperseded, queue.EventDone)
			if recs[0].By != second.Event.ID || recs[0].Reason == "" || recs[0].Run != run {
				b.Errorf("superseded: %+v; want by %s", recs[0], second.Event.ID)
			}
		}},
		{"P4/OneRunTakesAnItem", func(b *bench) {
			b.accept(b.event(b.ref(1)), slot.Queued)
			id := b.due().Item.ID
			b.begin()
			_, err := b.Store.Begin(b.ctx, queue.Begin{Item: id, Run: "other", Policy: b.policy})
			b.wantStale("a second begin", err)
			b.wantStale("a deferral by nobody", b.Store.Defer(b.ctx, id, "", b.Clock.Wall(), deferral("x")))
			b.wantStale("a deferral by another", b.Store.Defer(b.ctx, id, "other", b.Clock.Wall(), deferral("x")))
			b.wantStale("a skip by another", b.Store.Skip(b.ctx, id, "other", 99, nil, skipping("x")))
			b.wantStale("a kill by nobody", b.Store.Kill(b.ctx, id, "", skipping("x")))
			b.wantState(b.ref(1), queue.Running, "")
		}},
		{"Settle/OnlyTheItemsOwnRun", func(b *bench) {
			b.accept(b.event(b.ref(1)), slot.Queued)
			run, _ := b.begin()
			for _, other := range []string{"other", ""} {
				if was, err := b.Store.Settle(b.ctx, other, slot.Outcome{Result: slot.Done}); was || err != nil {
					b.Errorf("the end of run %q settles it: %v, %v", other, was, err)
				}
			}
			b.wantState(b.ref(1), queue.Running, "")
			b.settle(run, slot.Outcome{Result: slot.Failed})
			if was, err := b.Store.Settle(b.ctx, run, slot.Outcome{Result: slot.Done}); was || err != nil {
				b.Errorf("settled twice: %v, %v", was, err)
			}
			b.wantEvents(b.ref(1), queue.EventWaiting)
		}},
		{"P5/OneFollowUpForAllThatCame", func(b *bench) {
			for _, result := range []slot.Result{slot.Done, slot.Failed, slot.Later, slot.Stopped, slot.Vanish, slot.Waits, slot.Lost} {
				ref := b.parse("key:" + string(result))
				first := b.accept(b.event(ref), slot.Queued)
				run, _ := b.begin()
				second, third := b.accept(b.event(ref), slot.Coalesced), b.accept(b.person(ref), slot.Coalesced)
				b.noneDue()
				b.settle(run, slot.Outcome{Result: result})
				run, l := b.begin()
				if result == slot.Done || result == slot.Stopped {
					b.wantTold(l, second, third)
				} else {
					b.wantTold(l, first, second, third)
				}
				b.settle(run, slot.Outcome{Result: slot.Done})
				b.noneDue()
				b.wantState(ref, queue.Idle, "")
			}
		}},
		{"Settle/AFailureIsTriedAgain", func(b *bench) {
			e := b.accept(b.event(b.ref(1)), slot.Queued)
			for i, wait := range []time.Duration{10 * time.Second, 20 * time.Second} {
				run, l := b.begin()
				b.wantTold(l, e)
				if l.Item.Attempts != i {
					b.Errorf("run %d is attempt %d", i, l.Item.Attempts)
				}
				b.settle(run, slot.Outcome{Result: slot.Failed, Reason: "broken"})
				b.wantState(b.ref(1), queue.Pending, queue.ReasonRetry)
				b.wantDue(b.ref(1), wait)
				b.noneDue()
				b.Clock.Advance(wait)
			}
			run, _ := b.begin()
			b.settle(run, slot.Outcome{Result: slot.Failed, Reason: "broken"})
			b.wantState(b.ref(1), queue.Dead, queue.ReasonUnresolved)
			if r := b.wantEvents(b.ref(1), queue.EventDead)[0]; r.Reason == "" {
				b.Error("a dead letter without a reason")
			}
			b.noneDue()
		}},
		{"Settle/ANewEventCutsABackOffShort", func(b *bench) {
			b.accept(b.event(b.ref(1)), slot.Queued)
			run, _ := b.begin()
			b.settle(run, slot.Outcome{Result: slot.Failed})
			b.noneDue()
			b.accept(b.event(b.ref(1)), slot.Coalesced)
			if l := b.due(); l.Item.Attempts != 1 {
				b.Errorf("%d attempts; a new result at the same head spends none and gives none back", l.Item.Attempts)
			}
		}},
		{"Settle/DeadUntilSomethingIsNew", func(b *bench) {
			b.policy.Attempts = 1
			die := func() {
				b.Helper()
				run, _ := b.begin()
				b.settle(run, slot.Outcome{Result: slot.Failed})
				b.wantState(b.ref(1), queue.Dead, queue.ReasonUnresolved)
			}
			b.accept(b.event(b.ref(1)), slot.Queued)
			die()
			b.accept(b.event(b.ref(1)), slot.Coalesced) // the same head, the same kind
			b.wantEvents(b.ref(1), queue.EventDead, queue.EventDead)
			b.noneDue()

			moved := b.event(b.ref(1))
			moved.Sha = "bbbb"
			b.accept(moved, slot.Queued)
			b.wantEvents(b.ref(1), queue.EventWaiting, queue.EventWaiting, queue.EventWaiting)
			die()
			other := b.event(b.ref(1))
			other.Kind, other.Sha = slot.Conflict, "bbbb"
			b.accept(other, slot.Queued)
			die()
			b.accept(b.person(b.ref(1)), slot.Queued)
			if l := b.due(); l.Item.Attempts != 0 || len(l.Events) != 5 {
				b.Errorf("revived with %d attempts and %d events; want 0 and 5", l.Item.Attempts, len(l.Events))
			}
		}},
		{"Settle/LaterIsNoAttempt", func(b *bench) {
			b.accept(b.event(b.ref(1)), slot.Queued)
			for _, wait := range []time.Duration{5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute, time.Hour, time.Hour} {
				run, _ := b.begin()
				b.settle(run, slot.Outcome{Result: slot.Later})
				b.wantDue(b.ref(1), wait)
				b.Clock.Advance(wait)
			}
			run, _ := b.begin()
			b.settle(run, slot.Outcome{Result: slot.Later, RetryAfter: time.Minute})
			b.wantDue(b.ref(1), time.Minute)
			if it := b.wantState(b.ref(1), queue.Pending, queue.ReasonLater); it.Attempts != 0 {
				b.Errorf("%d attempts", it.Attempts)
			}
		}},
		{"Settle/WaitingForAPerson", func(b *bench) {
			first := b.accept(b.event(b.ref(1)), slot.Queued)
			run, _ := b.begin()
			b.settle(run, slot.Outcome{Result: slot.Waits, Summary: "which one?"})
			b.wantState(b.ref(1), queue.Idle, queue.ReasonWaiting)
			b.wantEvents(b.ref(1), queue.EventWaiting)
			b.noneDue()
			second := b.accept(b.event(b.ref(1)), slot.Queued)
			b.wantTold(b.due(), first, second)
		}},
		{"Settle/WhatWasNotTriedIsNotSpent", func(b *bench) {
			for _, out := range []slot.Outcome{{Result: slot.Lost}, {Result: slot.NoStart, Unspent: true}} {
				run := ""
				if b.n == 0 {
					b.accept(b.person(b.ref(1)), slot.Queued)
				}
				run, _ = b.begin()
				b.settle(run, out)
				if out.Unspent { // what was in the way may still be there
					b.wantDue(b.ref(1), queue.UnspentWait)
					b.Clock.Advance(queue.UnspentWait)
				}
				if l := b.due(); l.Item.Attempts != 0 || !l.Item.Person {
					b.Errorf("after %s: %+v", out.Result, l.Item)
				}
			}
			run, _ := b.begin() // a command that cannot be started was tried
			b.settle(run, slot.Outcome{Result: slot.NoStart})
			if it := b.item(b.ref(1)); it.Attempts != 1 {
				b.Errorf("%d attempts after a failed start; want 1", it.Attempts)
			}
		}},
	}
}
