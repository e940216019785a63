package sqlite

import (
	"context"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Warm opens the file for writing and takes a run's steps with a claim that there is
// not, so that those of a real one find all at hand: connection, statements, pages.
// It changes nothing, so nothing is synced; whatever fails is told by the steps
// themselves.
func (s *Store) Warm(ctx context.Context) {
	none := claim.Key{Claim: "none." + claim.NewID()}
	_, _ = s.Start(ctx, none)
	_, _ = s.Release(ctx, none, slot.Outcome{})
	_ = s.do(ctx, "warm", func(t *tx) error {
		if err := t.started(""); err != nil {
			return err
		}
		_, err := t.settle("", slot.Outcome{}, true)
		return err
	})
}
