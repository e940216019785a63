package dispatch

import (
	"context"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// watch has the ref looked at when the holder of c has ended without a word: what
// it left is cleared and settled, and whoever waits for the slot starts.
func (d *Dispatcher) watch(c slot.Claim) {
	p := c.Holder.Process
	if p.IsZero() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.watched[c.ID]; known { // one process may hold several
		return
	}
	gone, stop, err := d.Watcher.Watch(p)
	if err != nil {
		return // out of sight: its expiry will tell
	}
	d.watched[c.ID] = stop
	d.work.Go(func() {
		select {
		case <-gone:
		case <-d.over:
			return
		}
		d.mu.Lock()
		delete(d.watched, c.ID)
		d.mu.Unlock()
		d.ended(context.Background(), c)
		d.Tell("claim", c.Ref)
	})
}

// ended clears what a holder that has ended left, if it did not do so itself.
func (d *Dispatcher) ended(ctx context.Context, c slot.Claim) {
	ref := c.Ref
	s, err := d.Claims.Look(ctx, ref)
	if err == nil {
		if live := s.Live(); live != nil && live.ID == c.ID {
			err = d.Reap(ctx, ref)
		}
	}
	if err != nil {
		d.Log.Error("what a dead run left could not be cleared; the sweep tries again", "ref", ref, "err", err)
	}
	if _, err := d.Queue.Wake(ctx, ref, ""); err != nil {
		d.Log.Error("the queue could not be written", "ref", ref, "err", err)
	}
	d.Nudge()
}

// Changed has a look at what gates of this type had put off: something that they
// look at has changed.
func (d *Dispatcher) Changed(ctx context.Context, gateType string) {
	d.Gates.Tick()
	d.changes.Add(1) // after the tick: whoever has seen this asks anew
	if _, err := d.Queue.Wake(ctx, slot.Ref{}, gateType+":"); err != nil && ctx.Err() == nil {
		d.Log.Error("the queue could not be written", "gate", gateType, "err", err)
	}
	d.Nudge()
}

// unwatch gives up all watches.
func (d *Dispatcher) unwatch() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, stop := range d.watched {
		stop()
	}
}

// steps sees steps of the wall clock.
type steps struct {
	clk    clock.Clock
	offset time.Duration
}

func newSteps(clk clock.Clock) *steps {
	s := &steps{clk: clk}
	s.offset = s.now()
	return s
}

func (s *steps) now() time.Duration { return time.Duration(s.clk.Wall().UnixNano()) - s.clk.Boot() }

// step is how far the wall clock was set since the last call: what is less than a
// second is its ordinary slewing.
func (s *steps) step() time.Duration {
	d := s.now() - s.offset
	if d.Abs() < time.Second {
		return 0
	}
	s.offset += d
	return d
}
