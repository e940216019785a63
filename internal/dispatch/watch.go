package dispatch

import (
	"context"
	"fmt"
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
	if c.Kind == slot.Waiting { // nobody works under it; its end is a person's, or an event's
		return
	}
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

// still reads the claim again; nil if nobody works under it any more: it has ended, or
// waits for a person.
func (d *Dispatcher) still(ctx context.Context, c slot.Claim) (*slot.Claim, error) {
	s, err := d.Claims.Look(ctx, c.Ref)
	if live := s.Live(); err == nil && live != nil && live.ID == c.ID && live.Kind != slot.Waiting {
		return live, nil
	}
	return nil, err
}

// ended clears what a holder that has ended left, if it did not do so itself.
// Whoever ends a claim wakes what waits for its slot, in the same step.
func (d *Dispatcher) ended(ctx context.Context, c slot.Claim) {
	live, err := d.still(ctx, c)
	told := false
	if err == nil && live != nil {
		_, told = d.endOf(ctx, c.Run) // while a hold keeps the record of a dead claim, this is not the first time
		err = d.Reap(ctx, c.Ref)
	}
	if err != nil {
		d.Log.Error("what a dead run left could not be cleared; the sweep tries again", "ref", c.Ref, "run", c.Run, "err", err)
	}
	if run, over := d.endOf(ctx, c.Run); over && !told {
		d.say(ctx, run)
	}
	d.roomy()
	d.Nudge()
}

// endOf reads a run, and reports whether that has ended.
func (d *Dispatcher) endOf(ctx context.Context, id string) (slot.Run, bool) {
	if id == "" {
		return slot.Run{}, false
	}
	run, err := d.Journal.Run(ctx, id)
	return run, err == nil && run.State == slot.RunEnded
}

// say has the log tell how a run ended, and what becomes of its work if it failed.
func (d *Dispatcher) say(ctx context.Context, run slot.Run) {
	line := []any{"ref", run.Ref, "run", run.ID, "claim", run.Claim, "rule", run.Rule,
		"outcome", run.Outcome.Result, "how", queue.Failure(run.Outcome)}
	switch run.Outcome.Result {
	case slot.Done, slot.Later, slot.Waits, slot.Stopped: // as its worker, or a person, wanted it
		d.Log.Info("ended", line...)
		return
	}
	it := d.workOf(ctx, run.ID)
	attempt := fmt.Sprintf("%d of %d", it.Attempts, it.Policy.Attempts)
	switch {
	case it.State == queue.Pending && it.Reason == queue.ReasonRetry:
		line = append(line, "attempt", attempt, "next", it.Due)
	case it.State == queue.Dead:
		line = append(line, "attempt", attempt)
		defer GivenUp(d.Log, it)
	}
	d.Log.Warn("ended", line...)
}

// workOf is the work that a run was started for, as it stands now; without a state if
// there is none, or it is not known.
func (d *Dispatcher) workOf(ctx context.Context, run string) queue.Item {
	if run == "" {
		return queue.Item{}
	}
	told, err := d.Queue.Events(ctx, queue.Filter{Run: run, Limit: 1})
	if err != nil || len(told) == 0 {
		return queue.Item{}
	}
	l, err := d.Queue.Look(ctx, told[0].Item)
	if err != nil {
		return queue.Item{}
	}
	return l.Item
}

// GivenUp has a log tell that an item is dead, and what a person can do.
func GivenUp(log *slog.Logger, it queue.Item) {
	log.Warn("given up", "ref", it.Ref, "rule", it.Policy.Rule, "attempts", it.Attempts, "reason", it.Reason, "detail", it.Detail,
		"hint", "oneslot retry "+it.Ref.String())
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
