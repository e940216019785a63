package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// overdue is how long an item may be due before the sweep speaks of it.
const overdue = time.Minute

// Repair is one thing that the sweep found out of order.
type Repair struct {
	Ref    slot.Ref
	Run    string
	Reason string
}

// Sweep compares what should be running or waiting with what is. Live runs are
// adopted: their end will be seen. What a dead one left is cleared and settled.
// Each repair is a decision on its ref, and returned.
func (d *Dispatcher) Sweep(ctx context.Context) ([]Repair, error) {
	var found []Repair
	running, err := d.Queue.Items(ctx, queue.Filter{State: string(queue.Running)})
	if err != nil {
		return nil, err
	}
	for _, it := range running {
		r, err := d.check(ctx, it)
		if err != nil {
			return found, err
		}
		found = d.report(ctx, found, r)
	}
	if err := d.Follow(ctx); err != nil {
		return found, err
	}
	late, err := d.late(ctx)
	for _, r := range late {
		found = d.report(ctx, found, r)
	}
	d.Nudge()
	return found, err
}

// Follow has the end of all live claims seen whose holders can be seen, by whomever they
// were taken: what one that dies leaves is cleared at once, and makes room.
func (d *Dispatcher) Follow(ctx context.Context) error {
	live, err := d.Claims.Live(ctx)
	for _, c := range live {
		p := c.Holder.Process
		if !p.IsZero() && (!p.Far() || c.Warden && claim.Late(c)) {
			d.watch(c)
		}
	}
	return err
}

// check looks at one item that is said to be running.
func (d *Dispatcher) check(ctx context.Context, it queue.Item) (*Repair, error) {
	s, err := d.Claims.Look(ctx, it.Ref)
	if err != nil {
		return nil, err
	}
	if c := s.Live(); c != nil && c.Run == it.Run {
		return nil, nil // watched below, with all live claims
	}
	run, err := d.Journal.Run(ctx, it.Run)
	switch {
	case err != nil && !errors.Is(err, slot.ErrUsage):
		return nil, err
	case err != nil:
		// The store lost it, or never knew it: its claim is over, so nothing of it
		// can start any more.
		run = slot.Run{ID: it.Run, Outcome: slot.Outcome{Result: slot.Vanish, Reason: "its run is not on record"}}
	case run.State != slot.RunEnded && s.Live() == nil:
		if err := d.Reap(ctx, it.Ref); err != nil {
			return nil, err
		}
		if run, err = d.Journal.Run(ctx, it.Run); err != nil || run.State != slot.RunEnded {
			return nil, err // somebody has the slot now, and clears
		}
		return &Repair{it.Ref, it.Run, "its claim was over, but its tree was not known to be gone: cleared"}, nil
	case run.State != slot.RunEnded:
		return nil, nil // whoever took the slot clears it
	}
	failpoint.Hit(failpoint.BeforeSettle)
	settled, err := d.Queue.Settle(ctx, it.Run, run.Outcome)
	if err != nil || !settled {
		return nil, err
	}
	return &Repair{it.Ref, it.Run, "the run had ended, but its work item was not settled"}, nil
}

// late finds items that should have started long ago.
func (d *Dispatcher) late(ctx context.Context) ([]*Repair, error) {
	busy, full, none := d.occupied()
	if none {
		return nil, nil // they wait for room, and their slots' decisions say so
	}
	looks, err := d.Queue.Pick(ctx, atOnce, busy, full)
	if err != nil {
		return nil, err
	}
	var found []*Repair
	for _, l := range looks {
		if by := d.Clock.Wall().Sub(l.Item.Due); by > overdue {
			found = append(found, &Repair{l.Item.Ref, "", fmt.Sprintf("due for %v and not started: looked at again", by.Round(time.Second))})
		}
	}
	return found, nil
}

func (d *Dispatcher) report(ctx context.Context, found []Repair, r *Repair) []Repair {
	if r == nil {
		return found
	}
	d.Log.Warn("repaired", "ref", r.Ref, "run", r.Run, "reason", r.Reason)
	d.Metrics.Decided(slot.Ended, slot.PathSweep)
	err := d.Journal.Note(ctx, slot.Decision{Ref: r.Ref, Path: slot.PathSweep, Verdict: slot.Ended, Reason: "repaired",
		Detail: r.Reason, Next: "it goes on as its work item says", Run: r.Run})
	if err != nil {
		d.Log.Error("a repair could not be recorded", "ref", r.Ref, "err", err)
	}
	if it := d.workOf(ctx, r.Run); it.State == queue.Dead {
		GivenUp(d.Log, it)
	}
	return append(found, *r)
}

// alarmMost bounds the words of one alarm.
const alarmMost = 1000

// Alarm tells of items that have been put off for longer than after, those put off
// for longest first.
func (d *Dispatcher) Alarm(ctx context.Context, after time.Duration) error {
	now := d.Clock.Wall()
	items, err := d.Queue.Items(ctx, queue.Filter{PutOff: now.Add(-after), Limit: alarmMost})
	if err != nil {
		return err
	}
	for _, it := range items {
		d.Log.Warn("deferred for long", "ref", it.Ref, "rule", it.Policy.Rule, "for", now.Sub(it.Deferred).Round(time.Second),
			"reason", it.Reason, "detail", it.Detail, "looks", it.Defers)
	}
	return nil
}
