package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/oneslot/oneslot/internal/api"
	"github.com/oneslot/oneslot/internal/ending"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
)

// broker does for callers of the API what the verbs do for people.
type broker struct {
	app  *App
	desk desk
	log  *slog.Logger
}

// Dispatch implements api.Broker.
func (b broker) Dispatch(ctx context.Context, w api.Wish) ([]queue.Accepted, error) {
	return b.desk.Dispatch(ctx, Wish{
		Ref: w.Ref, Kind: w.Kind, Rule: w.Rule, Path: slot.PathAPI, Key: w.Key, Note: w.Note, Run: w.Run, Dir: w.Dir,
	})
}

// Stop implements api.Broker.
func (b broker) Stop(ctx context.Context, ref slot.Ref, reason string, hold bool) (bool, error) {
	s := ending.Stopper{Ender: b.app.Ender(), Ref: ref, Path: slot.PathAPI, Reason: reason, Log: b.log}
	if hold {
		s.Hold = func(ctx context.Context) error {
			return b.app.Store.Hold(ctx, slot.Hold{Scope: ref.String(), Reason: "stopped", By: reason, At: b.app.Clock.Wall()})
		}
	}
	did, err := s.Stop(ctx)
	return did != "", err
}

// Takeover implements api.Broker.
func (b broker) Takeover(ctx context.Context, ref slot.Ref, reason string) (bool, error) {
	return b.Stop(ctx, ref, "taken over: "+reason, false)
}

// Log implements api.Broker.
func (b broker) Log(run slot.Run) (io.ReadCloser, error) {
	if run.Dir == "" {
		return nil, fmt.Errorf("%w: run %s left no log here", slot.ErrNoRecord, run.ID)
	}
	f, err := os.Open(rundir.At(run.Dir).LogPath())
	if os.IsNotExist(err) {
		return nil, fmt.Errorf("%w: run %s left no log here", slot.ErrNoRecord, run.ID)
	}
	return f, err
}

// Ended implements api.Broker.
func (b broker) Ended(ctx context.Context, run slot.Run) (bool, error) {
	now, err := b.app.Store.Run(ctx, run.ID)
	if err != nil {
		return false, err
	}
	return now.State == slot.RunEnded || proc.Look(now.Holder.Process).Life == proc.Dead, nil
}
