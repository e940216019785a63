package claimtest

import (
	"errors"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// againTests: a request whose answer was lost is sent again with the same key.
func againTests() []test {
	same := func(b *bench, what string, want, got claim.Grant) {
		b.Helper()
		if got.Claim.ID != want.Claim.ID || got.Claim.Fence != want.Claim.Fence {
			b.Errorf("%s: claim %s, fence %d; want the same grant %s, %d",
				what, got.Claim.ID, got.Claim.Fence, want.Claim.ID, want.Claim.Fence)
		}
	}
	return []test{
		{"P1/TheSameRequestGivesTheSameGrant", func(b *bench) {
			req := b.supervised(b.ref(1))
			g := b.take(b.open(), req)
			s := b.open()
			b.unchanged(s, req.Ref, func() { same(b, "again", g, b.take(s, req)) })
			b.start(s, req.Key)
			b.unchanged(s, req.Ref, func() {
				again := b.take(s, req)
				same(b, "again once started", g, again)
				if again.Claim.Phase != slot.Running {
					b.Errorf("phase %s; want running", again.Claim.Phase)
				}
			})
			if runs, err := s.Runs(b.ctx, req.Ref, 0); err != nil || len(runs) != 1 {
				b.Errorf("%d runs, %v; want one", len(runs), err)
			}
		}},
		{"P1/AgainAfterADisplacement", func(b *bench) {
			s, old := b.open(), b.detached(b.ref(1))
			b.take(s, old)
			req := over(b.detached(old.Ref), old.Key.Claim, claim.Forced)
			g := b.take(s, req)
			same(b, "again with the displacement", g, b.take(s, req))
		}},
		{"P2/NeverRevivesAnEndedClaim", func(b *bench) {
			s, req := b.open(), b.detached(b.ref(1))
			b.take(s, req)
			b.release(s, req.Key)
			b.pass(time.Millisecond)
			b.unchanged(s, req.Ref, func() {
				_, err := s.Acquire(b.ctx, req)
				b.wantLost("acquire with the key of a released claim", err)
			})
			next := b.detached(req.Ref)
			b.take(s, next)
			b.unchanged(s, req.Ref, func() { b.refused(s, req) })
		}},
		{"P2/NeverRevivesADisplacedClaim", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			b.take(s, req)
			b.take(s, over(b.detached(req.Ref), req.Key.Claim, claim.Forced))
			b.unchanged(s, req.Ref, func() { b.refused(s, req) })
		}},
	}
}

// refused asks and must not be granted. A store need not remember the keys of
// earlier claims, so busy is as good an answer as lost.
func (b *bench) refused(s Store, req claim.Request) {
	b.Helper()
	g, err := s.Acquire(b.ctx, req)
	_, busy := errors.AsType[*slot.BusyError](err)
	if !busy && !errors.Is(err, slot.ErrLost) {
		b.Errorf("acquire: granted fence %d, %v; want busy or lost", g.Claim.Fence, err)
	}
}
