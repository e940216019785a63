package claimtest

import (
	"errors"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

func ownerTests() []test {
	return []test{
		{"P3/AStrangerChangesNothing", func(b *bench) {
			s, ref, req := b.open(), b.ref(1), b.supervised(b.ref(1))
			b.begin(s, req)
			for name, key := range map[string]claim.Key{
				"the wrong token":  {Claim: req.Key.Claim, Token: claim.NewKey(ref).Token},
				"no token":         {Claim: req.Key.Claim},
				"an unknown claim": claim.NewKey(ref),
				"no claim":         {Token: req.Key.Token},
				"garbage":          {Claim: "not a claim id", Token: "'; --"},
			} {
				b.unchanged(s, ref, func() { b.allLost(b.open(), name, key) })
			}
		}},
		{"C05/HostLoginAndPidAreNotOwnership", func(b *bench) {
			s, ref := b.open(), b.ref(1)
			req := b.supervised(ref)
			b.begin(s, req)
			twin := req // same host, user, process and even run; only the token is another
			twin.Key.Token = claim.NewKey(ref).Token
			b.unchanged(s, ref, func() {
				_, err := s.Acquire(b.ctx, twin)
				b.wantLost("acquire with somebody's claim id", err)
				twin.Key = claim.NewKey(ref)
				b.busy(s, twin, slot.ReasonHeld)
				b.allLost(s, "the twin", twin.Key)
			})
		}},
		{"C20/AnOldClaimIsLostForGood", func(b *bench) {
			s, ref, old := b.open(), b.ref(1), b.detached(b.ref(1))
			b.take(s, old)
			b.past(b.ttl)
			req := b.supervised(ref)
			b.take(s, req)
			b.start(s, req.Key)
			b.unchanged(s, ref, func() { b.allLost(b.open(), "the old claim", old.Key) })
			b.release(s, req.Key)
			b.unchanged(s, ref, func() { b.allLost(s, "the old claim of a free slot", old.Key) })
		}},
		{"P3/AReleasedClaimIsOver", func(b *bench) {
			s, ref, req := b.open(), b.ref(1), b.supervised(b.ref(1))
			b.begin(s, req)
			out := slot.Outcome{Result: slot.Failed, Reason: "exit 3"}
			first, err := s.Release(b.ctx, req.Key, out)
			if err != nil || !first.Ended || first.Outcome.Result != slot.Failed || first.EndedAt.IsZero() {
				b.Fatalf("release: %+v, %v", first, err)
			}
			b.unchanged(s, ref, func() {
				if again := b.release(s, req.Key); again.Outcome.Result != slot.Failed {
					b.Errorf("the second release left the outcome %q; want the first one's", again.Outcome.Result)
				}
				_, err := s.Release(b.ctx, claim.Key{Claim: req.Key.Claim, Token: "x"}, out)
				b.wantLost("second release by a stranger", err)
				_, err = s.Renew(b.ctx, req.Key)
				b.wantLost("renew", err)
				_, err = s.Start(b.ctx, req.Key)
				b.wantLost("start", err)
				_, err = s.Check(b.ctx, req.Key)
				b.wantLost("check", err)
				_, err = s.Park(b.ctx, req.Key, slot.Outcome{})
				b.wantLost("park", err)
				_, err = s.AskStop(b.ctx, req.Key.Claim, "too late")
				b.wantLost("ask to stop", err)
			})
		}},
		{"P3/ALostOwnerIsToldByWhom", func(b *bench) {
			s, req := b.open(), b.detached(b.ref(1))
			b.take(s, req)
			next := over(b.detached(req.Ref), req.Key.Claim, claim.Forced)
			b.take(s, next)
			_, err := s.Renew(b.ctx, req.Key)
			if e, ok := errors.AsType[*slot.LostError](err); ok && e.Newest != nil && e.Newest.ID != next.Key.Claim {
				b.Errorf("lost to %s; want %s", e.Newest.ID, next.Key.Claim)
			}
			b.wantLost("renew", err)
		}},
		{"P3/RenewTwiceIsHarmless", func(b *bench) {
			s, req := b.open(), b.detached(b.ref(1))
			b.take(s, req)
			b.pass(b.ttl / 2)
			for range 2 {
				if l := b.renew(s, req.Key); l.TTL != b.ttl || l.Phase == slot.Stopping || l.StopReason != "" {
					b.Errorf("lease %+v; want the whole ttl %v", l, b.ttl)
				}
			}
			b.pass(b.ttl / 2)
			if c, err := s.Check(b.ctx, req.Key); err != nil || c.ID != req.Key.Claim || c.Left <= 0 || c.Left > b.ttl/2+2*b.caps.Tick {
				b.Errorf("check: %+v, %v", c, err)
			}
		}},
	}
}

// allLost tries each act of an owner.
func (b *bench) allLost(s Store, who string, key claim.Key) {
	b.Helper()
	_, err := s.Renew(b.ctx, key)
	b.wantLost(who+": renew", err)
	_, err = s.Start(b.ctx, key)
	b.wantLost(who+": start", err)
	_, err = s.Check(b.ctx, key)
	b.wantLost(who+": check", err)
	_, err = s.Park(b.ctx, key, slot.Outcome{Result: slot.Waits})
	b.wantLost(who+": park", err)
	_, err = s.Release(b.ctx, key, slot.Outcome{Result: slot.Done})
	b.wantLost(who+": release", err)
}
