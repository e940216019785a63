package queuetest

import (
	"errors"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

func intakeTests() []test {
	return []test{
		{"P4/AcceptedIsOnRecord", func(b *bench) {
			e := b.event(b.ref(1))
			e.Facts.Labels, e.Facts.Note = []string{"a", "b"}, "please"
			done := b.arrive(queue.Arrival{Delivery: b.delivery("g1"), Wishes: []queue.Wish{b.wish(e)}})
			if len(done) != 1 || done[0].Intake != slot.Queued || done[0].Rule != "fix" || done[0].Event.ID == "" {
				b.Fatalf("accepted %+v", done)
			}
			r := b.wantEvents(b.ref(1), queue.EventWaiting)[0]
			if r.ID != done[0].Event.ID || r.Ref != e.Ref || r.Kind != e.Kind || r.Sha != e.Sha || r.Facts.Note != "please" ||
				!slices.Equal(r.Facts.Labels, e.Facts.Labels) || r.Fingerprint != e.Fingerprint || r.Repo != e.Repo || r.Path != e.Path ||
				!r.At.Equal(b.Clock.Wall()) {
				b.Errorf("on record is %+v; want %+v", r, e)
			}
			d, err := b.Store.Delivery(b.ctx, r.Delivery)
			if err != nil || string(d.Body) != "{}" || d.GUID != "g1" || d.Hook != "forge" || d.Event != "check_run" || d.Action != "completed" {
				b.Errorf("its delivery: %+v, %v", d, err)
			}
			if b.Other != nil {
				l, err := b.Other.Look(b.ctx, b.item(b.ref(1)).ID)
				if b.must("another process's look", err); len(l.Events) != 1 {
					b.Errorf("another process sees %+v", l)
				}
			}
		}},
		{"Intake/IdsSortByAcceptance", func(b *bench) {
			var ids []string
			for range 12 {
				ids = append(ids, b.arrive(queue.Arrival{Wishes: []queue.Wish{b.wish(b.event(b.ref(1)))}})[0].Event.ID)
			}
			if !slices.IsSorted(ids) || len(slices.Compact(ids)) != 12 {
				b.Errorf("ids %v", ids)
			}
		}},
		{"Intake/OneItemPerRule", func(b *bench) {
			w := b.wish(b.event(b.ref(1)))
			w.Policies = append(w.Policies, policy("review"))
			if done := b.arrive(queue.Arrival{Wishes: []queue.Wish{w}}); len(done) != 2 || done[0].Rule != "fix" || done[1].Rule != "review" {
				b.Fatalf("accepted %+v", done)
			}
			if looks := b.pick(10); len(looks) != 2 || looks[0].Item.ID == looks[1].Item.ID {
				b.Errorf("due %+v", looks)
			}
			rule := "review"
			items, err := b.Store.Items(b.ctx, queue.Filter{Rule: &rule})
			if err != nil || len(items) != 1 || items[0].Policy.Rule != rule {
				b.Errorf("items of one rule: %+v, %v", items, err)
			}
		}},
		{"Intake/IgnoredIsNoEvent", func(b *bench) {
			w := queue.Wish{Event: b.event(b.ref(1)), Ignored: "no rule wants ci_failed"}
			done := b.arrive(queue.Arrival{Delivery: b.delivery("g1"), Wishes: []queue.Wish{w}})
			if len(done) != 1 || done[0].Intake != slot.Ignored || done[0].Reason != w.Ignored || done[0].Event.ID != "" {
				b.Fatalf("accepted %+v", done)
			}
			b.wantEvents(b.ref(1))
			b.noneDue()
			d, err := b.Store.Delivery(b.ctx, done[0].Event.Delivery)
			if err != nil || d.Body != nil || d.File != "" {
				b.Errorf("the delivery of what nobody wants: %+v, %v; want it without a body", d, err)
			}
		}},
		{"Intake/UnresolvedWaitsForItsRef", func(b *bench) {
			e := b.event(b.ref(1))
			e.Ref = slot.Ref{}
			first := b.accept(e, slot.Queued)
			if again := b.accept(e, slot.Duplicate); again.Of != first.Event.ID {
				b.Errorf("again is of %q; want %q", again.Of, first.Event.ID)
			}
			list, err := b.Store.Events(b.ctx, queue.Filter{State: string(queue.EventUnresolved)})
			if err != nil || len(list) != 1 || list[0].Repo != e.Repo || list[0].Sha != e.Sha || !list[0].Ref.IsZero() {
				b.Errorf("unresolved: %+v, %v", list, err)
			}
			b.noneDue()
		}},
		{"C33/ABurstIsOneStart", func(b *bench) {
			b.policy.Quiet, b.policy.MaxQuiet = 2*time.Second, 10*time.Second
			first := b.accept(b.event(b.ref(1)), slot.Queued)
			b.wantDue(b.ref(1), 2*time.Second)
			b.Clock.Advance(time.Second)
			second := b.accept(b.event(b.ref(1)), slot.Coalesced)
			b.wantDue(b.ref(1), 2*time.Second)
			b.noneDue()
			b.Clock.Advance(2 * time.Second)
			b.wantTold(b.due(), first, second)
		}},
		{"C33/ASteadyStreamStartsAfterAll", func(b *bench) {
			b.policy.Quiet, b.policy.MaxQuiet = 2*time.Second, 10*time.Second
			b.accept(b.event(b.ref(1)), slot.Queued)
			for range 9 {
				b.Clock.Advance(time.Second)
				b.accept(b.event(b.ref(1)), slot.Coalesced)
				b.noneDue()
			}
			b.Clock.Advance(time.Second)
			b.due()
		}},
		{"Intake/APersonDoesNotWait", func(b *bench) {
			b.policy.Quiet = time.Hour
			b.accept(b.event(b.ref(1)), slot.Queued)
			b.noneDue()
			b.accept(b.person(b.ref(1)), slot.Coalesced)
			if l := b.due(); !l.Item.Person || len(l.Events) != 2 {
				b.Errorf("due %+v", l)
			}
		}},
		{"Intake/WhatIsNotThere", func(b *bench) {
			if _, err := b.Store.Look(b.ctx, 99); !errors.Is(err, slot.ErrUsage) {
				b.Errorf("look: %v", err)
			}
			if _, err := b.Store.Delivery(b.ctx, "d000000000099"); !errors.Is(err, slot.ErrUsage) {
				b.Errorf("delivery: %v", err)
			}
			if was, err := b.Store.Settle(b.ctx, "nobody", slot.Outcome{Result: slot.Done}); was || err != nil {
				b.Errorf("settle: %v, %v", was, err)
			}
			if due, err := b.Store.NextDue(b.ctx, nil, nil); err != nil || !due.IsZero() {
				b.Errorf("next due: %v, %v", due, err)
			}
		}},
	}
}
