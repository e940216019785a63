package claim

import (
	"fmt"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Load is what a store counts for the limits of a request, without the claim that
// the request displaces. A claim counts for as long as its holder may be at work.
type Load struct {
	Running int // live claims that do not wait for a person
	PerRepo int // those of the ref's repository
	// Oldest is when the run began that has to leave the window before another of
	// the ref may start; zero if there is room.
	Oldest time.Time
}

// IsZero reports that nothing is bounded.
func (l Limits) IsZero() bool { return l.Running <= 0 && l.PerRepo <= 0 && !l.breaks() }

func (l Limits) breaks() bool { return l.PerRef > 0 && l.Window > 0 }

// Over refuses a request whose limits are reached; nil lets it pass. Keys have no
// repository.
func (l Limits) Over(ref slot.Ref, load Load) *slot.DeferError {
	e := &slot.DeferError{Ref: ref, Reason: slot.ReasonCapacity}
	switch {
	case l.breaks() && !load.Oldest.IsZero():
		e.Reason, e.Until = slot.ReasonBreaker, load.Oldest.Add(l.Window)
		e.Detail = fmt.Sprintf("%d runs in the last %s; the oldest leaves the window at %s", l.PerRef, slot.Span(l.Window),
			e.Until.UTC().Format(time.RFC3339))
	case l.PerRepo > 0 && ref.Repo() != "" && load.PerRepo >= l.PerRepo:
		e.Detail = fmt.Sprintf("%d of %d run in %s", load.PerRepo, l.PerRepo, ref.Repo())
	case l.Running > 0 && load.Running >= l.Running:
		e.Detail = fmt.Sprintf("%d of %d run", load.Running, l.Running)
	default:
		return nil
	}
	return e
}
