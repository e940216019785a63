package app

import (
	"context"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/remote"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// open opens the store: a file of this host, with queue and all, or a server's.
func (a *App) open() error {
	if a.Config.Remote() {
		store, err := remoteOf(a.Config, a.Clock)
		if err != nil {
			return err
		}
		a.Store, a.Server = store, store
		return nil
	}
	store, err := sqlite.Open(a.Config.StorePath(), sqlite.Options{
		Clock: a.Clock, WaitingMax: a.Config.WaitingMax.V, Retention: a.Config.Retention.Decisions.V,
	})
	if err != nil {
		return err
	}
	a.Store, a.Queue, a.Memory = store, store.Queue(), store.GateMemory()
	return nil
}

// Writing is for a verb that is about to claim: what its step needs is opened beside it.
func (a *App) Writing() {
	if s, ok := a.Store.(interface{ Writing() }); ok {
		s.Writing()
	}
}

func remoteOf(cfg *config.Config, clk clock.Clock) (*remote.Store, error) {
	return remote.Open(cfg.Store.V, remote.Options{Dir: cfg.StateDir(), Boot: clk.BootID(), Token: cfg.APIToken()})
}

// Books is what people ask of a queue, whoever keeps it: see queue.Store.
type Books interface {
	Items(ctx context.Context, f queue.Filter) ([]queue.Item, error)
	Events(ctx context.Context, f queue.Filter) ([]queue.Record, error)
	Revive(ctx context.Context, ref slot.Ref, rule *string) ([]queue.Item, error)
	Drop(ctx context.Context, d queue.Drop) ([]queue.Dropped, error)
}

// Books are those of the store's own queue, or of the daemon that is asked.
func (a *App) Books() Books {
	if a.Server != nil {
		return a.Server
	}
	return a.Queue
}
