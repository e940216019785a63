package dispatch

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// forgeSays answers when a reservation is asked for.
type forgeSays struct {
	reserve   func(context.Context) error
	withdrawn int
}

func (f *forgeSays) Reserve(ctx context.Context, _ claim.Grant) (func(context.Context), bool, error) {
	if err := f.reserve(ctx); err != nil {
		return nil, false, err
	}
	return func(context.Context) { f.withdrawn++ }, false, nil
}

// Nothing starts when whoever works the queue has been told to end, however far it is
// on its way: the item waits, nothing is spent, and claim and reservation are given back.
func TestAnEndOnTheWayStartsNothing(t *testing.T) {
	tests := map[string]struct {
		gates, reserve bool // when it ends
		hears          bool // the reservation is given up
		claimed        bool
		withdrawn      int
	}{
		"while the gates are asked":             {gates: true},
		"during a reservation, which is broken": {reserve: true, hears: true, claimed: true},
		"during a reservation, which is won":    {reserve: true, claimed: true, withdrawn: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			life, end := context.WithCancel(b.ctx)
			f := &forgeSays{reserve: func(ctx context.Context) error {
				ended := life.Err() != nil
				if tt.reserve {
					end()
				}
				if tt.hears && !ended {
					select {
					case <-ctx.Done():
					case <-time.After(5 * time.Second):
						t.Error("it is not told to end")
					}
					return &slot.UnknownError{Op: "wait", Store: "reservation comment", Err: context.Cause(ctx)}
				}
				return nil
			}}
			b.Reservations = f
			b.Dispatcher.Gates = &closing{doors: b.gates, end: func() {
				if tt.gates {
					end()
				}
			}}
			b.accept(ref(t, "1"))
			b.round(life)
			b.idle()
			s, err := b.claims.Look(b.ctx, ref(t, "1"))
			b.must("look", err)
			it := b.item(ref(t, "1"))
			if it.State != queue.Pending || it.Attempts != 0 || it.Due.After(b.clock.Wall()) || it.Run != "" {
				t.Errorf("%+v; want it due, and nothing spent", it)
			}
			if s.Live() != nil || (s.Newest != nil) != tt.claimed || f.withdrawn != tt.withdrawn {
				t.Errorf("live: %+v, last: %+v; withdrawn %d times", s.Live(), s.Newest, f.withdrawn)
			}
			if tt.claimed && it.Reason != "ending" {
				t.Errorf("it waits because %q", it.Reason)
			}
			b.look() // the next one
			if it := b.item(ref(t, "1")); it.State != queue.Running {
				t.Errorf("%+v; want it running", it)
			}
		})
	}
}

// closing are gates during whose question something ends.
type closing struct {
	*doors
	end func()
}

func (c *closing) Decide(ctx context.Context, ask gate.Ask) gate.Decision {
	c.end()
	return c.doors.Decide(ctx, ask)
}

// Who shows how the work stands hears of an item that a gate ended.
func TestASkipIsTold(t *testing.T) {
	b := newBench(t)
	b.accept(ref(t, "1"))
	l, err := b.Queue.Look(b.ctx, b.item(ref(t, "1")).ID)
	b.must("look", err)
	skipped := map[string]gate.Answer{}
	for _, e := range l.Events {
		skipped[e.Event.ID] = gate.Answer{Verdict: slot.Skip, Reason: "closed: closed"}
	}
	b.Dispatcher.Gates = shut{b.gates, gate.Decision{Verdict: slot.Skip, Reason: "closed: closed", Skipped: skipped}}
	var told atomic.Int32
	b.Tell = func(_ string, r slot.Ref) {
		if r == ref(t, "1") && b.item(r).State == queue.Idle {
			told.Add(1)
		}
	}
	b.look()
	if told.Load() == 0 || b.item(ref(t, "1")).State != queue.Idle {
		t.Errorf("told %d times of %+v", told.Load(), b.item(ref(t, "1")))
	}
}
