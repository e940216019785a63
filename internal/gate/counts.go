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
	// Running is how many runs there are, RunningIn how many in a repository.
	Running(ctx context.Context) (int, error)
	RunningIn(ctx context.Context, repo string) (int, error)
	// RunsOf is how many runs of a ref started since a time.
	RunsOf(ctx context.Context, ref slot.Ref, since time.Time) (int, error)
	// HoldOn is a person's pause of the ref or its repository; nil if there is none.
	HoldOn(ctx context.Context, ref slot.Ref) (*slot.Hold, error)
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

// NewHold is the gate "hold": it defers what a person paused.
func NewHold(c Counts) Gate {
	return counted{"hold", func(ctx context.Context, a Ask) (Answer, error) {
		h, err := c.HoldOn(ctx, a.Ref)
		if err != nil || h == nil {
			return proceed("hold", "none", ""), err
		}
		return deferral("hold", "paused", fmt.Sprintf("%s is on hold by %s since %s%s",
			h.Scope, h.By, h.At.Format(time.RFC3339), after(": ", h.Reason))), nil
	}}
}

// NewCapacity is the gate "capacity": it defers while as many runs as allowed are
// there, in all or in the ref's repository. A limit of zero is none.
func NewCapacity(c Counts, running, perRepo int) Gate {
	return counted{"capacity", func(ctx context.Context, a Ask) (Answer, error) {
		own := 0 // under the claim it counts itself
		if a.Claimed {
			own = 1
		}
		if running > 0 {
			if n, err := c.Running(ctx); err != nil || n-own >= running {
				return deferral("capacity", "full", fmt.Sprintf("%d runs of at most %d", n-own, running)), err
			}
		}
		if repo := a.Ref.Repo(); perRepo > 0 && repo != "" {
			if n, err := c.RunningIn(ctx, repo); err != nil || n-own >= perRepo {
				return deferral("capacity", "repository full", fmt.Sprintf("%d runs of at most %d in %s", n-own, perRepo, repo)), err
			}
		}
		return proceed("capacity", "room", ""), nil
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
			return proceed("breaker", "closed", fmt.Sprintf("%d runs of at most %d in %s", n, runs, short(window))), err
		}
		return deferral("breaker", "too many runs", fmt.Sprintf("%d runs in %s; at most %d", n, short(window), runs)), nil
	}}
}
