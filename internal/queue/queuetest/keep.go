package queuetest

import (
	"context"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// keepTests: numbers, clocks, and what is kept for how long.
func keepTests() []test {
	return []test{
		{"Gauge/CountsWhatIsThere", func(b *bench) {
			b.policy.Attempts = 1
			b.accept(b.event(b.ref(1)), slot.Queued) // will be dead
			run, _ := b.begin()
			b.settle(run, slot.Outcome{Result: slot.Failed})
			b.accept(b.event(b.ref(2)), slot.Queued) // idle
			run, _ = b.begin()
			b.settle(run, slot.Outcome{Result: slot.Done})
			b.accept(b.event(b.ref(3)), slot.Queued) // running
			b.begin()
			oldest := b.accept(b.event(b.ref(4)), slot.Queued) // deferred
			b.must("defer", b.Store.Defer(b.ctx, b.item(b.ref(4)).ID, "", b.Clock.Wall().Add(time.Hour), deferral("hours")))
			b.Clock.Advance(time.Second)
			b.accept(b.event(b.ref(5)), slot.Queued) // due
			lost := b.event(b.ref(6))
			lost.Ref = slot.Ref{}
			b.accept(lost, slot.Queued)
			g, err := b.Store.Gauge(b.ctx)
			b.must("gauge", err)
			if g.Items[queue.Dead] != 1 || g.Items[queue.Idle] != 1 || g.Items[queue.Running] != 1 || g.Items[queue.Pending] != 2 ||
				g.Due != 1 || g.Deferred != 1 || g.Unresolved != 1 || !g.Oldest.Equal(oldest.Event.At) {
				b.Errorf("%+v", g)
			}
			for state, want := range map[queue.State]slot.Ref{queue.Dead: b.ref(1), queue.Idle: b.ref(2), queue.Running: b.ref(3), queue.Pending: b.ref(5)} {
				items, err := b.Store.Items(b.ctx, queue.Filter{State: string(state), Limit: 1})
				if err != nil || len(items) != 1 || items[0].Ref != want {
					b.Errorf("the newest %s item: %+v, %v; want %s", state, items, err, want)
				}
			}
		}},
		{"Shift/TimesToComeFollowTheWallClock", func(b *bench) {
			b.policy.Quiet = time.Minute
			b.accept(b.event(b.ref(1)), slot.Queued)
			b.Clock.StepWall(-3 * time.Hour)
			b.must("shift", b.Store.Shift(b.ctx, -3*time.Hour))
			b.noneDue()
			b.wantDue(b.ref(1), time.Minute)
			b.Clock.Advance(time.Minute)
			b.due()
		}},
		{"P9/AStepForwardDelaysNothing", func(b *bench) {
			b.policy.Quiet = time.Minute
			b.Clock.StepWall(time.Hour)
			b.accept(b.event(b.ref(1)), slot.Queued) // and then the step is seen
			b.must("shift", b.Store.Shift(b.ctx, time.Hour))
			b.wantDue(b.ref(1), time.Minute)
		}},
		{"P9/AStepBackDuringARunDelaysNoFollowUp", func(b *bench) {
			b.accept(b.event(b.ref(1)), slot.Queued)
			run, _ := b.begin()
			b.policy.Quiet = time.Minute
			b.accept(b.event(b.ref(1)), slot.Coalesced)
			b.Clock.StepWall(-time.Hour)
			b.must("shift", b.Store.Shift(b.ctx, -time.Hour))
			b.settle(run, slot.Outcome{Result: slot.Done})
			b.wantDue(b.ref(1), time.Minute)
		}},
		{"P9/AStepBackThatNobodySaw", func(b *bench) {
			b.policy.Quiet = time.Minute
			b.accept(b.event(b.ref(1)), slot.Queued) // accepted at a time to come
			b.policy.Quiet = 0
			b.accept(b.event(b.ref(2)), slot.Queued) // put off at one
			b.must("defer", b.Store.Defer(b.ctx, b.due().Item.ID, "", b.Clock.Wall().Add(10*time.Second), deferral("hours")))
			b.accept(b.event(b.ref(3)), slot.Queued) // a retry from then
			run, _ := b.begin()
			b.settle(run, slot.Outcome{Result: slot.Failed})
			rewound := func(want int) {
				b.Helper()
				if n, err := b.Store.Rewound(b.ctx); err != nil || n != want {
					b.Errorf("%d items are from times to come, %v; want %d", n, err, want)
				}
			}
			rewound(0)
			b.noneDue()
			b.Clock.StepWall(-365 * 24 * time.Hour)
			b.noneDue()
			rewound(3)
			if looks := b.pick(10); len(looks) != 3 {
				b.Errorf("%d items are due; want 3", len(looks))
			}
		}},
		{"Items/ThoseThatWaitLongestFirst", func(b *bench) {
			for n := 1; n <= 4; n++ {
				b.accept(b.event(b.ref(n)), slot.Queued)
			}
			for _, n := range []int{2, 3, 1} {
				b.must("defer", b.Store.Defer(b.ctx, b.item(b.ref(n)).ID, "", b.Clock.Wall().Add(time.Hour), deferral("hours")))
				b.Clock.Advance(time.Minute)
			}
			items, err := b.Store.Items(b.ctx, queue.Filter{PutOff: b.Clock.Wall().Add(-time.Minute)})
			if err != nil || len(items) != 2 || items[0].Ref != b.ref(2) || items[1].Ref != b.ref(3) {
				b.Errorf("%+v, %v; want #2 and #3", items, err)
			}
			if items, err = b.Store.Items(b.ctx, queue.Filter{PutOff: b.Clock.Wall(), Limit: 1}); err != nil || len(items) != 1 || items[0].Ref != b.ref(2) {
				b.Errorf("%+v, %v; want #2 alone", items, err)
			}
		}},
		{"P4/DeadLettersAreNotForgotten", func(b *bench) {
			b.accept(b.event(b.ref(1)), slot.Queued)
			b.must("kill", b.Store.Kill(b.ctx, b.due().Item.ID, "", skipping("rule")))
			b.Clock.Advance(time.Hour)
			_, err := b.Store.Forget(b.ctx, b.Clock.Wall())
			b.must("forget", err)
			b.wantEvents(b.ref(1), queue.EventDead)
			if list, err := b.Store.Revive(b.ctx, b.ref(1), nil); err != nil || len(list) != 1 {
				b.Errorf("revived %+v, %v", list, err)
			}
			b.begin()
		}},
		{"Forget/WhatIsOverAndOld", func(b *bench) {
			for i, guid := range []string{"g1", "g2"} {
				d := b.delivery(guid)
				d.Body, d.File = nil, "spool/"+guid
				b.arrive(queue.Arrival{Delivery: d, Wishes: []queue.Wish{b.wish(b.event(b.ref(i + 1)))}})
			}
			looks := b.pick(1)
			_, err := b.Store.Begin(b.ctx, queue.Begin{Item: looks[0].Item.ID, Run: "run-x", Policy: b.policy})
			b.must("begin", err)
			b.settle("run-x", slot.Outcome{Result: slot.Done})
			b.Clock.Advance(time.Hour)
			files, err := b.Store.Forget(b.ctx, b.Clock.Wall().Add(-2*time.Hour))
			if err != nil || len(files) != 0 {
				b.Errorf("forgot %v, %v; nothing is as old", files, err)
			}
			b.wantEvents(b.ref(1), queue.EventDone)
			files, err = b.Store.Forget(b.ctx, b.Clock.Wall())
			if err != nil || !slices.Equal(files, []string{"spool/g1"}) {
				b.Errorf("forgot %v, %v", files, err)
			}
			b.wantEvents(b.ref(1))
			b.wantEvents(b.ref(2), queue.EventWaiting) // P4: what waits is never too old
			if d, err := b.Store.Delivery(b.ctx, b.due().Events[0].Delivery); err != nil || d.File != "spool/g2" {
				b.Errorf("its delivery: %+v, %v", d, err)
			}
			for file, want := range map[string]bool{"spool/g1": false, "spool/g2": true, "": false} {
				if named, err := b.Store.Names(b.ctx, file); err != nil || named != want {
					b.Errorf("a delivery names %q: %v, %v", file, named, err)
				}
			}
		}},
		{"P6/WhoWorksTheQueueIsWoken", func(b *bench) {
			stores := []queue.Store{b.Store}
			if b.Other != nil {
				stores = append(stores, b.Other)
			}
			old, renew, err := b.Store.Woken(b.ctx)
			b.must("woken", err)
			ctx, cancel := context.WithCancel(b.ctx)
			defer cancel()
			woken, _, err := b.Store.Woken(ctx)
			b.must("woken", err)
			select {
			case <-old:
			default:
				b.Error("whoever was told before does not learn that it is not any more")
			}
			for i, from := range stores {
				drain(old)
				if drain(woken); i > 1 {
					break
				}
				_, err := from.Accept(b.ctx, queue.Arrival{Wishes: []queue.Wish{b.wish(b.event(b.ref(i + 1)))}})
				b.must("accept", err)
				select {
				case <-woken:
				case <-time.After(5 * time.Second):
					b.Errorf("nobody was woken by handle %d", i)
				}
				select {
				case <-old:
					b.Error("the one before was woken, too")
				default:
				}
			}
			for range 2 { // again is harmless
				b.must("renew", renew(b.ctx))
			}
			drain(woken)
			b.accept(b.event(b.ref(9)), slot.Queued)
			select {
			case <-old:
			default:
				b.Error("nobody was woken after renew")
			}
		}},
	}
}

func drain(c <-chan struct{}) {
	select {
	case <-c:
	default:
	}
}
