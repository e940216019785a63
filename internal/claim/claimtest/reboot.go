package claimtest

import (
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

func rebootTests() []test {
	return []test{
		{"P9/ASupervisedClaimOfAnEarlierBootIsDead", func(b *bench) {
			req := b.supervised(b.ref(1))
			b.begin(b.open(), req)
			s, ok := b.reboot()
			if !ok {
				return
			}
			if !b.caps.BootTime {
				// A store that lives elsewhere does not see this host go down.
				b.busy(s, b.supervised(req.Ref), slot.ReasonHeld)
				return
			}
			_, err := s.Renew(b.ctx, req.Key)
			b.wantLost("renew of a dead claim", err)
			_, err = s.Check(b.ctx, req.Key)
			b.wantLost("check of a dead claim", err)
			next := b.supervised(req.Ref)
			g := b.take(s, next)
			if g.Displaced == nil || g.Displaced.Run != req.Run {
				b.Errorf("displaced %+v; want the run %s of the earlier boot", g.Displaced, req.Run)
			}
			if d := b.decisions(s, req.Ref); d[len(d)-1].Reason != slot.ReasonDead {
				b.Errorf("taken with reason %q; want %q", d[len(d)-1].Reason, slot.ReasonDead)
			}
			if open, err := s.OpenRuns(b.ctx, req.Ref); err != nil || len(open) != 1 || open[0].ID != next.Run {
				b.Errorf("open runs %+v, %v; want those of this boot only", open, err)
			}
			b.start(s, next.Key) // no process outlives its boot
			b.allLost(s, "the owner of the earlier boot", req.Key)
		}},
		{"P1/ADetachedClaimGetsOneFullTimeToLive", func(b *bench) {
			req := b.detached(b.ref(1))
			b.take(b.open(), req)
			s, ok := b.reboot()
			if !ok || !b.caps.BootTime {
				return // its deadline counts on as if nothing had been
			}
			left := func(want time.Duration) {
				b.Helper()
				if got := b.newest(s, req.Ref).Left; got < want-b.caps.Tick || got > want+b.caps.Tick {
					b.Errorf("%v is left; want %v, from the first open after the boot", got, want)
				}
			}
			left(b.ttl)
			b.busy(s, b.detached(req.Ref), slot.ReasonHeld)
			b.pass(b.ttl / 2)
			s = b.open() // not the first any more
			left(b.ttl / 2)
			if _, err := s.Check(b.ctx, req.Key); err != nil {
				b.Errorf("check by its owner: %v", err)
			}
			b.past(b.ttl / 2)
			b.take(s, b.detached(req.Ref))
		}},
		{"P1/AWaitingClaimOutlivesTheBoot", func(b *bench) {
			req := b.supervised(b.ref(1))
			b.parked(b.open(), req)
			s, ok := b.reboot()
			if !ok {
				return
			}
			b.busy(s, b.detached(req.Ref), slot.ReasonHeld)
			b.pass(b.opt.WaitingMax) // most of it has passed before
			b.past(0)
			b.take(s, b.detached(req.Ref))
		}},
		{"P9/ALineOfAnEarlierBootHoldsNobodyUp", func(b *bench) {
			s, holder, _ := b.line(1)
			b.release(s, holder.Key)
			s, ok := b.reboot()
			if !ok {
				return
			}
			if !b.caps.BootTime {
				b.past(b.opt.Turn) // only its silence tells
			}
			b.take(s, b.detached(holder.Ref))
		}},
		{"P2/FencesGrowOverABoot", func(b *bench) {
			req := b.detached(b.ref(1))
			s := b.open()
			before := b.take(s, req).Claim.Fence
			b.release(s, req.Key)
			s, ok := b.reboot()
			if !ok {
				return
			}
			b.h.Clock.StepWall(-24 * time.Hour) // a machine without a battery clock
			if after := b.take(s, b.detached(req.Ref)).Claim.Fence; after <= before {
				b.Errorf("fence %d after the boot, %d before", after, before)
			}
		}},
	}
}

// reboot ends all processes and starts the machine anew. It reports false if
// nothing can be said about a boot: without a clock the machine is not ours to
// restart (then BootTime is not declared either, see Declared/Consistent), and
// without CrossProcess nothing outlives the processes anyway.
func (b *bench) reboot() (Store, bool) {
	b.Helper()
	b.closeAll()
	if b.h.Clock == nil || !b.caps.CrossProcess {
		return nil, false
	}
	b.h.Clock.Reboot(b.bootID() + "-next")
	b.h.Clock.Advance(b.ttl / 4) // nobody opens the store at once
	return b.open(), true
}
