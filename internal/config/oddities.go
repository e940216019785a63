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
	check := func(s Secret, read func(Secret) ([]byte, []string, error)) {
		_, more, err := read(s)
		warnings = append(warnings, more...)
		var bad *Problems
		if errors.As(err, &bad) {
			all.List = append(all.List, bad.List...)
		} else if err != nil {
			all.add(s.origin(), "%s: %v", s, err)
		}
	}
	for _, h := range c.Hooks {
		switch value, _, err := c.readSecret(h.Secret); {
		case !h.Secret.IsSet():
		case !h.Unsigned.V:
			check(h.Secret, c.ReadSecret)
		default:
			check(h.Secret, c.readSecret)
			if err == nil && len(value) > 0 {
				warnings = append(warnings, Problem{h.Unsigned.Origin, "hook.unsigned: means nothing beside a secret"}.String())
			}
		}
	}
	for _, t := range c.Tokens {
		check(t.Secret, c.ReadSecret)
	}
	for _, r := range c.Rules {
		warnings = append(warnings, r.oddities()...)
	}
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
