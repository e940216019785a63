package dispatch

import (
	"context"
	"errors"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/queue"
)

// beginning is a claim store whose every claim begins the item of an attempt, too.
type beginning struct {
	claim.Store
	a *attempt
}

// Acquire implements claim.Store.
func (b beginning) Acquire(ctx context.Context, req claim.Request) (claim.Grant, error) {
	grant, look, err := b.a.Together.AcquireFor(ctx, req, b.a.toBegin())
	if err == nil {
		b.a.look, b.a.begun = look, true
	}
	return grant, err
}

func (a *attempt) toBegin() queue.Begin {
	return queue.Begin{Item: a.look.Item.ID, Run: a.run, Policy: a.plan.Policy}
}

// take takes the slot and, where that can be the same step, begins the item.
func (a *attempt) take(ctx context.Context) (claim.Grant, error) {
	taker := *a.Taker
	if a.Together != nil {
		taker.Store = beginning{a.Claims, a}
	}
	return taker.Take(ctx, a.req)
}

// begin gives the item to the run that has the claim, or the claim back.
func (a *attempt) begin(ctx context.Context) bool {
	if a.begun {
		return true
	}
	look, err := a.Queue.Begin(ctx, a.toBegin())
	if err == nil {
		a.look = look
		return true
	}
	a.giveBack(ctx, "the work item: "+err.Error())
	if !errors.Is(err, queue.ErrStale) {
		a.failed = true
		a.Log.Error("a work item could not be begun", "ref", a.look.Item.Ref, "err", err)
	}
	return false
}
