package config

import (
	"errors"
	"slices"

	"github.com/oneslot/oneslot/internal/slot"
)

// Check reads every secret, and says what of the configuration is odd, though it is
// taken. The error is a *Problems with all that is wrong.
func (c *Config) Check() (warnings []string, err error) {
	all := &Problems{}
	note := func(_ []byte, more []string, err error) {
		warnings = append(warnings, more...)
		var bad *Problems
		if errors.As(err, &bad) {
			all.List = append(all.List, bad.List...)
		}
	}
	for _, h := range c.Hooks {
		value, more, err := c.HookSecret(h)
		note(value, more, err)
		if h.Unsigned.V && len(value) > 0 {
			warnings = append(warnings, Problem{h.Unsigned.Origin, "hook.unsigned: means nothing beside a secret"}.String())
		}
	}
	for _, t := range c.Tokens {
		note(c.ReadSecret(t.Secret))
	}
	for _, f := range c.Forges {
		note(c.ForgeSecret(f))
	}
	if c.Reservation.Key.IsSet() {
		note(c.ReservationKey())
	}
	for _, r := range c.Rules {
		warnings = append(warnings, r.oddities()...)
	}
	warnings = append(warnings, c.forgeOddities()...)
	return warnings, all.Err()
}

// oddities are what a rule says in vain.
func (r Rule) oddities() []string {
	var list []string
	for _, kind := range []slot.EventKind{slot.CIFailed, slot.CIPassed} {
		for _, m := range []struct {
			key    string
			origin Origin
		}{{"labels", r.Match.Labels.Origin}, {"authors", r.Match.Authors.Origin}} {
			if slices.Contains(r.On.V, kind) && m.origin != (Origin{}) {
				list = append(list, Problem{m.origin, "rule.match." + m.key + ": payloads of " + string(kind) +
					" do not tell " + m.key + ", so that none of them fits"}.String())
			}
		}
	}
	return list
}
