package ending

import (
	"context"
	"errors"
	"log/slog"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Reap clears what a dead run of the ref left on this host: its claim, its tree,
// its record and its work item. It does nothing while somebody alive holds the slot,
// or waits for it: whoever gets it clears, too.
func (e *Ender) Reap(ctx context.Context, ref slot.Ref) error {
	key := claim.NewKey(ref)
	g, err := e.Taker.Take(ctx, claim.Request{
		Ref: ref, Key: key, Kind: slot.Detached, Holder: e.holder(slot.PathSweep), Bound: true,
		TTL: slot.DetachedTTL, Grace: slot.DefaultGrace,
	})
	var paused *slot.DeferError
	switch {
	case errors.As(err, &paused):
		return e.reapPaused(ctx, ref)
	case slot.IsRefusal(err):
		return nil
	case err != nil:
		return err
	}
	if err := e.Clear(ctx, g, key); err != nil {
		if slot.IsRefusal(err) || errors.Is(err, slot.ErrLost) {
			return nil
		}
		return err
	}
	_, err = e.Store.Release(ctx, key, slot.Outcome{Result: slot.Done, Reason: "cleared what a dead run left"})
	return err
}

// reapPaused is Reap for a slot on hold, which nobody can take: not we either. The
// record of a dead holder's claim stays; its run is closed, and counts nowhere.
func (e *Ender) reapPaused(ctx context.Context, ref slot.Ref) error {
	look, err := e.Store.Look(ctx, ref)
	if err != nil {
		return err
	}
	s := Stopper{Ender: e, Ref: ref, Path: slot.PathSweep, Reason: "its supervisor is dead", Log: slog.New(slog.DiscardHandler)}
	c := look.Live()
	if c != nil {
		if may, _, _ := claim.Judge(e.Taker.Sight, *c); may == nil && !e.Overtaken(*c) || c.Kind != slot.Supervised || e.Cleared(ctx, *c) {
			return nil
		}
	}
	_, err = s.paused(ctx, c)
	return err
}
