package queuetest

import (
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// repeatTests: what is the same occurrence, and what is judged anew.
func repeatTests() []test {
	return []test{
		{"C24/TheSameDeliveryAgain", func(b *bench) {
			e := b.event(b.ref(1))
			e.Fingerprint = "" // so that the delivery alone tells
			send := func() queue.Accepted {
				return b.arrive(queue.Arrival{Delivery: b.delivery("g1"), Wishes: []queue.Wish{b.wish(e)}})[0]
			}
			first := send()
			again := func(when string) {
				b.Helper()
				if a := send(); a.Intake != slot.Duplicate || a.Of != first.Event.Delivery {
					b.Errorf("%s: %s of %q; want a duplicate of %q", when, a.Intake, a.Of, first.Event.Delivery)
				}
			}
			again("while it waits")
			run, _ := b.begin()
			again("during its run")
			b.settle(run, slot.Outcome{Result: slot.Done})
			again("after its run")
			b.wantEvents(b.ref(1), queue.EventDone)
			b.noneDue()
		}},
		{"C25/AnUnwantedDeliveryIsJudgedAnew", func(b *bench) {
			e := b.event(b.ref(1))
			b.arrive(queue.Arrival{Delivery: b.delivery("g1"), Wishes: []queue.Wish{{Event: e, Ignored: "no rule"}}})
			a := b.arrive(queue.Arrival{Delivery: b.delivery("g1"), Wishes: []queue.Wish{b.wish(e)}})[0]
			if a.Intake != slot.Queued {
				b.Fatalf("the wanted one is %+v", a)
			}
			if d, err := b.Store.Delivery(b.ctx, a.Event.Delivery); err != nil || string(d.Body) != "{}" {
				b.Errorf("its delivery: %+v, %v; want it with its body", d, err)
			}
		}},
		{"C24/OneFingerprintIsOneOccurrence", func(b *bench) {
			e := b.event(b.ref(1))
			first := b.accept(e, slot.Queued)
			same := func(when string) {
				b.Helper()
				a := b.arrive(queue.Arrival{Delivery: b.delivery("again" + when), Wishes: []queue.Wish{b.wish(e)}})[0]
				if a.Intake != slot.Duplicate || a.Of != first.Event.ID {
					b.Errorf("%s: %s of %q; want a duplicate of %q", when, a.Intake, a.Of, first.Event.ID)
				}
			}
			same("while it waits")
			run, _ := b.begin()
			same("as the present run was told of it")
			b.settle(run, slot.Outcome{Result: slot.Failed})
			same("while a retry waits")
			b.Clock.Advance(b.policy.BackoffMin)
			run, _ = b.begin()
			newer := b.accept(b.event(b.ref(1)), slot.Coalesced)
			b.settle(run, slot.Outcome{Result: slot.Done})
			same("when it was handled")
			run, l := b.begin()
			b.wantTold(l, newer)
			b.settle(run, slot.Outcome{Result: slot.Done})
			b.wantEvents(b.ref(1), queue.EventDone, queue.EventDone)
		}},
		{"Repeat/WhatWasHandledMayBeWantedAgain", func(b *bench) {
			e := b.event(b.ref(1))
			b.accept(e, slot.Queued)
			again := func(want slot.Intake) {
				b.Helper()
				if a := b.arrive(queue.Arrival{AnyNew: true, Wishes: []queue.Wish{b.wish(e)}})[0]; a.Intake != want {
					b.Errorf("%s; want %s", a.Intake, want)
				}
			}
			again(slot.Duplicate)
			run, _ := b.begin()
			again(slot.Duplicate)
			b.settle(run, slot.Outcome{Result: slot.Done})
			again(slot.Queued)
		}},
		{"Repeat/WhatWasSkippedIsJudgedAnew", func(b *bench) {
			e := b.event(b.ref(1))
			send := func(want slot.Intake) {
				b.Helper()
				if a := b.arrive(queue.Arrival{Delivery: b.delivery("g1"), Wishes: []queue.Wish{b.wish(e)}})[0]; a.Intake != want {
					b.Errorf("%s; want %s", a.Intake, want)
				}
			}
			send(slot.Queued)
			l := b.due()
			b.must("skip", b.Store.Skip(b.ctx, l.Item.ID, "", l.Last, nil, skipping("closed")))
			send(slot.Queued)
			b.wantEvents(b.ref(1), queue.EventSkipped, queue.EventWaiting)
		}},
		{"Repeat/AnIdempotencyKey", func(b *bench) {
			w := b.wish(b.person(b.ref(1)))
			w.Key = "nightly-1"
			send := func() queue.Accepted { return b.arrive(queue.Arrival{Wishes: []queue.Wish{w}})[0] }
			first := send()
			run, _ := b.begin()
			b.settle(run, slot.Outcome{Result: slot.Done})
			if a := send(); a.Intake != slot.Duplicate || a.Of != first.Event.ID {
				b.Errorf("%s of %q; want a duplicate of %q", a.Intake, a.Of, first.Event.ID)
			}
			if w.Key = ""; send().Intake != slot.Queued {
				b.Error("a wish without a key is always new")
			}
		}},
	}
}
