package app

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/ending"
	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/names"
	"github.com/oneslot/oneslot/internal/origin"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/remote"
)

// Store is everything that the one store of this host serves.
type Store interface {
	ending.Store
	// Verify reads all of the store and reports damage.
	Verify(ctx context.Context) error
}

// App is a configured oneslot, ready for a verb or for the library.
type App struct {
	Config *config.Config
	Store  Store
	Queue  queue.Store // nil if the store is somebody else's daemon
	// Memory keeps since when gates have failed; nil as Queue.
	Memory gate.Memory
	// Names keeps a repository one slot, whatever it is called; never nil.
	Names *names.Names
	// Server is the Store, if that is somebody else's daemon; else nil.
	Server *remote.Store
	Clock  clock.Clock
	Self   slot.Process
	// Inside lists the runs that this process is part of, outermost first.
	Inside []string

	mu    sync.Mutex
	verbs forges // for a verb; made when they are first asked for
}

// New opens what cfg describes. Nothing is written until a step needs it.
func New(cfg *config.Config) (*App, error) {
	clk, err := clock.System()
	if err != nil {
		return nil, fmt.Errorf("%w: the clock: %w", slot.ErrUnknown, err)
	}
	clk = failpoint.Clock(clk)
	self, err := proc.Self()
	if err != nil {
		return nil, fmt.Errorf("%w: this process: %w", slot.ErrUnknown, err)
	}
	a := &App{Config: cfg, Clock: clk, Self: self}
	if err := a.open(); err != nil {
		return nil, err
	}
	kept, _ := a.Store.(names.Store)
	a.Names = names.New(kept, clk)
	if chain := os.Getenv("ONESLOT_RUNS"); chain != "" {
		a.Inside = strings.Split(chain, ",")
	}
	return a, nil
}

// Taker takes slots for this process.
func (a *App) Taker() *claim.Taker {
	return &claim.Taker{Store: a.Store, Sight: Sight{}, Clock: a.Clock, Self: a.Self, Inside: a.Inside}
}

// Ender ends what is on slots, on behalf of this process.
func (a *App) Ender() *ending.Ender {
	return &ending.Ender{Store: a.Store, Taker: a.Taker(), Holder: a.Holder("", "oneslot", a.Self)}
}

// Whoami is the user of this process, for the record.
func (a *App) Whoami() string { return proc.UserName(os.Getuid()) + "@" + a.Config.Host.V }

// Holder describes this process as the holder of a claim.
func (a *App) Holder(path, command string, p slot.Process) slot.Holder {
	return holderBy(a.Config, path, command, p)
}

func holderBy(cfg *config.Config, path, command string, p slot.Process) slot.Holder {
	return slot.Holder{Host: cfg.Host.V, Process: p, UID: os.Geteuid(), Path: path, Command: command}
}

// Grammar reads refs as the configuration says; "#12" alone is resolved from
// the origin remote of the working directory.
func (a *App) Grammar(ctx context.Context) slot.Grammar { return Grammar(ctx, a.Config) }

// Grammar is App.Grammar for callers that need no store.
func Grammar(ctx context.Context, cfg *config.Config) slot.Grammar {
	return cfg.Grammar(func() (string, error) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		dir, err := os.Getwd()
		if err != nil {
			return "", err
		}
		return origin.Remote(ctx, dir)
	})
}

// Sight sees the processes of this host.
type Sight struct{}

// Life implements claim.Sight.
func (Sight) Life(p slot.Process) (claim.Life, string) {
	s := proc.Look(p)
	return claim.Life(s.Life), s.Detail
}

// Watch implements claim.Sight.
func (Sight) Watch(p slot.Process) (<-chan struct{}, func(), error) { return proc.Watch(p) }
