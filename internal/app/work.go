package app

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/standby"
	"github.com/oneslot/oneslot/internal/wire"
)

// Dispatch puts a wish into the queue. When it returns, the wish is on disk.
func (a *App) Dispatch(ctx context.Context, w Wish) ([]queue.Accepted, error) {
	if a.Server != nil {
		return a.Server.Dispatch(ctx, w.Ref, wire.Dispatch{Kind: w.Kind, Rule: w.Rule, Note: w.Note, Key: w.Key, Run: w.Run, Dir: w.Dir})
	}
	all, err := a.clients()
	if err != nil {
		return nil, err
	}
	return newDesk(a.Queue, a.Names, all.slot, a.config).Dispatch(ctx, w)
}

func (a *App) config() *config.Config { return a.Config }

// Work works the queue of one ref until over says so, or nothing of it is left, or a
// daemon does. A nil over never says so.
func (a *App) Work(ctx context.Context, supervisor []string, ref slot.Ref, over func(context.Context) (bool, error)) error {
	all, err := a.clients()
	if err != nil {
		return err
	}
	set, err := a.gatesOf(a.Config, all)
	if err != nil {
		return err
	}
	done := func(ctx context.Context) (bool, error) {
		if over != nil {
			if done, err := over(ctx); err != nil || done {
				return done, err
			}
		}
		pid, err := a.Daemon()
		return pid != 0, err
	}
	log := slog.New(slog.DiscardHandler)
	pool := standby.NewPool(supervisor, os.Environ, log)
	pool.Spare = false
	defer pool.Close()
	d := a.NewDispatcher(pool, set, a.config, uncounted{}, log, func(string, slot.Ref) {})
	d.Relations = relations{a.Config, all, a.Names}
	reserve, err := a.reservationsOf(a.Config, all, log)
	if err != nil {
		return err
	}
	if reserve != nil {
		d.Reservations = reserve
		stop := reserve.keeping(ctx)
		defer func() {
			stop()
			_ = reserve.Tend(context.WithoutCancel(ctx)) // the next process of this folder does what is left
		}()
	}
	return d.Work(ctx, ref, done)
}

// uncounted is for whoever serves no metrics.
type uncounted struct{}

func (uncounted) Decided(slot.Verdict, string) {}
func (uncounted) Claimed(time.Duration)        {}
func (uncounted) Started(time.Duration)        {}
func (uncounted) Peeked(time.Duration)         {}
