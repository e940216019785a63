package claimtest

import (
	"errors"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

func startTests() []test {
	return []test{
		// C11: starting is held, and has a deadline of its own.
		{"C11/StartingHasADeadline", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			g := b.take(s, req)
			limit := b.opt.StartTTL + b.grace
			if g.Claim.Phase != slot.Starting || g.Claim.Left > limit+b.caps.Tick || g.Claim.Left < limit-2*b.caps.Tick && b.h.Clock != nil {
				b.Errorf("granted %s with %v left; want starting with %v", g.Claim.Phase, g.Claim.Left, limit)
			}
			e := b.busy(s, b.detached(req.Ref), slot.ReasonHeld)
			b.busy(s, over(b.detached(req.Ref), e.Claim.ID, claim.Overdue), slot.ReasonHeld)
			b.past(limit)
			b.take(s, over(b.supervised(req.Ref), e.Claim.ID, claim.Overdue))
			_, err := s.Start(b.ctx, req.Key)
			b.wantLost("start of a displaced claim", err)
		}},
		{"P11/RenewalExtendsStartingWithinALimit", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			b.take(s, req)
			limit := b.opt.StartTTL + b.grace
			step := b.opt.StartTTL / 2
			passed := step
			for b.pass(step); passed+step < b.opt.StartMax; passed += step {
				if l := b.renew(s, req.Key); l.TTL > min(limit, b.opt.StartMax-passed)+2*b.caps.Tick || l.Phase != slot.Starting {
					b.Errorf("lease %+v after %v of at most %v", l, passed, b.opt.StartMax)
				}
				b.pass(step)
			}
			b.past(b.opt.StartMax - passed)
			b.unchanged(s, req.Ref, func() {
				_, err := s.Renew(b.ctx, req.Key)
				b.wantLost("renew after the longest start", err)
				_, err = s.Start(b.ctx, req.Key)
				b.wantLost("start after the longest start", err)
			})
			b.release(s, req.Key) // still its owner's to give back
			b.take(s, b.detached(req.Ref))
		}},
		{"P11/StartGivesTheWholeTimeToLive", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			b.take(s, req)
			b.pass(b.opt.StartTTL / 2)
			l, err := s.Start(b.ctx, req.Key)
			if err != nil || l.TTL != b.ttl || l.Phase != slot.Running {
				b.Fatalf("start: %+v, %v; want running for %v", l, err, b.ttl)
			}
			b.start(s, req.Key) // an answer may have been lost
			if n := b.newest(s, req.Ref); n.Phase != slot.Running {
				b.Errorf("phase %s; want running", n.Phase)
			}
			// The longest start bounds starting, not the work.
			for range 4 {
				b.pass(b.ttl / 2)
				b.renew(s, req.Key)
			}
			r, err := s.Run(b.ctx, req.Run)
			if err != nil || r.State != slot.RunRunning || r.StartedAt.IsZero() {
				b.Errorf("the run is %+v, %v; want running", r, err)
			}
		}},
		{"P11/NoStartBesideAnEarlierTree", earlierTree},
		{"Usage/OnlySupervisedClaimsStart", func(b *bench) {
			s, req := b.open(), b.detached(b.ref(1))
			b.take(s, req)
			b.unchanged(s, req.Ref, func() {
				_, err := s.Start(b.ctx, req.Key)
				b.wantUsage("start of a detached claim", err)
			})
		}},
		{"P11/AskStopReachesTheNextRenewal", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			b.begin(s, req)
			c, err := b.open().AskStop(b.ctx, req.Key.Claim, "enough")
			if err != nil || c.Phase != slot.Stopping || c.StopReason != "enough" || c.Holder != req.Holder {
				b.Fatalf("ask to stop: %+v, %v", c, err)
			}
			if l := b.renew(s, req.Key); l.Phase != slot.Stopping || l.StopReason != "enough" || l.TTL != b.ttl {
				b.Errorf("lease %+v; want stopping, because \"enough\"", l)
			}
			b.busy(s, b.detached(req.Ref), slot.ReasonHeld) // a stop frees nothing by itself
			b.release(s, req.Key)
			_, err = s.AskStop(b.ctx, "no such claim", "x")
			b.wantLost("ask an unknown claim to stop", err)
		}},
	}
}

// earlierTree: claim first, then stop the old tree, then start.
func earlierTree(b *bench) {
	s, first := b.open(), b.supervised(b.ref(1))
	b.begin(s, first)
	second := over(b.supervised(first.Ref), first.Key.Claim, claim.Dead)
	g := b.take(s, second)
	if g.Displaced == nil || g.Displaced.Run != first.Run || g.Displaced.Dir != first.Dir {
		b.Fatalf("displaced %+v; want run %s in %s", g.Displaced, first.Run, first.Dir)
	}
	refused := func(key claim.Key) {
		b.Helper()
		_, err := s.Start(b.ctx, key)
		if e, ok := errors.AsType[*slot.BusyError](err); !ok || e.Reason != slot.ReasonUnstopped {
			b.Fatalf("start beside an earlier tree: %v; want busy (unstopped)", err)
		}
	}
	refused(second.Key)
	b.renew(s, second.Key) // while it stops the tree
	// The contender dies in between; whoever comes after it still finds the tree.
	third := over(b.supervised(first.Ref), second.Key.Claim, claim.Dead)
	b.take(s, third)
	b.gone(s, second.Run)
	refused(third.Key)
	b.gone(s, first.Run)
	b.start(s, third.Key)
	r, err := s.Run(b.ctx, first.Run)
	if err != nil || r.State != slot.RunEnded || r.Outcome.Result != slot.Vanish || r.TreeGoneAt.IsZero() {
		b.Errorf("the first run is %+v, %v; want ended, vanished, its tree gone", r, err)
	}
}
