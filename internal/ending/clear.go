package ending

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
func (e *Ender) Clear(ctx context.Context, g claim.Grant, key claim.Key) error {
	kept, stop := claim.Keep(ctx, e.Store, e.Taker.Clock, key, g.Asked, g.Claim.TTL)
	err := e.EndEarlier(kept, g.Claim, g.Displaced)
	lost := context.Cause(kept)
	stop()
	switch {
	case err == nil && lost == nil:
		return nil
	case lost != nil:
		err = lost
	}
	out := slot.Outcome{Result: slot.NoStart, Reason: err.Error()}
	if _, rel := e.Store.Release(context.WithoutCancel(ctx), key, out); rel != nil && !errors.Is(rel, slot.ErrLost) {
		return fmt.Errorf("%w; and the claim could not be given back: %w", err, rel)
	}
	return err
}

// EndEarlier ends what earlier runs of a claim's slots left on this host; the error is
// a *slot.BusyError if something cannot be ended.
func (e *Ender) EndEarlier(ctx context.Context, c slot.Claim, displaced *slot.Claim) error {
	cleaner := supervise.Cleaner{
		Journal: e.Store, State: e.Store.Dir(), Boot: e.Taker.Clock.BootID(), Log: slog.New(slog.DiscardHandler), Fence: c.Fence,
	}
	for _, ref := range append([]slot.Ref{c.Ref}, c.Also...) {
		err := cleaner.Clean(ctx, ref, c.Run, displaced)
		var stuck *supervise.UnstoppedError
		if errors.As(err, &stuck) {
			busy := &slot.BusyError{Ref: ref, Reason: slot.ReasonUnstopped, Store: e.Store.Address(), Detail: stuck.Error()}
			if displaced != nil {
				busy.Claim = *displaced
			}
			return busy
		}
		if err != nil {
			return err
		}
	}
	return nil
}
