package app

import (
	"context"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// SchemaLevel is the level of the store's schema that this program reads and
// writes.
func SchemaLevel() int { return sqlite.Level() }

// Parts are what New puts together, as much of it as can be had, for whoever
// looks for what is wrong. What is nil has its reason in the error beside it.
type Parts struct {
	Clock    clock.Clock
	ClockErr error
	Store    Patient
	StoreErr error
	Queue    queue.Store // nil if the store is somebody else's daemon
}

// Patient is a store that lets itself be examined.
type Patient interface {
	Store
	Path() string
	Schema(ctx context.Context) (version, least int, err error)
	Probe(ctx context.Context) error
	Writers() ([]int, error)
}

// PartsOf takes apart what cfg describes; cfg may be nil. Nothing is written.
func PartsOf(cfg *config.Config) Parts {
	var p Parts
	clk, err := clock.System()
	if err != nil {
		p.ClockErr = err
		return p // the store cannot be read without
	}
	p.Clock = failpoint.Clock(clk)
	if cfg == nil {
		return p
	}
	if cfg.Remote() { // its daemon has the parts
		server, err := remoteOf(cfg, p.Clock)
		if err == nil {
			defer server.Close() //nolint:errcheck // nothing was begun
			_, err = server.PID()
		}
		p.StoreErr = err
		return p
	}
	store, err := sqlite.Open(cfg.StorePath(), sqlite.Options{
		Clock: p.Clock, WaitingMax: cfg.WaitingMax.V, Retention: cfg.Retention.Decisions.V,
	})
	if err != nil {
		p.StoreErr = err
		return p
	}
	p.Store, p.Queue = store, store.Queue()
	return p
}
