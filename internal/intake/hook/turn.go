package hook

import (
	"context"
	"net/http"
	"time"
)

// How many bodies of a size are held at once. With their sizes they bound memory:
// 32 times 1 MiB, and one spooled body at a time while it is parsed.
const (
	mediumAtOnce = 32
	largeAtOnce  = 4
)

// turn lets so many in at once.
type turn chan struct{}

// turns are taken in this order, and never one of an earlier kind after a later,
// so that nobody waits in a circle.
type turns struct {
	medium, large, parse turn
}

func newTurns() turns {
	return turns{medium: make(turn, mediumAtOnce), large: make(turn, largeAtOnce), parse: make(turn, 1)}
}

// take waits for a turn, which is given back with give.
func (t turn) take(ctx context.Context, patience time.Duration) error {
	select {
	case t <- struct{}{}:
		return nil
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return refuse(http.StatusServiceUnavailable, "busy", "too many large deliveries at once; send it again later")
	}
}

func (t turn) give() { <-t }
