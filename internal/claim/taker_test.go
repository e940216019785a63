package claim_test

import (
	"context"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/claim/claimtest"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// slow is a store whose answers take their time.
type slow struct {
	claim.Store
	clock *clock.Manual
}

func (s slow) Acquire(ctx context.Context, req claim.Request) (claim.Grant, error) {
	g, err := s.Store.Acquire(ctx, req)
	s.clock.Advance(20 * time.Second)
	return g, err
}

// P11: a grant's time counts from before the question, however long the answer took.
func TestP11_AGrantCountsFromTheQuestion(t *testing.T) {
	clk := clock.NewManual(time.Unix(1e9, 0))
	ref, err := slot.ParseCanonical("key:x")
	if err != nil {
		t.Fatal(err)
	}
	taker := claim.Taker{Store: slow{claimtest.NewMemory(clk, claimtest.Options{}).Open(), clk}, Clock: clk}
	before := clk.Boot()
	g, err := taker.Take(t.Context(), claim.Request{Ref: ref, Key: claim.NewKey(ref), Kind: slot.Detached, TTL: time.Minute})
	if err != nil || g.Asked != before {
		t.Errorf("asked at %v, %v; want %v", g.Asked, err, before)
	}
}
