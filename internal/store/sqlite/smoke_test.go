package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

func TestSmoke(t *testing.T) {
	clk, err := clock.System()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(filepath.Join(t.TempDir(), "a", "x.db"), Options{Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	ref, err := slot.ParseRef("octo/hello#7", slot.Grammar{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	look, err := s.Look(ctx, ref)
	t.Log(look, err)
	req := claim.Request{Ref: ref, Key: claim.NewKey(ref), Kind: slot.Detached, TTL: time.Minute, Grace: time.Second, Holder: slot.Holder{Path: "manual"}}
	g, err := s.Acquire(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", g)
	r2 := req
	r2.Key = claim.NewKey(ref)
	var busy *slot.BusyError
	if _, err := s.Acquire(ctx, r2); !errors.As(err, &busy) {
		t.Fatal(err)
	}
	if _, err := s.Renew(ctx, req.Key); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Check(ctx, req.Key); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Release(ctx, req.Key, slot.Outcome{Result: slot.Done}); err != nil {
		t.Fatal(err)
	}
	ds, err := s.Decisions(ctx, ref)
	t.Logf("%+v %v", ds, err)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
