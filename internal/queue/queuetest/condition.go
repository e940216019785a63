package queuetest

import (
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// conditionTests: what is still true after it was handled.
func conditionTests() []test {
	return []test{
		{"StillTrue/SeenToAgainAfterAWhile", still(func(b *bench, e slot.Event) {
			first := b.remind(e, slot.Queued)
			b.remind(e, slot.Duplicate) // while it waits
			run, _ := b.begin()
			b.remind(e, slot.Duplicate) // while a run sees to it
			b.settle(run, slot.Outcome{Result: slot.Done})
			for range 3 {
				if a := b.remind(e, slot.Duplicate); a.Of != first.Event.ID {
					b.Errorf("it repeats %q; want %q", a.Of, first.Event.ID)
				}
				b.Clock.Advance(b.policy.Again / 3)
			}
			second := b.remind(e, slot.Queued)
			b.remind(e, slot.Duplicate)
			if it := b.item(e.Ref); it.Attempts != 1 {
				b.Errorf("%d attempts; want 1: a run ended well and left it as it was", it.Attempts)
			}
			_, l := b.begin()
			b.wantTold(l, second)
		})},
		{"StillTrue/AfterAllAttemptsItIsDead", still(func(b *bench, e slot.Event) {
			b.handled(e, b.policy.Attempts)
			a := b.remind(e, slot.Coalesced)
			if a.Reason != queue.ReasonUnresolved {
				b.Errorf("accepted as %+v; want a dead letter, unresolved", a)
			}
			if it := b.wantState(e.Ref, queue.Dead, queue.ReasonUnresolved); !strings.Contains(it.Detail, "3 runs") {
				b.Errorf("%q does not say after how many", it.Detail)
			}
			b.noneDue()
			b.Clock.Advance(b.policy.Again)
			b.remind(e, slot.Duplicate) // one dead letter is enough
			// A new result at the same head does not revive it, a new head does.
			b.accept(b.event(e.Ref), slot.Coalesced)
			b.wantState(e.Ref, queue.Dead, queue.ReasonUnresolved)
			moved := b.event(e.Ref)
			moved.Sha = "bbbb"
			b.accept(moved, slot.Queued)
			if l := b.due(); l.Item.Attempts != 0 || len(l.Events) != 3 {
				b.Errorf("%d attempts, %d events; want a fresh budget, and the dead letters", l.Item.Attempts, len(l.Events))
			}
		})},
		{"StillTrue/FailedRunsCountToo", still(func(b *bench, e slot.Event) {
			b.remind(e, slot.Queued)
			run, _ := b.begin()
			b.settle(run, slot.Outcome{Result: slot.Failed})
			b.Clock.Advance(b.policy.BackoffMin)
			run, _ = b.begin()
			b.settle(run, slot.Outcome{Result: slot.Done})
			b.Clock.Advance(b.policy.Again)
			b.remind(e, slot.Queued)
			if it := b.item(e.Ref); it.Attempts != 2 {
				b.Errorf("%d attempts; want 2: one failed, one left it as it was", it.Attempts)
			}
			run, _ = b.begin()
			b.settle(run, slot.Outcome{Result: slot.Failed})
			b.wantState(e.Ref, queue.Dead, queue.ReasonUnresolved)
		})},
		{"StillTrue/ANewResultIsNoFreshBudget", still(func(b *bench, e slot.Event) {
			b.handled(e, 2)
			b.accept(b.event(e.Ref), slot.Queued)
			run, _ := b.begin()
			b.settle(run, slot.Outcome{Result: slot.Done})
			b.Clock.Advance(b.policy.Again)
			b.remind(e, slot.Queued)
			if it := b.item(e.Ref); it.Attempts != 2 {
				b.Errorf("%d attempts; want 2", it.Attempts)
			}
		})},
		{"StillTrue/NewFactsAreAFreshBudget", func(b *bench) {
			for name, change := range map[string]func(*slot.Event){
				"a head":   func(e *slot.Event) { e.Sha = "bbbb" },
				"a kind":   func(e *slot.Event) { e.Kind = slot.Conflict },
				"a person": func(e *slot.Event) { e.Path, e.Kind, e.Fingerprint = slot.PathManual, slot.Manual, "" },
			} {
				b.policy.Again = 30 * time.Minute
				b.n++
				ref := b.ref(b.n)
				e := b.event(ref)
				b.handled(e, b.policy.Attempts)
				other := b.event(ref)
				change(&other)
				b.accept(other, slot.Queued)
				run, _ := b.begin()
				b.settle(run, slot.Outcome{Result: slot.Done})
				b.Clock.Advance(b.policy.Again)
				if other.Fingerprint == "" {
					other = e
				}
				b.remind(other, slot.Queued)
				if it := b.item(ref); it.Attempts != 1 {
					b.Errorf("%s: %d attempts; want 1", name, it.Attempts)
				}
				run, _ = b.begin()
				b.settle(run, slot.Outcome{Result: slot.Done})
			}
		}},
		{"StillTrue/APersonWhoIsAskedIsNotPassed", still(func(b *bench, e slot.Event) {
			b.handled(e, 1)
			b.accept(b.event(e.Ref), slot.Queued)
			run, _ := b.begin()
			b.settle(run, slot.Outcome{Result: slot.Waits})
			b.Clock.Advance(b.policy.Again)
			b.remind(e, slot.Duplicate)
			b.noneDue()
		})},
		{"StillTrue/OccurrencesAreDone", still(func(b *bench, e slot.Event) {
			b.handled(e, 1)
			b.Clock.Advance(b.policy.Again)
			b.accept(e, slot.Duplicate)
		})},
		{"StillTrue/NeverIfNotWanted", still(func(b *bench, e slot.Event) {
			b.policy.Again = 0
			b.handled(e, 1)
			b.Clock.Advance(24 * time.Hour)
			b.remind(e, slot.Duplicate)
			// What may be wanted again at once is no condition: each look would start it.
			w := b.wish(e)
			w.Condition = true
			if a := b.arrive(queue.Arrival{AnyNew: true, Wishes: []queue.Wish{w}})[0]; a.Intake != slot.Duplicate {
				b.Errorf("with AnyNew it is %s", a.Intake)
			}
		})},
	}
}

// still is a test about a condition of the first ref, that is seen to again after
// half an hour.
func still(f func(*bench, slot.Event)) func(*bench) {
	return func(b *bench) {
		b.policy.Again = 30 * time.Minute
		f(b, b.event(b.ref(1)))
	}
}

// remind takes in a condition that is true now.
func (b *bench) remind(e slot.Event, want slot.Intake) queue.Accepted {
	b.Helper()
	w := b.wish(e)
	w.Condition = true
	done := b.arrive(queue.Arrival{Wishes: []queue.Wish{w}})
	if len(done) != 1 || done[0].Intake != want {
		b.Fatalf("accepted as %+v; want one, %s", done, want)
	}
	return done[0]
}

// handled has so many runs see to a condition, and end well.
func (b *bench) handled(e slot.Event, runs int) {
	b.Helper()
	for range runs {
		b.remind(e, slot.Queued)
		run, _ := b.begin()
		b.settle(run, slot.Outcome{Result: slot.Done})
		b.Clock.Advance(b.policy.Again)
	}
}
