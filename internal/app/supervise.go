package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/standby"
	"github.com/oneslot/oneslot/internal/supervise"
	"github.com/oneslot/oneslot/internal/told"
)

// rehearser is a store whose first steps cost more than the next ones.
type rehearser interface {
	Warm(ctx context.Context)
	Rehearse(ctx context.Context)
}

// Warm does beforehand what a supervisor's first steps would pay for. If quiet says
// that there is time, it takes them all, for a run that there is not. Whatever fails
// now fails again, and is told, then.
func (a *App) Warm(ctx context.Context, quiet func() bool) {
	store, ok := a.Store.(rehearser)
	if !ok || a.Queue == nil {
		return
	}
	store.Warm(ctx)
	if !quiet() {
		return
	}
	_, _ = a.Queue.Delivery(ctx, queue.DeliveryID(0))
	if events, err := a.Queue.Events(ctx, queue.Filter{Limit: 1}); err == nil {
		_, _ = told.Write(ctx, events, sample{}, func(name string, _ []byte) (string, error) { return name, nil })
	}
	if job, err := standby.Rehearse(); err == nil {
		_ = supervise.Rehearse(ctx, a.spec(job))
	}
	store.Rehearse(ctx)
	runtime.GC() // now, and not while a run starts; what was used is at hand again
}

// sample is where the deliveries of a rehearsal come from: real ones may be large.
type sample struct{}

// Delivery implements told.Reader.
func (sample) Delivery(context.Context, string) (slot.Delivery, error) {
	return slot.Delivery{Body: []byte("{}")}, nil
}

// Supervise looks after the run of a job: what a supervisor of the daemon does.
func (a *App) Supervise(ctx context.Context, j standby.Job, warden []string) (supervise.Report, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return supervise.Report{}, a.decline(ctx, j, err)
	}
	s := a.spec(j)
	s.Stdin, s.Stdout, s.Stderr, s.WardenArgv = null, null, null, warden
	// The daemon may be away for longer than what was said on the forge counts. If we
	// cannot, since the secrets for it are kept from us, it and the next process do it.
	said, _ := a.reservations()
	own := threads(j.Claim) // the other supervisors look after theirs
	if len(own) == 0 {
		return supervise.Run(ctx, s)
	}
	stop := said.keeping(ctx, own...)
	rep, err := supervise.Run(ctx, s)
	stop()
	_ = said.Tend(context.WithoutCancel(ctx), own...)
	return rep, err
}

func (a *App) spec(j standby.Job) supervise.Spec {
	return supervise.Spec{
		Store: a.Store, Address: a.Store.Address(), Journal: a.Store, Clock: a.Clock, Log: slog.New(slog.DiscardHandler),
		Self: a.Self, State: a.Store.Dir(), Claim: j.Claim, Key: j.Key, Previous: j.Previous,
		Argv: j.Argv, Env: os.Environ(), Strip: j.Strip, Dir: j.Dir,
		Timeout: j.Timeout, LogBytes: cmp.Or(j.LogBytes, a.Config.Retention.LogBytes.V),
		Attempt: j.Attempt, Rule: j.Rule, Tell: a.tell(j.Claim.Run),
	}
}

// decline gives back the claim of a job that cannot be begun.
func (a *App) decline(ctx context.Context, j standby.Job, err error) error {
	_, e := a.Store.Release(ctx, j.Key, slot.Outcome{Result: slot.NoStart, Reason: err.Error(), Unspent: true})
	return errors.Join(fmt.Errorf("%w: %w", slot.ErrUnknown, err), e)
}

// tell makes the file with the events that the run was given, but for those that a
// gate ended under its claim.
func (a *App) tell(run string) func(context.Context, func(string, []byte) (string, error)) ([]byte, error) {
	return func(ctx context.Context, keep func(string, []byte) (string, error)) ([]byte, error) {
		events, err := a.Queue.Events(ctx, queue.Filter{Run: run, State: string(queue.EventWaiting)})
		if err != nil {
			return nil, err
		}
		slices.Reverse(events) // the newest last
		return told.Write(ctx, events, a.Queue, keep)
	}
}
