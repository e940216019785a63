package api

import (
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

// feedRoom is how many words may wait for one reader.
const feedRoom = 256

// Feed spreads word of changes to whoever listens. Nobody waits for a listener:
// what one misses is told as one change of kind "missed". A nil Feed has none.
type Feed struct {
	mu      sync.Mutex
	readers map[*reader]struct{}
	now     func() time.Time
	also    []func(kind, scope string)
}

type reader struct {
	words  chan wire.Change
	missed bool
}

// NewFeed makes a feed that tells times by now. also hear of every change, at once,
// and must not wait.
func NewFeed(now func() time.Time, also ...func(kind, scope string)) *Feed {
	return &Feed{readers: map[*reader]struct{}{}, now: now, also: also}
}

// Tell says that something about a ref, or a repository, is not as it was: its
// "claim", "work" or "hold".
func (f *Feed) Tell(kind, scope string) {
	if f == nil {
		return
	}
	for _, tell := range f.also {
		tell(kind, scope)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.now().UTC()
	for r := range f.readers {
		if r.missed && len(r.words) <= feedRoom/2 {
			r.words <- wire.Change{Kind: "missed", At: &at}
			r.missed = false
		}
		select {
		case r.words <- wire.Change{Kind: kind, Ref: scope, At: &at}:
		default:
			r.missed = true
		}
	}
}

func (f *Feed) tell(kind string, ref slot.Ref) { f.Tell(kind, ref.String()) }

// listen begins to listen; stop ends it.
func (f *Feed) listen() (words <-chan wire.Change, stop func()) {
	r := &reader{words: make(chan wire.Change, feedRoom)}
	f.mu.Lock()
	f.readers[r] = struct{}{}
	f.mu.Unlock()
	return r.words, func() {
		f.mu.Lock()
		delete(f.readers, r)
		f.mu.Unlock()
	}
}
