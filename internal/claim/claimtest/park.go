package claimtest

import (
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

func parkTests() []test {
	return []test{
		{"P3/AWaitingClaimKeepsTheSlot", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			g := b.parked(s, req)
			b.pass(b.opt.WaitingMax / 2)
			n := b.newest(s, req.Ref)
			if n.Kind != slot.Waiting || n.Ended || n.Expired() || n.Fence != g.Claim.Fence {
				b.Errorf("the record is %+v; want a live waiting claim with fence %d", n, g.Claim.Fence)
			}
			if e := b.busy(s, b.detached(req.Ref), slot.ReasonHeld); e.Claim.Kind != slot.Waiting {
				b.Errorf("refused by a %s claim; want waiting", e.Claim.Kind)
			}
			// Nobody works under it, so there is nobody to be dead or overdue.
			b.busy(s, over(b.detached(req.Ref), req.Key.Claim, claim.Overdue), slot.ReasonHeld)
			b.busy(s, over(b.detached(req.Ref), req.Key.Claim, claim.Dead), slot.ReasonHeld)
		}},
		{"P3/ParkingVoidsTheKey", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			b.parked(s, req)
			b.unchanged(s, req.Ref, func() {
				b.allLost(s, "the parked owner", req.Key)
				b.refused(s, req)
			})
		}},
		{"P3/ParkingClosesTheRun", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			b.parked(s, req)
			r, err := s.Run(b.ctx, req.Run)
			if err != nil || r.State != slot.RunEnded || r.Outcome.Result != slot.Waits || r.TreeGoneAt.IsZero() {
				b.Errorf("the run is %+v, %v; want ended, waiting, its tree gone", r, err)
			}
		}},
		{"P2/ResumingGivesANewFenceAndToken", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			g := b.parked(s, req)
			next := over(b.supervised(req.Ref), req.Key.Claim, claim.Resumed)
			r := b.take(s, next)
			if r.Claim.Fence <= g.Claim.Fence || r.Displaced == nil || r.Displaced.ID != req.Key.Claim {
				b.Errorf("resumed with fence %d, displacing %+v; want more than %d", r.Claim.Fence, r.Displaced, g.Claim.Fence)
			}
			b.start(s, next.Key)
			b.unchanged(s, req.Ref, func() { b.allLost(s, "the parked owner", req.Key) })
			b.busy(s, over(b.supervised(req.Ref), req.Key.Claim, claim.Resumed), slot.ReasonHeld)
		}},
		{"P9/ResumingPassesTheLine", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			b.parked(s, req)
			waiter := b.detached(req.Ref)
			waiter.Ticket = b.ticket()
			b.busy(s, waiter, slot.ReasonHeld)
			b.take(s, over(b.supervised(req.Ref), req.Key.Claim, claim.Resumed))
		}},
		{"P9/APersonTakesAWaitingClaimOver", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			b.parked(s, req)
			next := over(b.supervised(req.Ref), req.Key.Claim, claim.Forced)
			b.take(s, next)
			b.start(s, next.Key) // the parked run left no tree
			b.busy(s, over(b.supervised(req.Ref), req.Key.Claim, claim.Resumed), slot.ReasonHeld)
		}},
		{"P9/TheLongestWaitEndsByWallClock", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			b.parked(s, req)
			if b.h.Clock != nil {
				b.h.Clock.StepWall(b.opt.WaitingMax + 2*b.caps.Tick)
			} else {
				b.past(b.opt.WaitingMax)
			}
			b.take(s, b.detached(req.Ref))
		}},
		{"Usage/OnlyARunningWorkerIsParked", func(b *bench) {
			s, det, sup := b.open(), b.detached(b.ref(1)), b.supervised(b.ref(2))
			b.take(s, det)
			b.take(s, sup)
			for name, key := range map[string]claim.Key{"a detached claim": det.Key, "a starting claim": sup.Key} {
				_, err := s.Park(b.ctx, key, slot.Outcome{Result: slot.Waits})
				b.wantUsage("park "+name, err)
				if _, err := s.Check(b.ctx, key); err != nil {
					b.Errorf("%s after a refused park: %v", name, err)
				}
			}
		}},
	}
}

// parked takes a claim to the point where it waits for a person.
func (b *bench) parked(s Store, req claim.Request) claim.Grant {
	b.Helper()
	g := b.begin(s, req)
	c, err := s.Park(b.ctx, req.Key, slot.Outcome{Result: slot.Waits, Reason: "which of the two?"})
	if err != nil || c.Kind != slot.Waiting || c.Ended || c.ID != req.Key.Claim {
		b.Fatalf("park: %+v, %v; want a waiting claim", c, err)
	}
	return g
}
