package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/oneslot/oneslot/internal/api"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/dispatch"
	"github.com/oneslot/oneslot/internal/intake/hook"
	"github.com/oneslot/oneslot/internal/metrics"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/standby"
)

// ServeOptions are what the daemon is given beside its configuration.
type ServeOptions struct {
	Sources    config.Sources // for the next time it is read
	Supervisor []string       // this program, with the verb of its supervisors
	Version    string
	Log        *slog.Logger
	Reload     <-chan struct{} // somebody asks for the configuration to be read again
	// StopWorkers: at the end workers are stopped, too, and waited for.
	StopWorkers bool
	Ready       func(address string) // called once it serves
}

// Bounds of the end.
const (
	answerMost = 10 * time.Second // for requests under way
	stopMost   = 5 * time.Minute  // for workers that are stopped

	supervisorMost = 5 * time.Second // for a supervisor whose run is over
)

// server is the daemon.
type server struct {
	*App
	ServeOptions
	live    *config.Live
	gates   gates
	hooks   atomic.Pointer[map[string]hook.Hook]
	watch   context.CancelFunc // of the gates in force
	tokens  atomic.Pointer[[]api.Token]
	admin   api.Token // made anew with each start
	metrics *metrics.Set
	feed    *api.Feed
	disp    *dispatch.Dispatcher
	dog     watchdog
	lock    *daemonLock
	paths   atomic.Pointer[paths]
	tend    chan struct{}   // something about a reservation may have changed
	verdict <-chan error    // on the store, if its check takes long
	ctx     context.Context // ends when the server does
	end     context.CancelFunc
	work    sync.WaitGroup
}

// Serve is the daemon: it takes wishes, starts what is due, and repairs what is out
// of order, until ctx ends. Then nothing starts any more; the workers go on.
func (a *App) Serve(ctx context.Context, o ServeOptions) (err error) {
	told := ctx
	defer func() {
		if told.Err() != nil && errors.Is(err, context.Canceled) {
			err = nil // told to end before it had begun
		}
	}()
	if a.Queue == nil {
		return fmt.Errorf("%w: %s is somebody else's daemon; serve needs a store of its own", slot.ErrConfig, a.Store.Address())
	}
	lock, err := lockDaemon(a.Config.StorePath())
	if err != nil {
		return err
	}
	defer lock.release()
	ctx, done := context.WithCancel(ctx)
	defer done()
	verdict, err := a.verify(ctx)
	if err != nil {
		return err
	}
	s := &server{App: a, ServeOptions: o, lock: lock, ctx: ctx, end: done, verdict: verdict, tend: make(chan struct{}, 1)}
	s.metrics = metrics.New(source{s})
	s.feed = s.newFeed()
	s.live = config.NewLive(o.Sources, a.Config, s.apply)
	pool := standby.NewPool(o.Supervisor, s.supervisorEnv, o.Log)
	defer pool.Close()
	s.disp = s.dispatcher(pool)
	if s.admin, err = newAdmin(s.Store.Dir()); err != nil {
		return err
	}
	if err := s.apply(a.Config); err != nil { // from here on gates tell the dispatcher of changes
		return err
	}
	defer func() { s.watch(); s.work.Wait() }() // before the store is closed
	handler, err := s.handler()
	if err != nil {
		return err
	}
	listener, err := listen(ctx, a.Config.Listen.V)
	if err != nil {
		return err
	}
	defer listener.Close()
	return s.run(ctx, pool, listener, handler)
}

// run is the daemon's life, from the first look to the last answer.
func (s *server) run(ctx context.Context, pool *standby.Pool, l net.Listener, h http.Handler) error {
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	web := s.web(h)
	s.work.Go(func() {
		if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			stop(fmt.Errorf("%w: serving %s: %w", slot.ErrUnknown, s.Config.Listen.V, err))
		}
	})
	s.work.Go(func() {
		if store, ok := s.Store.(rehearser); ok {
			store.Rehearse(work)
		}
		pool.Refill()
	})
	s.work.Go(func() {
		err := s.disp.Run(work)
		if !s.StopWorkers { // whoever ends from now on starts what follows itself
			s.lock.release()
		}
		if err != nil {
			stop(err)
		}
	})
	s.work.Go(func() {
		select {
		case err := <-s.verdict:
			if err != nil && work.Err() == nil {
				stop(err)
			}
		case <-work.Done():
		}
	})
	s.work.Go(func() { s.sweeps(work) })
	s.work.Go(func() {
		if err := s.guard(work); err != nil {
			stop(err)
		}
	})
	s.work.Go(func() { s.reloads(work) })
	s.work.Go(func() { s.live.Run(work, s.badConfig) })
	s.work.Go(func() { s.dog.run(work, s.disp.Nudge) })

	// It is never touched, so it takes no memory, but counts as heap: what a storm of
	// deliveries leaves is collected every 16 MB instead of every few.
	ballast := make([]byte, 16<<20)
	defer runtime.KeepAlive(ballast)

	s.Log.Info("serving", "listen", s.Config.Listen.V, "store", s.Store.Address(), "pid", os.Getpid())
	notify(daemon.SdNotifyReady)
	if s.Ready != nil {
		s.Ready(l.Addr().String())
	}
	<-work.Done()
	notify(daemon.SdNotifyStopping)
	s.Log.Info("ending: nothing starts any more; workers go on", "stop_workers", s.StopWorkers)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerMost)
	defer cancel()
	err := web.Shutdown(last)
	if err != nil {
		err = web.Close()
	}
	asked := ctx.Err() != nil // to end, from outside
	s.end()
	s.work.Wait()
	if s.StopWorkers {
		err = errors.Join(err, s.stopAll(context.WithoutCancel(ctx)))
	}
	if cause := context.Cause(work); !asked {
		return cause
	}
	return err
}

// verifyMost is how long the start waits for the check of the store. That of a
// large file goes on beside the work, and ends it if the file is damaged.
const verifyMost = 300 * time.Millisecond

// verify checks the store; verdict is what comes of it later, if it takes longer.
func (a *App) verify(ctx context.Context) (verdict <-chan error, err error) {
	done := make(chan error, 1)
	go func() { done <- a.Store.Verify(ctx) }()
	select {
	case err := <-done:
		return nil, err
	case <-time.After(verifyMost):
		return done, nil
	}
}

// guardEvery is how often the daemon sees to it that it works for the store that
// others find at its address.
const guardEvery = 2 * time.Second

// guard ends with an error when the store is not at its address any more: who is
// told of this daemon there would wait for nothing.
func (s *server) guard(ctx context.Context) error {
	var first os.FileInfo // a new store is made by the first write
	tick := time.NewTicker(guardEvery)
	defer tick.Stop()
	for missed := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now, err := os.Stat(s.Config.StorePath())
		if first == nil {
			first = now
		}
		if first == nil || err == nil && os.SameFile(first, now) {
			missed = 0
			continue
		}
		if missed++; missed > 1 {
			return &slot.UnknownError{Op: "serve", Store: s.Store.Address(), Err: slot.ErrMoved,
				Hint: "the file was removed or replaced under the daemon; start it again for the one that is there now"}
		}
	}
}

// supervisorEnv is what supervisors are given: their workers can read it, whatever
// their own environment is.
func (s *server) supervisorEnv() []string {
	cfg := s.live.Current()
	return without(os.Environ(), slices.DeleteFunc(Secrets(cfg), func(name string) bool {
		return slices.ContainsFunc(cfg.Rules, func(r config.Rule) bool { return slices.Contains(r.Env.V, name) })
	}))
}

func (s *server) dispatcher(pool *standby.Pool) *dispatch.Dispatcher {
	d := s.NewDispatcher(pool, &s.gates, s.live.Current, s.metrics, s.Log, func(kind string, ref slot.Ref) { s.feed.Tell(kind, ref.String()) })
	d.Beat, d.Relations, d.Reservations = s.dog.round, s, s
	return d
}

// NewDispatcher puts the one path together.
func (a *App) NewDispatcher(pool *standby.Pool, g dispatch.Gates, cfg func() *config.Config, m dispatch.Metrics, log *slog.Logger, tell func(string, slot.Ref)) *dispatch.Dispatcher {
	together, _ := a.Queue.(dispatch.Together) // our queue is kept with our claims
	holder := func(path, command string, p slot.Process) slot.Holder { return holderBy(cfg(), path, command, p) }
	return dispatch.New(dispatch.Parts{
		Queue: a.Queue, Together: together, Claims: a.Store, Journal: a.Store, Taker: a.Taker(), Gates: g, Plans: plans{cfg}, Pool: pool,
		Sight: Sight{}, Clock: a.Clock, Metrics: m, Log: log, Holder: holder, State: a.Store.Dir(),
		Warden: a.Store.Capabilities().CrossHost || !proc.FirstNamespace(), Reap: a.Ender().Reap, Tell: tell,
	})
}

// apply puts a configuration in force.
func (s *server) apply(cfg *config.Config) error {
	all, err := s.forgesOf(cfg, s.metrics.Asked)
	if err != nil {
		return err
	}
	before := s.paths.Load()
	if before != nil {
		all.keep(cfg, before.relations.forges, before.relations.config)
	}
	set, err := s.gatesOf(cfg, all)
	if err != nil {
		return err
	}
	paths, err := s.pathsOf(cfg, all)
	if err != nil {
		return err
	}
	hooks, err := hooksOf(cfg)
	if err != nil {
		return err
	}
	tokens, err := tokensOf(cfg)
	if err != nil {
		return err
	}
	tokens = append(tokens, s.admin)
	s.hooks.Store(&hooks)
	s.tokens.Store(&tokens)
	for _, w := range cfg.Warnings {
		s.Log.Warn(w)
	}
	ctx, cancel := context.WithCancel(s.ctx)
	if s.watch != nil {
		s.watch()
	}
	s.watch = cancel
	s.gates.now.Store(set)
	s.paths.Store(paths)
	s.Log.Info("configuration in force", "file", cfg.File, "rules", len(cfg.Rules), "hooks", len(cfg.Hooks))
	go set.Watch(ctx, s.changed)
	paths.walk(ctx, s, before)
	return nil
}

// changed has a look at what a gate had put off.
func (s *server) changed(kind string) {
	s.disp.Changed(s.ctx, kind)
}

func (s *server) reloads(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Reload:
		}
		notify(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
		if err := s.live.Reload(); err != nil {
			s.badConfig(err)
		}
		notify(daemon.SdNotifyReady)
	}
}

func (s *server) badConfig(err error) {
	s.Log.Error("the new configuration is not taken; the last good one stays", "err", err)
}

// followEvery is how soon a claim that another process took is followed.
const followEvery = 30 * time.Second

// sweeps repairs at the start and then every so often.
func (s *server) sweeps(ctx context.Context) {
	for {
		if _, err := s.disp.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.Log.Error("the sweep could not look at everything", "err", err)
		}
		cfg := s.live.Current()
		if err := s.disp.Alarm(ctx, cfg.DeferAlarm.V); err != nil && ctx.Err() == nil {
			s.Log.Error("the sweep could not look at what is put off", "err", err)
		}
		s.forget(ctx, cfg)
		for end := s.Clock.Boot() + cfg.SweepEvery.V; ; {
			left := end - s.Clock.Boot()
			if left <= 0 {
				break
			}
			if clock.Pause(ctx, min(left, followEvery)) != nil {
				return
			}
			if err := s.disp.Follow(ctx); err != nil && ctx.Err() == nil {
				s.Log.Error("the live claims could not be looked at", "err", err)
			}
		}
	}
}

// forget drops what is kept for longer than [retention] says.
func (s *server) forget(ctx context.Context, cfg *config.Config) {
	before := s.Clock.Wall().Add(-cfg.Retention.Deliveries.V)
	files, err := s.Queue.Forget(ctx, before)
	for _, f := range files {
		err = errors.Join(err, os.Remove(f))
	}
	// A body whose delivery was never recorded is nobody's.
	spool, e := os.ReadDir(s.spool())
	for _, entry := range spool {
		info, e := entry.Info()
		if e != nil || info.ModTime().After(before.Add(-24*time.Hour)) {
			continue
		}
		path := filepath.Join(s.spool(), entry.Name())
		named, e := s.Queue.Names(ctx, path)
		if err = errors.Join(err, e); e == nil && !named {
			err = errors.Join(err, os.Remove(path))
		}
	}
	if !errors.Is(e, os.ErrNotExist) {
		err = errors.Join(err, e)
	}
	if err = errors.Join(err, s.Tidy(ctx, cfg.Retention)); err != nil && ctx.Err() == nil {
		s.Log.Warn("not all that is old could be removed", "err", err)
	}
}

func (s *server) spool() string { return filepath.Join(s.Store.Dir(), "deliveries") }

// source is what the metrics are read from.
type source struct{ server *server }

// Gauge implements metrics.Source.
func (s source) Gauge(ctx context.Context) (queue.Gauge, error) { return s.server.Queue.Gauge(ctx) }

// Live implements metrics.Source.
func (s source) Live(ctx context.Context) ([]slot.Claim, error) { return s.server.Store.Live(ctx) }

// Holds implements metrics.Source.
func (s source) Holds(ctx context.Context) ([]slot.Hold, error) { return s.server.Store.Holds(ctx) }

// Ready implements metrics.Source.
func (s source) Ready(ctx context.Context) error { return s.server.ready(ctx) }

// Stale implements metrics.Source.
func (s source) Stale() bool { return s.server.live.Stale() }
