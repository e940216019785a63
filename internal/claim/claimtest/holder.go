package claimtest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

func holderTests() []test {
	return []test{
		{"P1/OneOfManyGetsAFreeSlot", func(b *bench) {
			last := int64(0)
			for round := range 4 {
				req, g := b.race(b.ref(1), fmt.Sprintf("round %d", round), func(r *claim.Request) {})
				if g.Claim.Fence <= last {
					b.Errorf("round %d: fence %d after %d", round, g.Claim.Fence, last)
				}
				last = g.Claim.Fence
				b.release(b.open(), req.Key)
			}
		}},
		{"P1/OneOfManyTakesAnExpiredClaim", func(b *bench) {
			b.take(b.open(), b.detached(b.ref(1)))
			b.past(b.ttl)
			b.race(b.ref(1), "expired", func(r *claim.Request) {})
		}},
		{"P1/OneOfManyDisplaces", func(b *bench) {
			for i, why := range []claim.Why{claim.Dead, claim.Forced} {
				old := b.supervised(b.ref(i + 1))
				b.begin(b.open(), old)
				_, g := b.race(old.Ref, string(why), func(r *claim.Request) { *r = over(*r, old.Key.Claim, why) })
				if g.Displaced == nil || g.Displaced.ID != old.Key.Claim {
					b.Errorf("%s: displaced %+v; want %s", why, g.Displaced, old.Key.Claim)
				}
			}
		}},
		{"P1/OneOfManyResumes", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			b.begin(s, req)
			if _, err := s.Park(b.ctx, req.Key, slot.Outcome{Result: slot.Waits}); err != nil {
				b.Fatalf("park: %v", err)
			}
			b.race(b.ref(1), "resume", func(r *claim.Request) { *r = over(*r, req.Key.Claim, claim.Resumed) })
		}},
		{"C06/ManyClaimersOneList", manyClaimers},
		{"P1/TheRefusalNamesTheHolder", func(b *bench) {
			s, ref := b.open(), b.ref(1)
			req := b.supervised(ref)
			g := b.begin(s, req)
			e := b.busy(b.open(), b.detached(ref), slot.ReasonHeld)
			if e.Claim.ID != g.Claim.ID || e.Claim.Fence != g.Claim.Fence || e.Claim.Holder != req.Holder || e.Store == "" {
				b.Errorf("refused by %+v at %q; want claim %s, fence %d, holder %+v",
					e.Claim, e.Store, g.Claim.ID, g.Claim.Fence, req.Holder)
			}
			if e.Claim.Left <= 0 || e.Claim.Left > b.ttl+b.caps.Tick {
				b.Errorf("%v left; want up to %v", e.Claim.Left, b.ttl)
			}
		}},
		{"P1/SlotsDoNotMeet", func(b *bench) {
			// Different refs never share a slot, however alike they are written.
			s := b.open()
			for _, ref := range []string{
				"github.com/octo/org-repo#1", "github.com/octo-org/repo#1", "github.com/octo/a.b#1", "github.com/octo/a-b#1",
				"gitlab.com/octo/repo#1", "gitlab.com/octo/repo!1", "key:build", "key:Build",
			} {
				b.take(s, b.detached(b.parse(ref)))
			}
			if live, err := s.Live(b.ctx); err != nil || len(live) != 8 {
				b.Errorf("%d live claims, %v; want 8", len(live), err)
			}
		}},
	}
}

// race lets many ask at the same moment, over several handles, and asserts that
// exactly one is granted and that the slot is that one's.
func (b *bench) race(ref slot.Ref, what string, change func(*claim.Request)) (claim.Request, claim.Grant) {
	b.Helper()
	const racers, handles = 12, 4
	var stores []Store
	for range handles {
		stores = append(stores, b.open())
	}
	reqs, grants, errs := make([]claim.Request, racers), make([]claim.Grant, racers), make([]error, racers)
	gate := make(chan struct{})
	var wg sync.WaitGroup
	for i := range racers {
		reqs[i] = b.detached(ref)
		change(&reqs[i])
		wg.Go(func() {
			<-gate
			grants[i], errs[i] = stores[i%handles].Acquire(b.ctx, reqs[i])
		})
	}
	close(gate)
	wg.Wait()
	won := -1
	for i, err := range errs {
		_, busy := errors.AsType[*slot.BusyError](err)
		switch {
		case err != nil && !busy:
			b.Errorf("%s: racer %d: %v; want a grant or busy", what, i, err)
		case err == nil && won >= 0:
			b.Errorf("%s: P1 broken: racers %d and %d both hold %s", what, won, i, ref)
		case err == nil:
			won = i
		}
	}
	if won < 0 {
		b.Fatalf("%s: nobody was granted", what)
	}
	if _, err := stores[0].Check(b.ctx, reqs[won].Key); err != nil {
		b.Fatalf("%s: the winner's check: %v", what, err)
	}
	return reqs[won], grants[won]
}

func manyClaimers(b *bench) {
	const n = 12
	var refs []slot.Ref
	for i := range n {
		refs = append(refs, b.ref(i+1))
	}
	got, errs := make([]int, n), make([]error, n)
	gate := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		s, base := b.open(), b.detached(refs[0])
		wg.Go(func() {
			<-gate
			got[i] = -1
			for k, ref := range refs {
				req := base
				req.Ref, req.Key = ref, claim.NewKey(ref)
				_, err := s.Acquire(b.ctx, req)
				if err == nil {
					got[i] = k
					return
				}
				if _, busy := errors.AsType[*slot.BusyError](err); !busy {
					errs[i] = err
					return
				}
			}
		})
	}
	close(gate)
	wg.Wait()
	owner := map[int]int{}
	for i, k := range got {
		if prev, twice := owner[k]; k < 0 || twice {
			b.Errorf("claimer %d got item %d (claimer %d has it: %v), %v", i, k, prev, twice, errs[i])
		}
		owner[k] = i
	}
}
