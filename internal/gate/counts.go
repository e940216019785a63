package gate

import (
	"context"
	"fmt"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// Counts is what the claim store knows. The claim's own transaction counts again,
// and that is what keeps a limit; here is only a look that saves a claim.
type Counts interface {
	// Running is how many claims there are that count as work, and how many of them
	// in the repository of a ref; not that of the ref itself, which a claim displaces.
	Running(ctx context.Context, beside slot.Ref) (all, inRepo int, err error)
	// RunsOf is how many runs of a ref started since a time.
	RunsOf(ctx context.Context, ref slot.Ref, since time.Time) (int, error)
}

// counted is a gate over Counts.
type counted struct {
	name string
	ask  func(ctx context.Context, a Ask) (Answer, error)
}

func (g counted) Type() string { return g.name }

func (g counted) Ask(ctx context.Context, a Ask) Answer {
	ans, err := g.ask(ctx, a)
	if err != nil {
		return unknown(g.name, err.Error())
	}
	return ans
}

// NewCapacity is the gate "capacity": it defers while as many others run as allowed,
// in all or in the ref's repository. A limit of zero is none.
func NewCapacity(c Counts, running, perRepo int) Gate {
	return counted{"capacity", func(ctx context.Context, a Ask) (Answer, error) {
		if running <= 0 && perRepo <= 0 {
			return proceed("capacity", "room", ""), nil
		}
		all, inRepo, err := c.Running(ctx, a.Ref)
		switch repo := a.Ref.Repo(); {
		case running > 0 && all >= running:
			return deferral("capacity", "full", fmt.Sprintf("%d runs of at most %d", all, running)), err
		case perRepo > 0 && repo != "" && inRepo >= perRepo:
			return deferral("capacity", "repository full", fmt.Sprintf("%d runs of at most %d in %s", inRepo, perRepo, repo)), err
		}
		return proceed("capacity", "room", ""), err
	}}
}

// NewBreaker is the gate "breaker": it defers a ref that had as many runs within
// the window as it may have. A limit of zero is none.
func NewBreaker(c Counts, runs int, window time.Duration, clk clock.Clock) Gate {
	return counted{"breaker", func(ctx context.Context, a Ask) (Answer, error) {
		if runs <= 0 {
			return proceed("breaker", "no limit", ""), nil
		}
		n, err := c.RunsOf(ctx, a.Ref, clk.Wall().Add(-window))
		if err != nil || n < runs || a.Claimed && n == runs {
			return proceed("breaker", "closed", fmt.Sprintf("%d runs of at most %d in %s", n, runs, slot.Span(window))), err
		}
		return deferral("breaker", "too many runs", fmt.Sprintf("%d runs in %s; at most %d", n, slot.Span(window), runs)), nil
	}}
}
