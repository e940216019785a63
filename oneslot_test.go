package oneslot

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// slow is a store whose grants reach a process that was stopped meanwhile, for
// long enough that somebody else has the slot.
type slow struct{ app.Store }

func (s slow) Acquire(ctx context.Context, req claim.Request) (claim.Grant, error) {
	g, err := s.Store.Acquire(ctx, req)
	if err != nil {
		return g, err
	}
	other := req
	other.Key = claim.NewKey(req.Ref)
	other.Displace = &claim.Displace{Claim: req.Key.Claim, Why: claim.Forced}
	_, err = s.Store.Acquire(ctx, other)
	return g, err
}

func TestClaim_NotGivenWhenItIsGone(t *testing.T) {
	store, err := Open("sqlite:" + filepath.Join(t.TempDir(), "oneslot.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	store.app.Store = slow{store.app.Store}
	ref, err := store.Ref("octo-org/octo-repo#12")
	if err != nil {
		t.Fatal(err)
	}
	err = store.Do(t.Context(), ref, func(context.Context, *Claim) error {
		t.Error("two work at once")
		return nil
	})
	if !errors.Is(err, slot.ErrLost) {
		t.Errorf("got %v, want lost", err)
	}
}
