package token

import (
	"context"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
)

// early is how long before its end a token is replaced, so that no request starts with
// one that ends on its way.
const early = 5 * time.Minute

// held keeps one token until it nears its end or is rejected. One caller at a time
// fetches; the others wait for it as long as their context lets them.
type held struct {
	clock clock.Clock
	// fetch gets a new one, and how long it is good for; 0: no end is known.
	fetch func(context.Context) (token string, life time.Duration, err error)

	turn  chan struct{} // of one: whoever sent to it may touch what follows
	token string
	end   time.Duration // boot time; 0: none
}

func newHeld(c clock.Clock, fetch func(context.Context) (string, time.Duration, error)) *held {
	return &held{clock: c, fetch: fetch, turn: make(chan struct{}, 1)}
}

// get gives the token, or a new one if it is the rejected one or near its end. While a
// new one cannot be had, the old one is used to its end.
func (h *held) get(ctx context.Context, rejected string) (string, error) {
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	defer func() { <-h.turn }()

	if h.token == rejected {
		h.token = ""
	}
	now := h.clock.Boot()
	if h.token != "" && (h.end == 0 || now < h.end-early) {
		return h.token, nil
	}
	token, life, err := h.fetch(ctx)
	if err != nil {
		if h.token != "" && now < h.end {
			return h.token, nil
		}
		return "", err
	}
	h.token, h.end = token, 0
	if life > 0 {
		h.end = now + life
	}
	return token, nil
}
