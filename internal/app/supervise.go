package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/standby"
	"github.com/oneslot/oneslot/internal/supervise"
	"github.com/oneslot/oneslot/internal/told"
)

// Warm does beforehand what a supervisor's first steps would pay for: it takes them
// for a run that there is not. Whatever fails now fails again, and is told, then.
func (a *App) Warm(ctx context.Context) {
	if s, ok := a.Store.(interface{ Warm(context.Context) }); ok {
		s.Warm(ctx)
	}
	if a.Queue != nil {
		_, _ = a.Queue.Events(ctx, queue.Filter{Run: "none"})
		_, _ = a.Queue.Delivery(ctx, queue.DeliveryID(0))
	}
}

// Supervise looks after the run of a job: what a supervisor of the daemon does.
func (a *App) Supervise(ctx context.Context, j standby.Job, warden []string) (supervise.Report, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return supervise.Report{}, a.decline(ctx, j, err)
	}
	s := supervise.Spec{
		Store: a.Store, Address: a.Store.Address(), Journal: a.Store, Clock: a.Clock, Log: slog.New(slog.DiscardHandler),
		State: a.Store.Dir(), Claim: j.Claim, Key: j.Key, Previous: j.Previous,
		Argv: j.Argv, Env: os.Environ(), Strip: j.Strip, Dir: j.Dir,
		Stdin: null, Stdout: null, Stderr: null,
		Timeout: j.Timeout, LogBytes: cmp.Or(j.LogBytes, a.Config.Retention.LogBytes.V),
		Attempt: j.Attempt, Rule: j.Rule, Tell: a.tell(j.Claim.Run), WardenArgv: warden,
	}
	rep, err := supervise.Run(ctx, s)
	a.Tidy(ctx) //nolint:errcheck // the run is over; doctor tells what is kept for too long
	return rep, err
}

// decline gives back the claim of a job that cannot be begun.
func (a *App) decline(ctx context.Context, j standby.Job, err error) error {
	_, e := a.Store.Release(ctx, j.Key, slot.Outcome{Result: slot.NoStart, Reason: err.Error(), Unspent: true})
	return errors.Join(fmt.Errorf("%w: %w", slot.ErrUnknown, err), e)
}

// tell makes the file with the events that the run was given.
func (a *App) tell(run string) func(context.Context, func(string, []byte) (string, error)) ([]byte, error) {
	return func(ctx context.Context, keep func(string, []byte) (string, error)) ([]byte, error) {
		events, err := a.Queue.Events(ctx, queue.Filter{Run: run})
		if err != nil {
			return nil, err
		}
		slices.Reverse(events) // the newest last
		return told.Write(ctx, events, a.Queue, keep)
	}
}
