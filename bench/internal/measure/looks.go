package measure

import (
	"context"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
)

// counting notes when each ticket asks for its slot. The first time it joins
// the line; each later one is a waiter that woke up.
type counting struct {
	claim.Store
	clock clock.Clock
	mu    sync.Mutex
	asked map[string][]time.Duration // boot time, by ticket
	got   map[string]bool            // whose last one got the slot
}

func newCounting(s claim.Store, clk clock.Clock) *counting {
	return &counting{Store: s, clock: clk, asked: map[string][]time.Duration{}, got: map[string]bool{}}
}

func (c *counting) Acquire(ctx context.Context, req claim.Request) (claim.Grant, error) {
	if t := req.Ticket; t != nil {
		c.mu.Lock()
		c.asked[t.ID] = append(c.asked[t.ID], c.clock.Boot())
		c.mu.Unlock()
	}
	g, err := c.Store.Acquire(ctx, req)
	if t := req.Ticket; t != nil && err == nil {
		c.mu.Lock()
		c.got[t.ID] = true
		c.mu.Unlock()
	}
	return g, err
}

// waking is how often those in a line woke for nothing. The look that gets the
// slot is not one of these.
type waking struct {
	Worst int     // most wakes of one waiter within any one time to live
	Total int     // wakes of all
	Lives float64 // times to live that all have waited
}

// wakes counts what was asked up to now.
func (c *counting) wakes(ttl time.Duration) waking {
	c.mu.Lock()
	defer c.mu.Unlock()
	var w waking
	now := c.clock.Boot()
	for ticket, asked := range c.asked {
		if c.got[ticket] {
			asked = asked[:len(asked)-1]
		}
		w = w.plus(wakesOf(asked, now, ttl))
	}
	return w
}

// wakesOf counts one waiter that joined at asked[0] and waited until end.
func wakesOf(asked []time.Duration, end, ttl time.Duration) waking {
	if len(asked) == 0 { // it got the slot at once
		return waking{}
	}
	woke := asked[1:]
	w := waking{Total: len(woke), Lives: float64(end-asked[0]) / float64(ttl)}
	first := 0
	for i, at := range woke {
		for woke[first]+ttl <= at {
			first++
		}
		w.Worst = max(w.Worst, i-first+1)
	}
	return w
}

func (w waking) plus(o waking) waking {
	return waking{max(w.Worst, o.Worst), w.Total + o.Total, w.Lives + o.Lives}
}
