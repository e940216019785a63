package queue

import (
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// ReasonDropped is of work that somebody said is not to be done.
const ReasonDropped = "dropped"

// Drop is somebody's word that work is not to be done.
type Drop struct {
	Ref  slot.Ref // zero: what is dead, of all refs
	Rule *string  // nil: every rule
	// Path is how the word came, By whose it is, and Reason why it was given.
	Path, By, Reason string
}

// Decision is what is put on record for a ref.
func (d Drop) Decision(ref slot.Ref) slot.Decision {
	return slot.Decision{
		Ref: ref, Path: d.Path, Verdict: slot.Skip, Reason: ReasonDropped, Detail: "by " + d.By + ": " + d.Reason,
		Next: "nothing by itself: a new event starts it, also one that the forge tells again",
	}
}

// Dropped is an item that a Drop was about, as it is now.
type Dropped struct {
	Item   Item // Waiting counts what is left: the events that its present run was told of
	Events int  // that were ended
}

// Drop ends all that an item has, but for what its present run was told of: what was
// heard of the world meanwhile stays known, for the run may have seen it. It reports
// whether there was something to end.
func (it *Item) Drop(detail string, now time.Time) bool {
	if it.State == Running {
		newer := !it.Burst.IsZero()
		it.Burst, it.Person = time.Time{}, false
		return newer
	}
	if it.Age.IsZero() {
		return false
	}
	it.Skip(ReasonDropped, detail, time.Time{}, now)
	return true
}
