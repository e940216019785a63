package config

import "slices"

// forgeOddities are what is asked of forges in vain, or will not get far.
func (c *Config) forgeOddities() []string {
	var list []string
	odd := func(at Origin, message string) { list = append(list, Problem{at, message}.String()) }
	for _, f := range c.Forges {
		if f.Token.Form() != TokenNone {
			continue
		}
		if f.Poll.V > 0 {
			odd(f.Poll.Origin, "forge.poll: "+f.Host.V+" has no token: only what is public is seen, and as often as the forge lets strangers look")
		}
		if w := c.writes(); w != (Origin{}) {
			odd(w, "reservation: "+f.Host.V+" has no token, so that nothing can be written there")
		}
	}
	if w := c.writes(); w != (Origin{}) && len(c.Forges) == 0 {
		odd(w, "reservation: there is no [[forge]] to write to")
	}
	if w := c.writes(); w != (Origin{}) && len(c.Trust.Own.V) == 0 && c.listens() {
		odd(w, "reservation: trust.own names nobody: what is written there comes back as somebody's event, and may wake a rule")
	}
	listed := slices.ContainsFunc(c.Forges, func(f Forge) bool { return len(f.Repos.V) > 0 && f.Poll.V > 0 })
	for _, r := range c.Rules {
		if r.Every.V > 0 && !listed {
			odd(r.Every.Origin, "rule.every: no [[forge]] names repos and is polled, so that no ref is ever listed")
		}
		if r.Link.V && len(c.Forges) == 0 {
			odd(r.Link.Origin, "rule.link: there is no [[forge]] that tells what is linked")
		}
	}
	for _, g := range c.Gates {
		if g.ReadsForge() && g.Enabled.V && len(c.Forges) == 0 {
			odd(g.Type.Origin, "gate.type: there is no [[forge]] for "+g.Type.V+" to ask")
		}
	}
	return list
}

// listens reports whether events come from forges.
func (c *Config) listens() bool {
	return len(c.Hooks) > 0 || slices.ContainsFunc(c.Forges, func(f Forge) bool { return f.Poll.V > 0 })
}

// writes is where it was said that something is to be written on forges, if it was.
func (c *Config) writes() Origin {
	r := c.Reservation
	switch {
	case r.Enabled.V:
		return r.Enabled.Origin
	case r.Ticket.V != "none":
		return r.Ticket.Origin
	}
	return Origin{}
}
