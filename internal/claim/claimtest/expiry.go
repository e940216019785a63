package claimtest

import (
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

func expiryTests() []test {
	return []test{
		{"P3/AnExpiredNewestClaimIsRenewed", func(b *bench) {
			s, req := b.open(), b.detached(b.ref(1))
			b.take(s, req)
			b.past(b.ttl)
			_, err := s.Check(b.ctx, req.Key)
			b.wantLost("check of an expired claim", err)
			if n := b.newest(s, req.Ref); n.Ended || !n.Expired() {
				b.Errorf("the record says ended %v, left %v; want live and expired", n.Ended, n.Left)
			}
			b.renew(s, req.Key)
			if _, err := s.Check(b.ctx, req.Key); err != nil {
				b.Errorf("check after the renewal: %v", err)
			}
			b.busy(s, b.detached(req.Ref), slot.ReasonHeld)
		}},
		{"P3/AnExpiredNewestClaimIsReleased", func(b *bench) {
			s, req := b.open(), b.detached(b.ref(1))
			b.take(s, req)
			b.past(b.ttl)
			b.release(s, req.Key)
			if g := b.take(s, b.detached(req.Ref)); g.Displaced != nil {
				b.Errorf("displaced %+v; the slot was free", *g.Displaced)
			}
		}},
		// P11: expiry alone is enough where nothing unseen can be at work.
		{"P11/ExpiredIsTakenIfItNeedsNoSight", func(b *bench) {
			s := b.open()
			warden := b.supervised(b.ref(1))
			warden.Warden = true
			b.begin(s, warden)
			b.take(s, b.detached(b.ref(2)))
			b.past(b.ttl)
			for n := 1; n <= 2; n++ {
				id := b.newest(s, b.ref(n)).ID
				if g := b.take(s, b.detached(b.ref(n))); g.Displaced == nil || g.Displaced.ID != id {
					b.Errorf("displaced %+v; want %s, so that its run can be looked after", g.Displaced, id)
				}
			}
		}},
		{"P11/ExpiredIsRefusedIfItNeedsSight", func(b *bench) {
			s := b.open()
			bound := b.detached(b.ref(1))
			bound.Bound = true
			b.take(s, bound)
			bare := b.supervised(b.ref(2))
			b.begin(s, bare)
			b.past(b.ttl)
			for n := 1; n <= 2; n++ {
				req := b.detached(b.ref(n))
				e := b.busy(s, req, slot.ReasonHeld)
				if !e.Claim.Expired() {
					b.Errorf("%s: refused by a claim with %v left; want an expired one", req.Ref, e.Claim.Left)
				}
				b.take(s, over(req, e.Claim.ID, claim.Overdue))
			}
			b.allLost(s, "the overdue owner", bare.Key)
		}},
		{"P1/OverdueIsCheckedAgain", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			b.begin(s, req)
			late := over(b.detached(req.Ref), req.Key.Claim, claim.Overdue)
			b.busy(s, late, slot.ReasonHeld)
			b.past(b.ttl)
			b.renew(s, req.Key)
			b.unchanged(s, req.Ref, func() { b.busy(s, late, slot.ReasonHeld) })
		}},
		{"P1/DisplaceNamesTheNewestOrNothing", func(b *bench) {
			s, old := b.open(), b.detached(b.ref(1))
			b.take(s, old)
			b.release(s, old.Key)
			req := b.supervised(old.Ref)
			b.begin(s, req)
			b.unchanged(s, req.Ref, func() {
				for _, why := range []claim.Why{claim.Dead, claim.Overdue, claim.Forced, claim.Resumed} {
					b.busy(s, over(b.detached(old.Ref), old.Key.Claim, why), slot.ReasonHeld)
				}
				// The right claim, but it does not wait for anybody.
				b.busy(s, over(b.detached(old.Ref), req.Key.Claim, claim.Resumed), slot.ReasonHeld)
			})
		}},
		{"P9/DisplacingAnEndedClaimIsTakingAFreeSlot", func(b *bench) {
			s, old := b.open(), b.detached(b.ref(1))
			b.take(s, old)
			b.release(s, old.Key)
			if g := b.take(s, over(b.detached(old.Ref), old.Key.Claim, claim.Forced)); g.Displaced != nil {
				b.Errorf("displaced %+v; it had ended", *g.Displaced)
			}
		}},
		{"Usage/TimesOutOfBounds", func(b *bench) {
			s := b.open()
			for _, tt := range []struct{ ttl, grace time.Duration }{
				{0, 0}, {slot.MinTTL - 1, 0}, {-time.Minute, 0}, {b.ttl, b.ttl/3 + 1}, {b.ttl, -1},
			} {
				req := b.detached(b.ref(1))
				req.TTL, req.Grace = tt.ttl, tt.grace
				_, err := s.Acquire(b.ctx, req)
				b.wantUsage("ttl "+tt.ttl.String()+", grace "+tt.grace.String(), err)
			}
			if l := b.look(s, b.ref(1)); l.Newest != nil {
				b.Errorf("a refused request left %+v", *l.Newest)
			}
			for _, tt := range []struct{ ttl, grace time.Duration }{{b.ttl, 0}, {3 * b.ttl, b.ttl}} {
				req := b.detached(b.ref(1))
				req.TTL, req.Grace = tt.ttl, tt.grace
				if g := b.take(s, req); g.Claim.TTL != tt.ttl || g.Claim.Grace != tt.grace {
					b.Errorf("granted ttl %v, grace %v; want %v", g.Claim.TTL, g.Claim.Grace, tt)
				}
				b.release(s, req.Key)
			}
		}},
		{"Usage/RequestsWithoutSense", func(b *bench) {
			s := b.open()
			for name, change := range map[string]func(*claim.Request){
				"no ref":                  func(r *claim.Request) { r.Ref = slot.Ref{} },
				"no claim id":             func(r *claim.Request) { r.Key.Claim = "" },
				"no token":                func(r *claim.Request) { r.Key.Token = "" },
				"another slot's claim id": func(r *claim.Request) { r.Key = claim.NewKey(b.ref(2)) },
				"bound to no process": func(r *claim.Request) {
					r.Kind, r.Bound, r.Holder.Process = slot.Detached, true, slot.Process{}
				},
				"displaces nothing":          func(r *claim.Request) { r.Displace = &claim.Displace{Why: claim.Forced} },
				"no kind":                    func(r *claim.Request) { r.Kind = "" },
				"taken as waiting":           func(r *claim.Request) { r.Kind = slot.Waiting },
				"supervised without a run":   func(r *claim.Request) { r.Run = "" },
				"a kind that does not exist": func(r *claim.Request) { r.Kind = "other" },
			} {
				req := b.supervised(b.ref(1))
				change(&req)
				_, err := s.Acquire(b.ctx, req)
				b.wantUsage(name, err)
			}
		}},
	}
}
