package app

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
func (a *App) Reap(ctx context.Context, ref slot.Ref) error {
	key := claim.NewKey(ref)
	g, err := a.Taker().Take(ctx, claim.Request{
		Ref: ref, Key: key, Kind: slot.Detached, Holder: a.Holder(slot.PathSweep, "oneslot", a.Self), Bound: true,
		TTL: slot.DetachedTTL, Grace: slot.DefaultGrace,
	})
	var paused *slot.DeferError
	switch {
	case errors.As(err, &paused):
		return a.reapPaused(ctx, ref)
	case slot.IsRefusal(err):
		return nil
	case err != nil:
		return err
	}
	if err := a.Clear(ctx, g, key); err != nil {
		if slot.IsRefusal(err) || errors.Is(err, slot.ErrLost) {
			return nil
		}
		return err
	}
	_, err = a.Store.Release(ctx, key, slot.Outcome{Result: slot.Done, Reason: "cleared what a dead run left"})
	return err
}

// reapPaused is Reap for a slot on hold, which nobody can take: not we either. The
// record of a dead holder's claim stays; its run is closed, and counts nowhere.
func (a *App) reapPaused(ctx context.Context, ref slot.Ref) error {
	look, err := a.Store.Look(ctx, ref)
	if err != nil {
		return err
	}
	s := Stopper{App: a, Ref: ref, Path: slot.PathSweep, Reason: "its supervisor is dead", Log: slog.New(slog.DiscardHandler)}
	c := look.Live()
	if c != nil {
		if may, _, _ := claim.Judge(Sight{}, *c); may == nil && !a.Overtaken(*c) || c.Kind != slot.Supervised || a.cleared(ctx, *c) {
			return nil
		}
	}
	_, err = s.paused(ctx, c)
	return err
}

// cleared reports that nothing is left of the run of a claim.
func (a *App) cleared(ctx context.Context, c slot.Claim) bool {
	if c.Run == "" {
		return false
	}
	run, err := a.Store.Run(ctx, c.Run)
	return err == nil && !run.TreeGoneAt.IsZero()
}
