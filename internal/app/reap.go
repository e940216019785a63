package app

import (
	"context"
	"errors"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Reap clears what a dead run of the ref left on this host: its claim, its tree,
// its record and its work item. It does nothing while somebody alive holds the slot,
// or waits for it: whoever gets it clears, too.
func (a *App) Reap(ctx context.Context, ref slot.Ref) error {
	key := claim.NewKey(ref)
	g, err := a.Taker().Take(ctx, claim.Request{
		Ref: ref, Key: key, Kind: slot.Detached, Holder: a.Holder(slot.PathSweep, "oneslot", a.Self), Bound: true,
		TTL: slot.DetachedTTL, Grace: slot.DefaultGrace,
	})
	if isBusy(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := a.Clear(ctx, g, key); err != nil {
		if isBusy(err) || errors.Is(err, slot.ErrLost) {
			return nil
		}
		return err
	}
	_, err = a.Store.Release(ctx, key, slot.Outcome{Result: slot.Done, Reason: "cleared what a dead run left"})
	return err
}

func isBusy(err error) bool {
	var busy *slot.BusyError
	var deferred *slot.DeferError
	return errors.As(err, &busy) || errors.As(err, &deferred)
}
