package dispatch

import (
	"context"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// lookEvery is how often Work looks at its ref if it is told of nothing.
const lookEvery = time.Second

// Work works the queue of one ref in the foreground, for a machine without a
// daemon: until none of its items is pending or running, or ctx ends, or over says
// that the caller has what it waited for.
func (d *Dispatcher) Work(ctx context.Context, ref slot.Ref, over func(context.Context) (bool, error)) error {
	defer d.close()
	woken, _, err := d.Queue.Woken(ctx)
	if err != nil {
		return err
	}
	d.rewound(ctx)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-woken:
			d.roomy()
		case <-d.nudge:
		case <-timer.C:
		}
		if done, err := over(ctx); err != nil || done {
			return err
		}
		wait, err := d.workOn(ctx, ref)
		if err != nil || wait == 0 {
			return err
		}
		timer.Reset(wait)
	}
}

// workOn starts what is due of a ref, and says how long to wait: 0 for nothing
// left.
func (d *Dispatcher) workOn(ctx context.Context, ref slot.Ref) (time.Duration, error) {
	d.Gates.Tick()
	items, err := d.Queue.Items(ctx, queue.Filter{Ref: ref})
	if err != nil {
		return 0, err
	}
	wait := time.Duration(0)
	for _, it := range items {
		due := it.Due.Sub(d.Clock.Wall())
		switch {
		case it.State == queue.Running:
			if _, err := d.check(ctx, it); err != nil {
				return 0, err
			}
			if s, err := d.Claims.Look(ctx, ref); err == nil && s.Live() != nil {
				d.watch(*s.Live())
			}
			due = lookEvery
		case it.State != queue.Pending:
			continue
		case d.rests(it):
			due = lookEvery
		case due <= 0:
			l, err := d.Queue.Look(ctx, it.ID)
			if err != nil {
				return 0, err
			}
			if len(d.slots) < atOnce {
				d.hand(ctx, l)
			}
			due = lookEvery
		}
		if due = min(max(due, time.Millisecond), lookEvery); wait == 0 || due < wait {
			wait = due
		}
	}
	return wait, nil
}

// rests reports whether an item is in hand or left alone, or has no room.
func (d *Dispatcher) rests(it queue.Item) bool {
	all, _ := d.resting()
	busy, full, none := d.occupied()
	return all > 0 || none || slices.Contains(busy, it.ID) || slices.Contains(full, it.Ref.Repo())
}
