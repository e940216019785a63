package oneslot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

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

// A program in Go is asked what a command is asked: the gates of the configuration.
func TestClaim_AsksTheGates(t *testing.T) {
	dir := t.TempDir()
	config, free := filepath.Join(dir, "c.toml"), filepath.Join(dir, "free")
	t.Setenv("ONESLOT_CONFIG", config)
	text := "[[gate]]\ntype = \"command\"\nrun = [\"/bin/sh\", \"-c\", \"test -e " + free + " || exit 75\"]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := Open("sqlite:" + filepath.Join(dir, "oneslot.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ref, err := store.Ref("octo-org/octo-repo#12")
	if err != nil {
		t.Fatal(err)
	}
	var busy *DeferError
	if _, err := store.Claim(t.Context(), ref); !errors.As(err, &busy) || busy.Reason != "command: busy" {
		t.Errorf("not now: %v", err)
	}
	if _, err := store.Claim(t.Context(), ref, Wait(time.Millisecond)); !errors.As(err, &busy) {
		t.Errorf("not within the time: %v", err)
	}
	if err := os.WriteFile(free, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, opts := range [][]Option{nil, {Wait(0)}} {
		c, err := store.Claim(t.Context(), ref, opts...)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
