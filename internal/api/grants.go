package api

import (
	"sync"

	"github.com/oneslot/oneslot/internal/slot"
)

// grantsMax is how many grants are remembered.
const grantsMax = 1024

// grants remembers what the latest claims set aside. A store that is asked again
// gives the same claim, but does not know that any more; whoever did not hear the
// first answer must learn whose work it may have to end.
type grants struct {
	mu   sync.Mutex
	old  map[string]*slot.Claim // by the new claim
	ring [grantsMax]string
	next int
}

// again completes an answer: it notes what was displaced, or recalls it.
func (g *grants) again(claim string, displaced *slot.Claim) *slot.Claim {
	g.mu.Lock()
	defer g.mu.Unlock()
	if displaced == nil {
		return g.old[claim]
	}
	if g.old == nil {
		g.old = map[string]*slot.Claim{}
	}
	delete(g.old, g.ring[g.next])
	g.old[claim], g.ring[g.next] = displaced, claim
	g.next = (g.next + 1) % grantsMax
	return displaced
}
