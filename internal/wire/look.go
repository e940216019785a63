package wire

import (
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Repo is the answer to the question under which of its names a repository's slots are
// kept.
type Repo struct {
	Slots string `json:"slots"`
}

// Look is claim.Slot: a look at one slot.
type Look struct {
	Ref     slot.Ref       `json:"ref"`
	Slug    string         `json:"slug"`
	Free    bool           `json:"free"`   // nobody's claim lives, nothing pauses it, nobody waits
	Newest  *Claim         `json:"newest"` // live or ended
	Hold    *Hold          `json:"hold"`
	Waiting int            `json:"waiting"`
	Line    []slot.Process `json:"line"`
}

// FromLook makes the shape of a look.
func FromLook(s claim.Slot) Look {
	l := Look{Ref: s.Ref, Slug: s.Ref.Slug(), Hold: FromHold(s.Hold), Waiting: s.Waiting, Line: s.Line}
	if l.Line == nil {
		l.Line = []slot.Process{}
	}
	if s.Newest != nil {
		c := FromClaim(*s.Newest)
		l.Newest = &c
	}
	l.Free = s.Live() == nil && s.Hold == nil && s.Waiting == 0
	return l
}

// Slot gives the look back.
func (l Look) Slot() claim.Slot {
	s := claim.Slot{Ref: l.Ref, Hold: l.Hold.Slot(), Waiting: l.Waiting}
	if len(l.Line) > 0 {
		s.Line = l.Line
	}
	if l.Newest != nil {
		c := l.Newest.Slot()
		s.Newest = &c
	}
	return s
}
