package queuetest

import (
	"context"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Four stores as people write them first. Each keeps most of the contract.

// anybodys settles the item that runs, whoever's run has ended.
type anybodys struct{ *Memory }

func (w anybodys) Settle(ctx context.Context, run string, out slot.Outcome) (bool, error) {
	running, err := w.Items(ctx, queue.Filter{State: string(queue.Running)})
	if err == nil && len(running) > 0 {
		run = running[0].Run
	}
	if err != nil {
		return false, err
	}
	return w.Memory.Settle(ctx, run, out)
}

// sweeping ends all that waits for the item when its run ends well.
type sweeping struct{ *Memory }

func (w sweeping) Settle(ctx context.Context, run string, out slot.Outcome) (bool, error) {
	w.mu.Lock()
	for _, it := range w.items {
		if it != nil && it.Run == run && run != "" && out.Result == slot.Done {
			it.Told, it.Burst = w.given, time.Time{}
		}
	}
	w.mu.Unlock()
	return w.Memory.Settle(ctx, run, out)
}

// hasty notes the id of a delivery first, and then sees what comes of it.
type hasty struct {
	*Memory
	seen map[string]bool
}

func (w *hasty) Accept(ctx context.Context, a queue.Arrival) ([]queue.Accepted, error) {
	if d := a.Delivery; d != nil {
		if w.seen[d.GUID] {
			first, _ := w.deliver(d)
			return []queue.Accepted{{Event: a.Wishes[0].Event, Intake: slot.Duplicate, Of: first.ID}}, nil
		}
		w.seen[d.GUID] = true
	}
	return w.Memory.Accept(ctx, a)
}

// costly counts a deferral as a failed try.
type costly struct{ *Memory }

func (w costly) Defer(ctx context.Context, item int64, run string, until time.Time, d slot.Decision) error {
	err := w.Memory.Defer(ctx, item, run, until, d)
	w.mu.Lock()
	defer w.mu.Unlock()
	if it := w.item(item); err == nil && it != nil {
		it.Attempts++
	}
	return err
}

// eager takes a condition for new each time that it is seen.
type eager struct{ *Memory }

func (w eager) Accept(ctx context.Context, a queue.Arrival) ([]queue.Accepted, error) {
	for i := range a.Wishes {
		a.AnyNew = a.AnyNew || a.Wishes[i].Condition
		a.Wishes[i].Condition = false
	}
	return w.Memory.Accept(ctx, a)
}
