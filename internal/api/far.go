package api

import (
	"strings"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

// in is a process that the caller names, as the store is told of it.
func (c *call) in(p slot.Process) slot.Process {
	if p.IsZero() && p.Boot == "" || c.who.near && p.Boot == c.Boot {
		return p
	}
	p.Boot = slot.FarBoot + strings.TrimPrefix(p.Boot, slot.FarBoot)
	return p
}

// out is a process as the caller is told of it. One that is far from the caller,
// too, stays so.
func (c *call) out(p slot.Process) slot.Process {
	if !c.who.near {
		p.Boot = strings.TrimPrefix(p.Boot, slot.FarBoot)
	}
	return p
}

func (c *call) outClaim(s slot.Claim) wire.Claim {
	s.Holder.Process = c.out(s.Holder.Process)
	return wire.FromClaim(s)
}

func (c *call) outClaims(list []slot.Claim) wire.Claims {
	out := wire.Claims{Claims: []wire.Claim{}}
	for _, s := range list {
		out.Claims = append(out.Claims, c.outClaim(s))
	}
	return out
}

func (c *call) outRuns(list []slot.Run) wire.Runs {
	out := wire.Runs{Runs: []wire.Run{}}
	for _, r := range list {
		out.Runs = append(out.Runs, c.outRun(r))
	}
	return out
}

func (c *call) outRun(r slot.Run) wire.Run {
	r.Holder.Process = c.out(r.Holder.Process)
	return wire.FromRun(r)
}

func (c *call) outLook(s claim.Slot) wire.Look {
	if s.Newest != nil {
		n := *s.Newest
		n.Holder.Process = c.out(n.Holder.Process)
		s.Newest = &n
	}
	line := make([]slot.Process, len(s.Line))
	for i, p := range s.Line {
		line[i] = c.out(p)
	}
	s.Line = line
	return wire.FromLook(s)
}

func (c *call) outProblem(p wire.Problem) wire.Problem {
	for _, w := range []*wire.Claim{p.Holder, p.Newest} {
		if w != nil {
			w.Holder.Process = c.out(w.Holder.Process)
		}
	}
	if p.Place != nil {
		p.Place.Before = c.out(p.Place.Before)
	}
	return p
}

// provenDead judges a caller's word that the holder of a claim is dead, which
// would end somebody else's claim: of this host's processes we see for ourselves;
// of others only a caller of the same host can know.
func (c *call) provenDead(holder, asker slot.Process) bool {
	if c.who.near || c.Sight == nil {
		return true
	}
	p := c.out(holder)
	if p.Boot != c.Boot {
		return p.Boot == strings.TrimPrefix(asker.Boot, slot.FarBoot)
	}
	life, _ := c.Sight.Life(p)
	return life == claim.Gone
}
