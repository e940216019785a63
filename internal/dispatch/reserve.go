package dispatch

import (
	"context"
	"errors"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// reserved tells those who share no store with us that the ref is ours, unless one
// of them was first. withdraw takes that back.
func (a *attempt) reserved(ctx context.Context, g claim.Grant) (withdraw func(context.Context), waited, ok bool) {
	none := func(context.Context) {}
	if a.Reservations == nil {
		return none, false, true
	}
	// It may take a minute, and what is left undone it takes back itself: it ends with
	// whoever works the queue.
	asking, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(a.life, func() { end(context.Cause(a.life)) })()
	withdraw, waited, err := a.Reservations.Reserve(asking, g)
	if withdraw == nil {
		withdraw = none
	}
	var def *slot.DeferError
	var busy *slot.BusyError
	switch {
	case err == nil:
		return withdraw, waited, true
	case a.life.Err() != nil:
		a.ending(ctx)
	case errors.As(err, &busy): // what an earlier run left could not be stopped
		a.done("defer", a.Queue.Defer(ctx, a.look.Item.ID, a.run, a.Clock.Wall().Add(gateEvery),
			a.decision(slot.Defer, busy.Reason, detail(busy), "it is looked at again; nothing is spent")))
	case errors.As(err, &def):
		until := def.Until
		if until.IsZero() {
			until = a.Clock.Wall().Add(gateEvery)
		}
		a.done("defer", a.Queue.Defer(ctx, a.look.Item.ID, a.run, until, a.decision(slot.Defer, def.Reason, def.Detail, "it is looked at again; nothing is spent")))
	default:
		a.putBack(ctx, "reservation: unknown", err.Error())
	}
	return none, false, false
}
