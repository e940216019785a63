package claim

import (
	"context"
	"errors"
	"time"

	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/slot"
)

// TurnTime is how long the head of a line may be silent after its turn came; the
// one behind it looks again after that, and then it loses its place.
const TurnTime = 2 * time.Second

// roomTime is how often the head of a line looks whether there is room: what makes it is
// in other slots, and wakes nobody here.
const roomTime = time.Second

// Wait stands in line until it has the slot, ctx ends, or longest has passed
// (0: no bound). Giving up, it leaves the line and returns the last refusal.
//
// Nobody polls. The store wakes the head when the slot is given back; the head
// also watches the holder and its deadline, everybody else the one before it.
// All look again once per time to live, in case a word was lost.
func (t *Taker) Wait(ctx context.Context, req Request, longest time.Duration) (Grant, error) {
	// The bound is on waiting. A question under way when it passes is answered:
	// cut short, it would be neither a refusal nor known not to be a grant.
	patience := ctx
	if longest > 0 {
		var cancel context.CancelFunc
		patience, cancel = context.WithTimeout(ctx, longest)
		defer cancel()
	}
	ticket := Ticket{ID: NewID(), Process: t.Self}
	req.Ticket = &ticket
	wake, err := t.Store.Wake(ctx, req.Ref, ticket)
	if err != nil {
		return Grant{}, err
	}
	var last error
	for {
		g, err := t.Take(ctx, req)
		if err == nil {
			return g, nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		failpoint.Hit(failpoint.AfterWaiterRow)
		if patience.Err() != nil || !waitable(err) || !t.sleep(patience, err, wake) {
			return Grant{}, t.leave(req.Ref, ticket, last)
		}
	}
}

// leave gives up the place in line, whatever ended the wait, and returns why.
func (t *Taker) leave(ref slot.Ref, ticket Ticket, why error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := t.Store.Leave(ctx, ref, ticket); err != nil {
		return errors.Join(why, err)
	}
	return why
}

// waitable reports whether time can change the answer.
func waitable(err error) bool {
	var busy *slot.BusyError
	if errors.As(err, &busy) {
		return busy.Reason != slot.ReasonInside
	}
	var deferred *slot.DeferError
	return errors.As(err, &deferred)
}

// sleep returns when there is reason to look again, or false when ctx ended.
func (t *Taker) sleep(ctx context.Context, refusal error, wake <-chan struct{}) bool {
	watch, again := t.watches(refusal)
	timer := time.NewTimer(again)
	defer timer.Stop()
	var gone <-chan struct{}
	if !watch.IsZero() && watch != t.Self {
		if ch, stop, err := t.Sight.Watch(watch); err == nil {
			gone = ch
			defer stop()
		}
	}
	select {
	case <-wake:
	case <-gone:
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	return true
}

// watches says whose end the caller should notice, and when it looks again in
// any case.
func (t *Taker) watches(refusal error) (slot.Process, time.Duration) {
	var busy *slot.BusyError
	if !errors.As(refusal, &busy) {
		var def *slot.DeferError
		if errors.As(refusal, &def) && def.Reason == slot.ReasonCapacity && (def.Place == nil || def.Place.Ahead == 0) {
			return slot.Process{}, roomTime
		}
		return slot.Process{}, slot.DefaultTTL
	}
	c, p := busy.Claim, busy.Place
	again := slot.DefaultTTL
	if c.TTL > 0 {
		again = c.TTL
	}
	switch {
	case busy.Reason == slot.ReasonLine && p != nil && p.Ahead == 0:
		// Others wait for a slot that it would cover. The store wakes it when that is
		// freed; one of them that is silent leaves nothing to be told of.
		return slot.Process{}, TurnTime + 50*time.Millisecond
	case p != nil && p.Ahead > 0 && busy.Reason == slot.ReasonLine && p.Ahead == 1:
		return p.Before, TurnTime + 50*time.Millisecond
	case p != nil && p.Ahead > 0:
		return p.Before, again
	case c.Kind == slot.Waiting: // whoever ran under it is gone, which changes nothing
		if c.Left > 0 {
			again = min(again, c.Left+5*time.Millisecond)
		}
		return slot.Process{}, again
	case c.Left > 0 && c.Left < again && !c.Bound:
		again = c.Left + 5*time.Millisecond
	}
	return c.Holder.Process, again
}
