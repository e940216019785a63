package dispatch

import (
	"context"
	"log/slog"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// lateBy is how long after its deadline a claim is looked at again.
const lateBy = 200 * time.Millisecond

// watch has the ref looked at when the holder of c has ended without a word, or has
// not renewed in time: what it left is cleared and settled, and whoever waits for
// the slot starts.
func (d *Dispatcher) watch(c slot.Claim) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.watched[c.ID]; known { // one process may hold several
		return
	}
	select {
	case <-d.over: // a sweep may outlast us
		return
	default:
	}
	var gone <-chan struct{} // stays silent for one that is out of sight
	stop := func() {}
	if p := c.Holder.Process; !p.IsZero() {
		if g, s, err := d.Sight.Watch(p); err == nil {
			gone, stop = g, s
		}
	}
	d.watched[c.ID] = stop
	d.work.Go(func() { d.await(c, gone, stop) })
}

// await is the watch of one claim, for as long as that is live.
func (d *Dispatcher) await(c slot.Claim, gone <-chan struct{}, stop func()) {
	ctx := context.Background()
	for over := false; !over; {
		timer := time.NewTimer(max(c.Left, 0) + lateBy)
		select {
		case <-d.over:
			timer.Stop()
			return
		case <-gone:
			over = true
		case <-timer.C:
			live, err := d.still(ctx, c)
			switch {
			case err != nil:
				c.Left = time.Second
			case live == nil:
				over = true
			default:
				// One that is overdue and may not be set aside is looked at from time
				// to time: its holder may come into sight, or go.
				if c = *live; c.Expired() {
					c.Left = time.Second
					if may, _, _ := claim.Judge(d.Sight, *live); may != nil {
						over = true
					}
				}
			}
		}
		timer.Stop()
	}
	stop()
	d.mu.Lock()
	delete(d.watched, c.ID)
	d.mu.Unlock()
	d.ended(ctx, c)
	d.Tell("claim", c.Ref)
}

// still reads the claim again; nil if it is not live any more.
func (d *Dispatcher) still(ctx context.Context, c slot.Claim) (*slot.Claim, error) {
	s, err := d.Claims.Look(ctx, c.Ref)
	if live := s.Live(); err == nil && live != nil && live.ID == c.ID {
		return live, nil
	}
	return nil, err
}

// ended clears what a holder that has ended left, if it did not do so itself.
// Whoever ends a claim wakes what waits for its slot, in the same step.
func (d *Dispatcher) ended(ctx context.Context, c slot.Claim) {
	live, err := d.still(ctx, c)
	if err == nil && live != nil {
		err = d.Reap(ctx, c.Ref)
	}
	if err != nil {
		d.Log.Error("what a dead run left could not be cleared; the sweep tries again", "ref", c.Ref, "run", c.Run, "err", err)
	}
	d.say(ctx, c)
	d.roomy()
	d.Nudge()
}

// say has the log tell how a run ended.
func (d *Dispatcher) say(ctx context.Context, c slot.Claim) {
	if c.Run == "" {
		return
	}
	run, err := d.Journal.Run(ctx, c.Run)
	if err != nil || run.State != slot.RunEnded {
		return
	}
	level := slog.LevelInfo
	if run.Outcome.Result != slot.Done {
		level = slog.LevelWarn
	}
	d.Log.Log(ctx, level, "ended", "ref", c.Ref, "run", c.Run, "claim", c.ID, "rule", run.Rule,
		"outcome", run.Outcome.Result, "how", queue.Failure(run.Outcome))
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
