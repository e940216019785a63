package poll

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

const (
	// overlap is how far a list reaches back behind what is known: clocks of a
	// forge's own hosts, lists that lag, and rows that show late.
	overlap = time.Minute
	// maxPast bounds how many threads a cursor names: some 15 KB.
	maxPast = 500
)

// place is how far a repository's changes are known.
type place struct {
	since time.Time // by the forge's clock
	seen  forge.Seen
	// past are the threads that changed at or after since and were dealt with, with
	// their marks: the list will have them again.
	past map[slot.Ref]change
	till time.Time // all that changed up to here was dealt with
	// unnamed is up to when threads were dealt with that a cursor had no room to name.
	unnamed time.Time
}

type change struct {
	at   time.Time
	mark uint64
}

// saved is a place as it is kept on disk.
type saved struct {
	Since time.Time         `json:"since"`
	Past  map[string]uint64 `json:"past,omitempty"` // "#12" or "!5"
	Rest  time.Time         `json:"rest,omitzero"`
}

// text is the place for the disk. It names the threads that changed last; of the others
// it says up to when they were dealt with.
func (p *place) text(repo string) string {
	s := saved{Since: p.since.UTC(), Past: map[string]uint64{}}
	refs := slices.SortedFunc(maps.Keys(p.past), func(a, b slot.Ref) int {
		return cmp.Or(p.past[b].at.Compare(p.past[a].at), cmp.Compare(a.String(), b.String()))
	})
	for _, ref := range refs[:min(len(refs), maxPast)] {
		s.Past[strings.TrimPrefix(ref.String(), repo)] = p.past[ref].mark
	}
	rest := p.unnamed
	if len(refs) > maxPast {
		at := p.past[refs[maxPast]].at
		if p.till.Before(at) {
			at = p.till
		}
		if at.After(rest) {
			rest = at
		}
	}
	if !rest.Before(p.since) {
		s.Rest = rest.UTC()
	}
	text, err := json.Marshal(s)
	if err != nil { // a year beyond 9999
		return ""
	}
	return string(text)
}

// readPlace reads what text wrote; false: there is nothing of use.
func readPlace(text, repo string) (p place, ok bool) {
	p.past = map[slot.Ref]change{}
	var s saved
	if text == "" || json.Unmarshal([]byte(text), &s) != nil || s.Since.IsZero() {
		return p, false
	}
	p.since, p.unnamed = s.Since, s.Rest
	for name, m := range s.Past {
		if ref, err := slot.ParseCanonical(repo + name); err == nil {
			p.past[ref] = change{at: s.Since, mark: m}
		}
	}
	return p, true
}

// advance moves the place to what a list has shown, and forgets what the next one will
// not have.
func (p *place) advance(c forge.Changes) {
	at := c.At
	if n := len(c.Threads); at.IsZero() && n > 0 {
		at = c.Threads[n-1].Updated
	}
	p.till = at
	if at = at.Add(-overlap); at.After(p.since) {
		p.since, p.seen = at, forge.Seen{} // which is of another list
	}
	for ref, c := range p.past {
		if c.at.Before(p.since) {
			delete(p.past, ref)
		}
	}
}
