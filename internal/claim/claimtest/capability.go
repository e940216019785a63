package claimtest

import (
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

func capabilityTests() []test {
	return []test{
		{"Declared/Consistent", func(b *bench) {
			c := b.caps
			switch {
			case c.Name == "":
				b.Error("the store has no name")
			case c.Tick <= 0 || c.Tick > time.Hour:
				b.Errorf("tick %v; deadlines must be told apart by some step", c.Tick)
			case c.CrossHost && !c.CrossProcess:
				b.Error("a store that excludes hosts excludes processes")
			case c.CrossHost != (b.h.Far != nil):
				b.Errorf("cross-host is %v, but the harness has a far host: %v", c.CrossHost, b.h.Far != nil)
			case c.BootTime && b.h.Clock == nil:
				b.Error("boot time is the host's own clock, so the harness must be able to move it")
			}
			if other := b.open().Capabilities(); other != c {
				b.Errorf("another handle declares %+v; want %+v", other, c)
			}
		}},
		{"Declared/CrossProcess", crossProcess},
		{"Declared/CrossHost", crossHost},
		{"Declared/BootTime", bootTime},
		{"Declared/Tick", tick},
	}
}

// crossProcess: what one process recorded is there for those that come after
// it; without the capability it must not look as if it were.
func crossProcess(b *bench) {
	ref := b.ref(1)
	g := b.take(b.open(), b.detached(ref))
	b.closeAll()
	s := b.open()
	if b.caps.CrossProcess {
		if e := b.busy(s, b.detached(ref), slot.ReasonHeld); e.Claim.ID != g.Claim.ID {
			b.Errorf("held by %s; want %s", e.Claim.ID, g.Claim.ID)
		}
		return
	}
	if n := b.look(s, ref).Newest; n != nil {
		b.Errorf("a store for one process only still knows %+v", *n)
	}
}

// crossHost: P1 and P2 between hosts.
func crossHost(b *bench) {
	if !b.caps.CrossHost {
		if b.h.Far != nil {
			b.Error("the harness opens a far host for a store that excludes none")
		}
		return
	}
	ref, near, far := b.ref(1), b.open(), b.opens(b.h.Far)
	req := b.supervised(ref)
	req.Warden = true
	g := b.begin(near, req)
	other := b.supervised(ref)
	other.Holder.Host, other.Holder.Process.Boot, other.Warden = "host-b", "another-boot", true
	if e := b.busy(far, other, slot.ReasonHeld); e.Claim.Holder.Host != "host-a" {
		b.Errorf("held on %q; want host-a", e.Claim.Holder.Host)
	}
	b.past(b.ttl)
	next := b.take(far, other)
	if next.Claim.Fence <= g.Claim.Fence {
		b.Errorf("fence %d on the far host after %d", next.Claim.Fence, g.Claim.Fence)
	}
	// The old tree is on the near host: the far one cannot and need not stop it.
	if runs, err := far.OpenRuns(b.ctx, ref); err != nil || len(runs) != 1 || runs[0].ID != other.Run {
		b.Errorf("open runs of the far host: %+v, %v; want its own only", runs, err)
	}
	b.start(far, other.Key)
	_, err := near.Check(b.ctx, req.Key)
	b.wantLost("check on the near host", err)
}

// bootTime: deadlines count suspend and never step. A store that lives by
// another clock says so, and follows that clock's steps.
func bootTime(b *bench) {
	if b.h.Clock == nil {
		return // Declared/Consistent refuses a store that declares it without one
	}
	s, ref := b.open(), b.ref(1)
	left := func(after string, want time.Duration) {
		b.Helper()
		got := b.newest(s, ref).Left
		if d := got - want; d < -b.caps.Tick || d > b.caps.Tick {
			b.Errorf("after %s %v is left; want %v", after, got, want)
		}
	}
	b.take(s, b.detached(ref))
	left("the grant", b.ttl)
	b.h.Clock.Suspend(b.ttl / 4)
	left("a suspend", b.ttl*3/4)
	step := b.ttl / 4
	b.h.Clock.StepWall(step)
	if b.caps.BootTime {
		left("a step of the wall clock", b.ttl*3/4)
		b.h.Clock.StepWall(-24 * time.Hour)
		left("a step back", b.ttl*3/4)
		b.h.Clock.Suspend(b.ttl*3/4 + b.caps.Tick)
	} else {
		left("a step of the store's clock", b.ttl/2)
		b.h.Clock.StepWall(b.ttl/2 + b.caps.Tick)
	}
	if n := b.newest(s, ref); !n.Expired() {
		b.Errorf("%v is left after the deadline", n.Left)
	}
}

// tick: deadlines are told apart by the declared step, and a time to live is
// never shorter than granted.
func tick(b *bench) {
	s, ref := b.open(), b.ref(1)
	if b.h.Clock != nil {
		b.h.Clock.Advance(123456789 * time.Nanosecond) // off every round step
	}
	req := b.detached(ref)
	b.take(s, req)
	margin := time.Nanosecond
	if b.h.Clock == nil {
		margin = b.ttl / 4 // the calls themselves take time
	}
	b.pass(b.ttl - margin)
	if _, err := s.Check(b.ctx, req.Key); err != nil {
		b.Errorf("%v before the deadline: %v", margin, err)
	}
	b.past(margin)
	_, err := s.Check(b.ctx, req.Key)
	b.wantLost("check two ticks after the deadline", err)
}
