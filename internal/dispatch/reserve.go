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
	withdraw, waited, err := a.Reservations.Reserve(ctx, g)
	if withdraw == nil {
		withdraw = none
	}
	var def *slot.DeferError
	switch {
	case err == nil:
		return withdraw, waited, true
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
