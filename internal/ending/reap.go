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
	look, err := e.Store.Look(ctx, ref)
	if err != nil {
		return err
	}
	// Nothing is asked that would be refused: that is a decision, and on record.
	c := look.Live()
	switch {
	case c != nil && !e.passed(*c):
		return nil
	case look.Hold != nil:
		return e.reapPaused(ctx, ref, c)
	case look.InLine(e.Taker.Sight):
		return nil
	}
	key := claim.NewKey(ref)
	g, err := e.Taker.Take(ctx, claim.Request{
		Ref: ref, Key: key, Kind: slot.Detached, Holder: e.holder(slot.PathSweep), Bound: true,
		TTL: slot.DetachedTTL, Grace: slot.DefaultGrace,
	})
	switch {
	case slot.IsRefusal(err): // somebody was faster; a hold waits for the next time
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

// passed reports that a claim may be set aside: its holder is dead, or overdue.
func (e *Ender) passed(c slot.Claim) bool {
	may, _, _ := claim.Judge(e.Taker.Sight, c)
	return may != nil || e.Overtaken(c)
}

// reapPaused is Reap for a slot on hold, which nobody can take: not we either. The
// record of a dead holder's claim stays; its run is closed, and counts nowhere.
func (e *Ender) reapPaused(ctx context.Context, ref slot.Ref, c *slot.Claim) error {
	if c != nil && (c.Kind != slot.Supervised || e.Cleared(ctx, *c)) {
		return nil
	}
	s := Stopper{Ender: e, Ref: ref, Path: slot.PathSweep, Reason: "its supervisor is dead", Log: slog.New(slog.DiscardHandler)}
	_, err := s.paused(ctx, c)
	return err
}
