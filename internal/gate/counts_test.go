package gate_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

type counts struct {
	running, inRepo, ofRef int
	err                    error
	since                  time.Time
}

func (c *counts) Running(context.Context, slot.Ref) (int, int, error) {
	return c.running, c.inRepo, c.err
}
func (c *counts) RunsOf(_ context.Context, _ slot.Ref, since time.Time) (int, error) {
	c.since = since
	return c.ofRef, c.err
}

func TestCountedGates(t *testing.T) {
	clk := newClock()
	c := &counts{running: 3, inRepo: 2, ofRef: 20}
	pull, key := gate.Ask{Ref: ref(t, "github.com/o/r#1")}, gate.Ask{Ref: ref(t, "key:x")}
	under := pull
	under.Claimed = true
	hours24 := 24 * time.Hour

	wants(t, gate.NewCapacity(c, 4, 3).Ask(t.Context(), pull), slot.Proceed, "capacity: room")
	wants(t, gate.NewCapacity(c, 0, 0).Ask(t.Context(), pull), slot.Proceed, "capacity: room")
	wants(t, gate.NewCapacity(c, 3, 0).Ask(t.Context(), pull), slot.Defer, "capacity: full | 3 runs of at most 3")
	wants(t, gate.NewCapacity(c, 0, 2).Ask(t.Context(), pull), slot.Defer, "capacity: repository full | 2 runs of at most 2 in github.com/o/r")
	wants(t, gate.NewCapacity(c, 0, 2).Ask(t.Context(), key), slot.Proceed, "capacity: room")
	wants(t, gate.NewBreaker(c, 21, hours24, clk).Ask(t.Context(), pull), slot.Proceed, "breaker: closed")
	wants(t, gate.NewBreaker(c, 20, hours24, clk).Ask(t.Context(), pull), slot.Defer, "breaker: too many runs | 20 runs in 24h; at most 20")
	wants(t, gate.NewBreaker(c, 20, hours24, clk).Ask(t.Context(), under), slot.Proceed, "")
	wants(t, gate.NewBreaker(c, 0, hours24, clk).Ask(t.Context(), pull), slot.Proceed, "")
	if want := clk.Wall().Add(-hours24); c.since != want {
		t.Errorf("runs since %v were counted, not since %v", c.since, want)
	}

	c.err = errors.New("disk is gone") // P8
	for _, g := range []gate.Gate{gate.NewCapacity(c, 9, 0), gate.NewCapacity(c, 0, 9), gate.NewBreaker(c, 99, time.Hour, clk)} {
		wants(t, g.Ask(t.Context(), pull), slot.Unknown, "disk is gone")
	}
}
