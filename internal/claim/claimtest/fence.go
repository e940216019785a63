package claimtest

import (
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

func fenceTests() []test {
	return []test{
		{"P2/FencesGrowOverEveryWayToTheSlot", fencesGrow},
		{"P2/FenceIsTheLargerOfLastAndWall", fenceRule},
		{"P2/SlotsCountOnTheirOwn", func(b *bench) {
			s := b.open()
			a, c := b.take(s, b.detached(b.ref(1))), b.take(s, b.detached(b.ref(2)))
			if b.h.Clock != nil && a.Claim.Fence != c.Claim.Fence {
				b.Errorf("fences %d and %d of two fresh slots at one time", a.Claim.Fence, c.Claim.Fence)
			}
		}},
		{"P2/FencesGrowOverARestart", func(b *bench) {
			ref, req := b.ref(1), b.detached(b.ref(1))
			before := b.take(b.open(), req).Claim.Fence
			b.release(b.opened[len(b.opened)-1], req.Key)
			b.closeAll()
			if b.caps.CrossProcess && b.h.Clock != nil {
				b.h.Clock.StepWall(-time.Hour) // only the record can know better
			} else {
				b.pass(10 * time.Millisecond) // a lost number relies on the wall clock
			}
			if after := b.take(b.open(), b.detached(ref)).Claim.Fence; after <= before {
				b.Errorf("fence %d after the restart, %d before", after, before)
			}
		}},
	}
}

// fencesGrow walks one slot through every way it changes hands, with the wall
// clock set back and forth in between.
func fencesGrow(b *bench) {
	s, other, ref := b.open(), b.open(), b.ref(1)
	last, lastID := int64(0), ""
	step := func(how string, req claim.Request) {
		b.Helper()
		if b.h.Clock != nil && b.caps.BootTime { // else a step would move deadlines too
			b.h.Clock.StepWall([]time.Duration{-time.Hour, time.Minute, -48 * time.Hour}[b.procs%3])
		}
		g := b.take(other, req)
		if g.Claim.Fence <= last || g.Claim.Fence >= 1<<53 {
			b.Errorf("fence %d after %s, %d before", g.Claim.Fence, how, last)
		}
		if n := b.newest(s, ref); n.Fence != g.Claim.Fence || n.ID != req.Key.Claim {
			b.Errorf("after %s the record has claim %s, fence %d; granted was %d", how, n.ID, n.Fence, g.Claim.Fence)
		}
		last, lastID = g.Claim.Fence, req.Key.Claim
	}
	req := b.detached(ref)
	step("nothing", req)
	b.release(s, req.Key)
	step("a release", b.detached(ref))
	b.past(b.ttl)
	step("an expiry", b.detached(ref))

	req = b.supervised(ref)
	step("a takeover by force", over(req, lastID, claim.Forced))
	b.start(s, req.Key)
	next := b.supervised(ref)
	step("proof of death", over(next, lastID, claim.Dead))
	b.gone(s, req.Run)
	b.start(s, next.Key)
	b.past(b.ttl)
	req = b.supervised(ref)
	step("an overdue deadline", over(req, lastID, claim.Overdue))
	b.gone(s, next.Run)
	b.start(s, req.Key)
	if _, err := s.Park(b.ctx, req.Key, slot.Outcome{Result: slot.Waits}); err != nil {
		b.Fatalf("park: %v", err)
	}
	step("a resumption", over(b.supervised(ref), lastID, claim.Resumed))
}

// fenceRule: fence = max(last + 1, wall clock in ms).
func fenceRule(b *bench) {
	s, ref := b.open(), b.ref(1)
	last := int64(0)
	for _, step := range []time.Duration{0, 0, time.Hour, -2 * time.Hour, 0, 30 * 24 * time.Hour} {
		if b.h.Clock != nil {
			b.h.Clock.StepWall(step)
		}
		from := b.wall().UnixMilli()
		req := b.detached(ref)
		got := b.take(s, req).Claim.Fence
		low, high := max(last+1, from), max(last+1, b.wall().UnixMilli())
		if b.h.Clock == nil { // the store's wall clock is another machine's
			low, high = max(last+1, from-60_000), high+60_000
		}
		if got < low || got > high {
			b.Errorf("fence %d after a step of %v; want %d to %d", got, step, low, high)
		}
		last = got
		b.release(s, req.Key)
	}
}
