package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/supervise"
)

// Clear ends what earlier runs of a slot left on this host, for a claim that no
// supervisor stands behind: its holder starts only when Clear has returned nil.
// The claim is kept renewed meanwhile, and given back if something cannot be
// ended: the error is then a *slot.BusyError.
func (a *App) Clear(ctx context.Context, g claim.Grant, key claim.Key) error {
	kept, stop := claim.Keep(ctx, a.Store, a.Clock, key, g.Asked, g.Claim.TTL)
	cleaner := supervise.Cleaner{
		Journal: a.Store, State: a.Store.Dir(), Boot: a.Clock.BootID(), Log: slog.New(slog.DiscardHandler),
		Fence: g.Claim.Fence,
	}
	err := cleaner.Clean(kept, g.Claim.Ref, "", g.Displaced)
	lost := context.Cause(kept)
	stop()
	switch {
	case err == nil && lost == nil:
		return nil
	case lost != nil:
		err = lost
	}
	var stuck *supervise.UnstoppedError
	if errors.As(err, &stuck) {
		busy := &slot.BusyError{Ref: g.Claim.Ref, Reason: slot.ReasonUnstopped, Store: a.Store.Address(), Detail: stuck.Error()}
		if g.Displaced != nil {
			busy.Claim = *g.Displaced
		}
		err = busy
	}
	out := slot.Outcome{Result: slot.NoStart, Reason: err.Error()}
	if _, e := a.Store.Release(context.WithoutCancel(ctx), key, out); e != nil && !errors.Is(e, slot.ErrLost) {
		return fmt.Errorf("%w; and the claim could not be given back: %w", err, e)
	}
	return err
}
