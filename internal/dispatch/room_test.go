package dispatch

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// P6: a full repository is waited for, and hides nobody else's time.
func TestP6_AFullRepositoryIsNotLookedAtInAHotLoop(t *testing.T) {
	b := newBench(t)
	b.limits = claim.Limits{PerRepo: 1}
	b.occupy(ref(t, "1"))
	b.accept(ref(t, "2"))
	b.look() // refused
	if rest := b.look(); rest < time.Second {
		t.Errorf("with a full repository it rests for %v", rest)
	}
	other, err := slot.ParseCanonical("github.com/octo/other#1")
	b.must("parse", err)
	b.accept(other)
	b.must("defer", b.Queue.Defer(b.ctx, b.item(other).ID, "", b.clock.Wall().Add(3*time.Second), slot.Decision{Reason: "hours"}))
	if rest := b.look(); rest != 3*time.Second {
		t.Errorf("with an item of another repository due in 3s it rests for %v", rest)
	}
	b.clock.Advance(3 * time.Second)
	b.look()
	if it := b.item(other); it.State != queue.Running {
		t.Errorf("%+v; want it running", it)
	}
}

// P9: a repository that is found full again and again does not stop the others.
func TestP9_FullAgainIsNoOtherRepository(t *testing.T) {
	b := newBench(t)
	for range 100 {
		b.crowded(ref(t, "1"), claim.Limits{PerRepo: 1}, b.rooms.Load())
	}
	if _, full, none := b.occupied(); none || len(full) != 1 {
		t.Errorf("full: %v, all: %v; want one repository", full, none)
	}
}

// P6: who works one ref in the foreground waits for room, and starts when there is.
func TestP6_TheForegroundWaitsForRoom(t *testing.T) {
	for _, limits := range []claim.Limits{{Running: 1}, {PerRepo: 1}} {
		t.Run(fmt.Sprintf("%+v", limits), func(t *testing.T) {
			b := newBench(t)
			b.Pool.Spare = false
			b.limits = limits
			holder := b.occupy(ref(t, "1"))
			b.accept(ref(t, "2"))
			var refused time.Time
			began, freed := time.Now(), false
			err := b.Work(b.ctx, ref(t, "2"), func(ctx context.Context) (bool, error) {
				if time.Since(began) > 20*time.Second {
					return true, errors.New("it does not start")
				}
				if refused.IsZero() && b.item(ref(t, "2")).Reason == slot.ReasonCapacity {
					refused = time.Now()
				}
				if !freed && !refused.IsZero() && time.Since(refused) > time.Second {
					if n := b.supervisors(); n > 3 {
						t.Errorf("%d supervisors were started in a second without room", n)
					}
					freed = true
					if _, err := b.claims.Release(ctx, holder.Key, slot.Outcome{Result: slot.Done}); err != nil {
						return true, err
					}
					b.accept(ref(t, "3")) // as any write, it tells
				}
				return b.item(ref(t, "2")).State == queue.Running, nil
			})
			b.over = make(chan struct{}) // it is closed again at the end of the test
			if err != nil {
				t.Error(err)
			}
		})
	}
}
