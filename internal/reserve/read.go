package reserve

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
)

// Reservation is a genuine marker in the comment that it is good in. Times are of
// the forge's clock.
type Reservation struct {
	Comment int64
	Login   string // its author
	Created time.Time
	Updated time.Time
	Marker  Marker
}

// Live reports whether the reservation still counts at a time of the forge's clock.
func (r Reservation) Live(at time.Time) bool { return r.Comment != 0 && at.Before(r.Lapses()) }

// Lapses is when the reservation ends by age, by the forge's clock; zero if it has
// ended.
func (r Reservation) Lapses() time.Time {
	switch r.Marker.State {
	case Posted:
		return r.Created.Add(r.Marker.Posting)
	case Running:
		return r.Updated.Add(r.Marker.TTL)
	}
	return time.Time{}
}

// Suspicion is a comment that looks like a reservation and counts for nothing.
type Suspicion struct {
	Comment int64
	Login   string
	Why     string
}

// edits is how much later than its creation the first version of a comment may be
// stamped: the two stamps are taken one after the other, and show whole seconds.
const edits = 2 * time.Second

// judge tells genuine reservations of a conversation, by comment id, from what only
// looks like one.
func judge(key []byte, at place, list []forge.Comment) (good []Reservation, bad []Suspicion) {
	list = slices.Clone(list)
	// The one order that all readers see, whatever they were sent.
	slices.SortFunc(list, func(a, b forge.Comment) int { return cmp.Compare(a.ID, b.ID) })
	first := map[string]bool{} // ids seen in lower comments
	for _, c := range list {
		m, why := judgeOne(key, at, c)
		if why == "" && m.ID != "" {
			if m.State == Posted && first[m.ID] {
				why = "a copy of a marker that stands further up"
			}
			first[m.ID] = true
		}
		switch {
		case why != "":
			bad = append(bad, Suspicion{Comment: c.ID, Login: c.Author.Login, Why: why})
		case m.ID != "":
			good = append(good, Reservation{Comment: c.ID, Login: c.Author.Login, Created: c.Created, Updated: c.Updated, Marker: m})
		}
	}
	return good, bad
}

// judgeOne reads one comment; it has no marker and nothing suspicious if both are
// empty.
func judgeOne(key []byte, at place, c forge.Comment) (m Marker, why string) {
	if !strings.HasPrefix(c.Body, opening) {
		// Quoted, in code, below other text: we write the first line alone.
		if strings.Contains(c.Body, strings.TrimSpace(opening)) {
			return m, "a marker that is not the comment's first line: quoted, in code, or pasted"
		}
		return m, ""
	}
	m, sum, ok := parse(c.Body)
	switch {
	case !ok:
		return Marker{}, "not a marker as this version writes it"
	case !m.genuine(key, at, c.Author.Login, sum):
		return Marker{}, "its MAC does not fit: another author, another thread, another key, or changed by hand"
	case m.State == Posted && c.Updated.Sub(c.Created) > edits:
		return Marker{}, "a posted marker in a comment that was edited"
	case m.State != Posted && m.Comment != c.ID:
		return Marker{}, "a copy of the marker of another comment"
	}
	return m, ""
}
