package queue

import (
	"fmt"
	"strings"

	"github.com/oneslot/oneslot/internal/slot"
)

// Resolvable refuses, with slot.ErrUsage, wishes that cannot take the place of an
// unresolved event: each must have a ref. Every store calls it first.
func Resolvable(wishes []Wish) error {
	for _, w := range wishes {
		if w.Event.Ref.IsZero() {
			return fmt.Errorf("%w: what an event turned out to be about needs a ref", slot.ErrUsage)
		}
	}
	return nil
}

// About says what an event turned out to be about, for its record.
func About(wishes []Wish) string {
	var refs []string
	for _, w := range wishes {
		refs = append(refs, w.Event.Ref.String())
	}
	return "it is about " + strings.Join(refs, ", ")
}

// First is the id of the first of what became of wishes: of a new event, else of the
// one that was repeated; empty if nobody wants any.
func First(done []Accepted) string {
	for _, a := range done {
		if a.Event.ID != "" {
			return a.Event.ID
		}
	}
	for _, a := range done {
		if strings.HasPrefix(a.Of, "e") {
			return a.Of
		}
	}
	return ""
}
