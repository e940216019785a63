package queuetest

import (
	"fmt"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

func orderTests() []test {
	return []test{
		{"P9/DueMeansNow", func(b *bench) {
			b.policy.Quiet = 2 * time.Second
			b.accept(b.event(b.ref(1)), slot.Queued)
			b.noneDue()
			due, err := b.Store.NextDue(b.ctx, nil, nil)
			if err != nil || !due.Equal(b.Clock.Wall().Add(2*time.Second)) {
				b.Errorf("next due %v, %v", due, err)
			}
			b.Clock.Advance(2 * time.Second)
			id := b.due().Item.ID
			if looks, err := b.Store.Pick(b.ctx, 10, []int64{id}, nil); err != nil || len(looks) != 0 {
				b.Errorf("a busy item is picked: %+v, %v", looks, err)
			}
			if looks, err := b.Store.Pick(b.ctx, 10, nil, []string{b.ref(1).Repo()}); err != nil || len(looks) != 0 {
				b.Errorf("an item of a full repository is picked: %+v, %v", looks, err)
			}
			if due, err := b.Store.NextDue(b.ctx, []int64{id}, nil); err != nil || !due.IsZero() {
				b.Errorf("next due but the busy one: %v, %v", due, err)
			}
			// What is due in a full repository hides nobody else's.
			full := []string{b.ref(1).Repo()}
			if due, err := b.Store.NextDue(b.ctx, nil, full); err != nil || !due.IsZero() {
				b.Errorf("next due but in the full repository: %v, %v", due, err)
			}
			b.accept(b.event(b.parse("github.com/octo/other#1")), slot.Queued)
			due, err = b.Store.NextDue(b.ctx, nil, full)
			if err != nil || !due.Equal(b.Clock.Wall().Add(2*time.Second)) {
				b.Errorf("next due but in the full repository, with one elsewhere: %v, %v", due, err)
			}
		}},
		{"Order/PersonThenPriorityThenAge", func(b *bench) {
			low, high := b.policy, b.policy
			high.Priority = 5
			add := func(n int, p queue.Policy, e slot.Event) {
				b.Helper()
				e.Ref = b.ref(n)
				b.arrive(queue.Arrival{Wishes: []queue.Wish{{Event: e, Policies: []queue.Policy{p}}}})
				b.Clock.Advance(time.Second)
			}
			add(1, low, b.event(b.ref(1)))
			add(2, low, b.event(b.ref(2)))
			add(3, high, b.event(b.ref(3)))
			add(4, low, b.person(b.ref(4)))
			add(5, high, b.event(b.ref(5)))
			b.wantOrder("#4", "#3", "#5", "#1", "#2")
			add(2, low, b.person(b.ref(2)))
			b.wantOrder("#2", "#4", "#3", "#5", "#1")
		}},
		{"Order/AgeNotWhenItBecameDue", func(b *bench) {
			b.accept(b.event(b.ref(1)), slot.Queued)
			b.Clock.Advance(time.Second)
			b.accept(b.event(b.ref(2)), slot.Queued)
			b.must("defer", b.Store.Defer(b.ctx, b.item(b.ref(1)).ID, "", b.Clock.Wall().Add(10*time.Second), deferral("hours")))
			b.wantOrder("#2")
			b.Clock.Advance(10 * time.Second)
			b.wantOrder("#1", "#2")
		}},
		{"Order/RepositoriesTakeTurns", func(b *bench) {
			for i := range 4 {
				b.accept(b.event(b.parse(fmt.Sprintf("github.com/octo/noisy#%d", i+1))), slot.Queued)
				b.Clock.Advance(time.Second)
			}
			b.accept(b.event(b.parse("github.com/octo/quiet#9")), slot.Queued)
			b.accept(b.event(b.parse("key:x")), slot.Queued)
			b.wantOrder("noisy#1", "quiet#9", "key:x", "noisy#2", "noisy#3", "noisy#4")
			// A repository that was served is the last to be served again.
			if looks := b.pick(1); len(looks) == 1 {
				_, err := b.Store.Begin(b.ctx, queue.Begin{Item: looks[0].Item.ID, Run: "run-a", Policy: b.policy})
				b.must("begin", err)
			}
			b.wantOrder("quiet#9", "key:x", "noisy#2", "noisy#3", "noisy#4")
			// So is one that comes anew.
			b.accept(b.event(b.parse("github.com/octo/third#1")), slot.Queued)
			b.wantOrder("quiet#9", "key:x", "noisy#2", "third#1", "noisy#3", "noisy#4")
		}},
	}
}

// wantOrder compares the ends of the refs that are due.
func (b *bench) wantOrder(want ...string) {
	b.Helper()
	looks := b.pick(10)
	var got []string
	ok := len(looks) == len(want)
	for i, l := range looks {
		s := l.Item.Ref.String()
		got = append(got, s)
		ok = ok && len(s) >= len(want[i]) && s[len(s)-len(want[i]):] == want[i]
	}
	if !ok {
		b.Errorf("the order is %v; want %v", got, want)
	}
	if first := b.pick(1); len(first) != min(1, len(want)) || len(first) > 0 && first[0].Item.ID != looks[0].Item.ID {
		b.Errorf("the first alone is %+v", first)
	}
}
