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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/oneslot/oneslot/internal/api"
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
	metrics *metrics.Set
	feed    *api.Feed
	disp    *dispatch.Dispatcher
	verdict <-chan error // on the store, if its check takes long
	ctx     context.Context
	work    sync.WaitGroup
}

// Serve is the daemon: it takes wishes, starts what is due, and repairs what is out
// of order, until ctx ends. Then nothing starts any more; the workers go on.
func (a *App) Serve(ctx context.Context, o ServeOptions) error {
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
	s := &server{App: a, ServeOptions: o, ctx: ctx, verdict: verdict, metrics: metrics.New(source{a.Queue, a.Store}), feed: api.NewFeed(a.Clock.Wall)}
	s.live = config.NewLive(o.Sources, a.Config, s.apply)
	pool := standby.NewPool(o.Supervisor, o.Log)
	defer pool.Close()
	s.disp = s.dispatcher(pool)
	if err := s.apply(a.Config); err != nil { // from here on gates tell the dispatcher of changes
		return err
	}
	defer func() { s.watch() }()
	handler, err := s.handler()
	if err != nil {
		return err
	}
	listener, err := listen(a.Config.Listen.V)
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
	s.work.Go(func() { pool.Refill() })
	s.work.Go(func() {
		if err := s.disp.Run(work); err != nil {
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
	s.work.Go(func() { s.reloads(work) })
	s.work.Go(func() { s.live.Run(work, s.badConfig) })
	s.work.Go(func() { watchdog(work) })

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
	s.work.Wait()
	if s.StopWorkers {
		err = errors.Join(err, s.stopAll(context.WithoutCancel(ctx)))
	}
	if cause := context.Cause(work); ctx.Err() == nil {
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

func notify(state string) { daemon.SdNotify(false, state) } //nolint:errcheck // nobody listens

// watchdog tells systemd that we live, for as long as we do.
func watchdog(ctx context.Context) {
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil || every == 0 {
		return
	}
	tick := time.NewTicker(every / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			notify(daemon.SdNotifyWatchdog)
		}
	}
}

func (s *server) dispatcher(pool *standby.Pool) *dispatch.Dispatcher {
	return s.NewDispatcher(pool, &s.gates, s.live.Current, s.metrics, s.Log, func(kind string, ref slot.Ref) { s.feed.Tell(kind, ref.String()) })
}

// NewDispatcher puts the one path together.
func (a *App) NewDispatcher(pool *standby.Pool, g dispatch.Gates, cfg func() *config.Config, m dispatch.Metrics, log *slog.Logger, tell func(string, slot.Ref)) *dispatch.Dispatcher {
	return dispatch.New(dispatch.Parts{
		Queue: a.Queue, Claims: a.Store, Journal: a.Store, Taker: a.Taker(), Gates: g, Plans: plans{cfg}, Pool: pool,
		Watcher: Sight{}, Clock: a.Clock, Metrics: m, Log: log, Holder: a.Holder, State: a.Store.Dir(),
		Warden: a.Store.Capabilities().CrossHost || !proc.FirstNamespace(), Reap: a.Reap, Tell: tell,
	})
}

// apply puts a configuration in force.
func (s *server) apply(cfg *config.Config) error {
	set, err := s.gatesOf(cfg)
	if err != nil {
		return err
	}
	hooks, err := hooksOf(cfg)
	if err != nil {
		return err
	}
	s.hooks.Store(&hooks)
	for _, w := range cfg.Warnings {
		s.Log.Warn(w)
	}
	ctx, cancel := context.WithCancel(s.ctx)
	if s.watch != nil {
		s.watch()
	}
	s.watch = cancel
	s.gates.now.Store(set)
	s.Log.Info("configuration in force", "file", cfg.File, "rules", len(cfg.Rules), "hooks", len(cfg.Hooks))
	go set.Watch(ctx, s.changed)
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
		select {
		case <-ctx.Done():
			return
		case <-time.After(cfg.SweepEvery.V):
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
		if e == nil && info.ModTime().Before(before.Add(-24*time.Hour)) {
			err = errors.Join(err, os.Remove(filepath.Join(s.spool(), entry.Name())))
		}
	}
	if !errors.Is(e, os.ErrNotExist) {
		err = errors.Join(err, e)
	}
	if err = errors.Join(err, s.Tidy(ctx)); err != nil && ctx.Err() == nil {
		s.Log.Warn("not all that is old could be removed", "err", err)
	}
}

func (s *server) spool() string { return filepath.Join(s.Store.Dir(), "deliveries") }

// stopAll ends all runs of the queue, whichever daemon started them.
func (s *server) stopAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopMost)
	defer cancel()
	items, err := s.Queue.Items(ctx, queue.Filter{State: string(queue.Running)})
	if err != nil {
		return err
	}
	var wait sync.WaitGroup
	errs := make([]error, len(items))
	for i, it := range items {
		wait.Go(func() {
			stop := Stopper{App: s.App, Ref: it.Ref, Path: slot.PathManual, Reason: "the daemon was told to stop its workers", Log: s.Log}
			errs[i] = s.stopOne(ctx, stop, it.Run)
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// stopOne ends a run, and waits until its supervisor has seen that there is a
// daemon: it would start what follows itself.
func (s *server) stopOne(ctx context.Context, stop Stopper, run string) error {
	r, err := s.Store.Run(ctx, run)
	if err != nil {
		return err
	}
	gone, cancel, err := proc.Watch(r.Holder.Process)
	if err == nil {
		defer cancel()
	}
	if _, err := stop.Stop(ctx); err != nil {
		return err
	}
	select {
	case <-gone: // nil if it is out of sight
	case <-time.After(supervisorMost):
	}
	return nil
}

// listen opens the daemon's address.
func listen(address string) (net.Listener, error) {
	path, unix := strings.CutPrefix(address, "unix:")
	if !unix {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return nil, fmt.Errorf("%w: listen on %s: %w", slot.ErrUnknown, address, err)
		}
		return l, nil
	}
	// One that nobody listens at was left by a killed daemon.
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, fmt.Errorf("%w: somebody serves %s already", slot.ErrUnknown, path)
	}
	if fi, err := os.Lstat(path); err == nil && fi.Mode().Type() == os.ModeSocket {
		os.Remove(path) //nolint:errcheck // listening tells
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("%w: listen on %s: %w", slot.ErrUnknown, path, err)
	}
	return l, os.Chmod(path, 0o600)
}

// source is what the metrics are read from.
type source struct {
	queue.Store
	claims Store
}

// Live implements metrics.Source.
func (s source) Live(ctx context.Context) ([]slot.Claim, error) { return s.claims.Live(ctx) }
