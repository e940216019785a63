package poll

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

const (
	// overlap is how far a list reaches back behind what is known: clocks of a
	// forge's own hosts, lists that lag, and rows that show late.
	overlap = time.Minute
	// maxPast bounds how many threads a cursor names.
	maxPast = 50
)

// place is how far a repository's changes are known.
type place struct {
	since time.Time // by the forge's clock
	seen  forge.Seen
	// past are the threads that changed at or after since and were dealt with, with
	// their marks: the list will have them again.
	past map[slot.Ref]change
}

type change struct {
	at   time.Time
	mark uint64
}

// saved is a place as it is kept on disk.
type saved struct {
	Since time.Time         `json:"since"`
	Past  map[string]uint64 `json:"past,omitempty"` // "#12" or "!5"
}

// text is the place for the disk. Threads that it cannot name are dealt with twice,
// which their fingerprints make harmless.
func (p *place) text(repo string) string {
	s := saved{Since: p.since.UTC(), Past: map[string]uint64{}}
	for ref, c := range p.past {
		if len(s.Past) < maxPast {
			s.Past[strings.TrimPrefix(ref.String(), repo)] = c.mark
		}
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
	p.since = s.Since
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
	if at = at.Add(-overlap); at.After(p.since) {
		p.since, p.seen = at, forge.Seen{} // which is of another list
	}
	for ref, c := range p.past {
		if c.at.Before(p.since) {
			delete(p.past, ref)
		}
	}
}
