package dispatch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// linkTime bounds a question for what belongs together.
const linkTime = 15 * time.Second

// linkFor is how long what belongs together is believed before the claim, where it
// only chooses what to ask for: under the claim it is read anew.
const linkFor = time.Minute

// relation is what an item's ref was seen to close.
type relation struct {
	refs  []slot.Ref
	until time.Duration // boot time
}

// linked finds out whose slots the run needs beside its own. It is asked before the
// claim, which takes them all or none, and again under it.
func (a *attempt) linked(ctx context.Context) bool {
	if !a.plan.Link || a.Relations == nil {
		return true
	}
	id := a.look.Item.ID
	a.mu.Lock()
	known, ok := a.related[id]
	a.mu.Unlock()
	if a.also = known.refs; ok && a.waits && known.until > a.Clock.Boot() {
		return true
	}
	also, err := a.closes(ctx)
	switch {
	case errors.Is(err, slot.ErrUsage):
		a.kill(ctx, "link", err)
		return false
	case err != nil:
		a.done("defer", a.Queue.Defer(ctx, id, "", a.later(), a.decision(slot.Unknown, "link: unknown",
			"which issues it closes could not be found out: "+err.Error(), "nothing was started; it is looked at again")))
		return false
	}
	a.also = also
	a.mu.Lock()
	if len(a.related) > 1<<10 {
		clear(a.related)
	}
	a.related[id] = relation{also, a.Clock.Boot() + linkFor}
	a.mu.Unlock()
	return true
}

// stillLinked reports whether the claim has all the slots that the run needs now.
func (a *attempt) stillLinked(ctx context.Context) bool {
	if !a.plan.Link || a.Relations == nil {
		return true
	}
	also, err := a.closes(ctx)
	if err != nil {
		a.putBack(ctx, "link: unknown", "which issues it closes could not be found out: "+err.Error())
		return false
	}
	for _, ref := range also {
		if !slices.Contains(a.also, ref) {
			a.mu.Lock()
			delete(a.related, a.look.Item.ID)
			a.mu.Unlock()
			a.putBack(ctx, "link: changed", "it closes "+ref.String()+", too, since a moment ago")
			return false
		}
	}
	return true
}

func (a *attempt) closes(ctx context.Context) ([]slot.Ref, error) {
	ctx, cancel := context.WithTimeout(ctx, linkTime)
	defer cancel()
	list, err := a.Relations.Closes(ctx, a.look.Item.Ref)
	slices.SortFunc(list, func(x, y slot.Ref) int { return strings.Compare(x.String(), y.String()) })
	return slices.Compact(list), err
}
