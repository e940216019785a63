package sqlite

import (
	"context"

	"github.com/oneslot/oneslot/internal/claim"
)

// Warm opens the file for writing and takes a run's first steps with a claim that
// there is not, so that those of a real one find all at hand: connection,
// statements, pages. It changes nothing, so nothing is synced; whatever fails is
// told by the steps themselves.
func (s *Store) Warm(ctx context.Context) {
	none := claim.Key{Claim: "none." + claim.NewID()}
	_, _ = s.Start(ctx, none)
	_ = s.do(ctx, "warm", func(t *tx) error { return t.started("") })
}
