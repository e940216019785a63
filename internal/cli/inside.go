package cli

import (
	"context"
	"slices"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/supervise"
)

// outside leaves out the ref of the run around us. It fails if no other is left.
func (c *cli) outside(ctx context.Context, a *app.App, refs []slot.Ref) (others []slot.Ref, within error) {
	for _, ref := range refs {
		if err := c.inside(ctx, a, ref); err != nil {
			within = err
			continue
		}
		others = append(others, ref)
	}
	if len(others) > 0 {
		within = nil
	}
	return others, within
}

// inside refuses a ref that the run around us works on, whatever store is asked:
// the address of the run's own was taken out of our environment, and another
// would say that the ref is free. A store that knows the run refuses by itself,
// and writes it down.
func (c *cli) inside(ctx context.Context, a *app.App, ref slot.Ref) error {
	socket := c.getenv("ONESLOT_SOCKET")
	if socket == "" || ref.String() != c.getenv("ONESLOT_REF") {
		return nil
	}
	if s, err := a.Store.Look(ctx, ref); err == nil && s.Live() != nil && slices.Contains(a.Inside, s.Live().Run) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, socketTime)
	defer cancel()
	key := claim.Key{Claim: c.getenv("ONESLOT_CLAIM"), Token: c.getenv("ONESLOT_TOKEN")}
	if _, err := supervise.Check(ctx, socket, key); err != nil {
		return nil //nolint:nilerr // the run is over, or its claim lost
	}
	return &slot.BusyError{
		Ref: ref, Reason: slot.ReasonInside, Detail: "its claim is in another store than the one asked here, " + a.Store.Address(),
	}
}
