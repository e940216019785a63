package dispatch

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// linkTime bounds a question for what belongs together.
const linkTime = 15 * time.Second

// linked finds out whose slots the run needs beside its own. It is asked before the
// claim, which takes them all or none, and again under it.
func (a *attempt) linked(ctx context.Context) bool {
	also, err := a.closes(ctx)
	if err != nil {
		a.done("defer", a.Queue.Defer(ctx, a.look.Item.ID, "", a.Clock.Wall().Add(gateEvery), a.decision(slot.Unknown, "link: unknown",
			"which issues it closes could not be found out: "+err.Error(), "nothing was started; it is looked at again")))
		return false
	}
	a.also = also
	return true
}

// stillLinked reports whether the claim has all the slots that the run needs now.
func (a *attempt) stillLinked(ctx context.Context) bool {
	also, err := a.closes(ctx)
	if err != nil {
		a.putBack(ctx, "link: unknown", "which issues it closes could not be found out: "+err.Error())
		return false
	}
	for _, ref := range also {
		if !slices.Contains(a.also, ref) {
			a.putBack(ctx, "link: changed", "it closes "+ref.String()+", too, since a moment ago")
			return false
		}
	}
	return true
}

func (a *attempt) closes(ctx context.Context) ([]slot.Ref, error) {
	if !a.plan.Link || a.Relations == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, linkTime)
	defer cancel()
	list, err := a.Relations.Closes(ctx, a.look.Item.Ref)
	slices.SortFunc(list, func(x, y slot.Ref) int { return strings.Compare(x.String(), y.String()) })
	return slices.Compact(list), err
}
