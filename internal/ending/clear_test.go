package ending

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// taken is a store in which somebody takes the slot while runs are listed.
type taken struct {
	Store
	dir   string
	asked chan struct{}
}

func (s taken) Dir() string { return s.dir }

func (s taken) Renew(context.Context, claim.Key) (claim.Lease, error) {
	close(s.asked)
	return claim.Lease{}, &slot.LostError{Reason: "the slot was taken since"}
}

func (s taken) OpenRuns(context.Context, slot.Ref) ([]slot.Run, error) {
	<-s.asked
	time.Sleep(200 * time.Millisecond)
	return nil, nil
}

func (s taken) Release(context.Context, claim.Key, slot.Outcome) (slot.Claim, error) {
	return slot.Claim{}, slot.ErrLost
}

// Whoever has nothing to clear may have lost the slot all the same.
func TestClear_TellsALoss(t *testing.T) {
	clk, err := clock.System()
	if err != nil {
		t.Fatal(err)
	}
	ref, err := slot.ParseRef("octo/hello#1", slot.Grammar{})
	if err != nil {
		t.Fatal(err)
	}
	e := &Ender{Store: taken{dir: t.TempDir(), asked: make(chan struct{})}, Taker: &claim.Taker{Clock: clk}}
	err = e.Clear(t.Context(), claim.Grant{Claim: slot.Claim{Ref: ref, TTL: time.Second}, Asked: clk.Boot()}, claim.NewKey(ref))
	if !errors.Is(err, slot.ErrLost) {
		t.Errorf("got %v, want lost", err)
	}
}
