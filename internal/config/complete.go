package config

import (
	"slices"
	"strings"

	"github.com/oneslot/oneslot/internal/slot"
)

// required reports a key of a table that is not there.
func required[T any](l *loader, v Value[T], table Origin, key string) {
	if v.Origin == (Origin{}) {
		l.bad.add(table, "%s is missing", key)
	}
}

// unique reports whatever is configured twice; what is empty was reported before.
func (l *loader) unique(key string, first map[string]Origin, v Value[string]) {
	if v.V == "" {
		return
	}
	if at, again := first[v.V]; again {
		l.bad.add(v.Origin, "%s: is configured already, at %s", key, at)
		return
	}
	first[v.V] = v.Origin
}

func (l *loader) completeHooks() {
	hooks := map[string]Origin{}
	for i := range l.c.Hooks {
		h := &l.c.Hooks[i]
		required(l, h.Name, h.origin, "hook.name")
		l.unique("hook.name", hooks, h.Name)
		required(l, h.Forge, h.origin, "hook.forge")
		l.secret(h.Secret, "hook.secret")
		if !h.Secret.named() && !h.Unsigned.V {
			l.bad.add(h.origin, `hook.secret is missing: { file = "PATH" } or { env = "NAME" }, or unsigned = true to go without`)
		}
		l.hookHost(h)
	}
}

// hookHost finds the host of a hook's refs: that of the one forge of its type, or
// what everybody means by it. It stays empty for the payload to say.
func (l *loader) hookHost(h *Hook) {
	var of []Forge
	for _, f := range l.c.Forges {
		if f.Host.V == h.Host.V && f.Type.V != h.Forge.V && h.Host.V != "" {
			l.bad.add(h.Host.Origin, "hook.host: %s is a %s, at %s", h.Host.V, f.Type.V, f.Type.Origin)
		}
		if f.Type.V == h.Forge.V {
			of = append(of, f)
		}
	}
	switch {
	case h.Host.Origin != (Origin{}) || h.Forge.V == "":
	case len(of) == 1:
		h.Host = of[0].Host
	case len(of) > 1:
		l.bad.add(h.origin, "hook.host is missing: there are %d forges of type %s", len(of), h.Forge.V)
	case h.Forge.V == "github":
		h.Host = byDefault("github.com")
	case h.Forge.V == "gitlab":
		h.Host = byDefault("gitlab.com")
	}
}

// secret checks that a secret has one place.
func (l *loader) secret(s Secret, key string) {
	if s.File.Origin != (Origin{}) && s.Env.Origin != (Origin{}) {
		l.bad.add(s.Env.Origin, "%s: is in a file or in the environment, not in both", key)
	}
}

func (l *loader) completeTokens() {
	tokens := map[string]Origin{}
	for _, t := range l.c.Tokens {
		required(l, t.Name, t.origin, "api.tokens.name")
		l.unique("api.tokens.name", tokens, t.Name)
		required(l, t.Role, t.origin, "api.tokens.role")
		l.secret(t.Secret, "api.tokens")
		if !t.Secret.named() {
			l.bad.add(t.origin, "api.tokens: the token itself is missing: say file or env")
		}
	}
	if len(l.c.Tokens) == 0 && l.c.Listen.V != "" && !l.c.Local() {
		l.bad.add(l.c.Listen.Origin, "listen: can be reached from other hosts, which needs [api] tokens")
	}
}

func (l *loader) completeRules() {
	rules := map[string]Origin{}
	for i := range l.c.Rules {
		r := &l.c.Rules[i]
		// Who wants events made for him wants them.
		if r.Every.V > 0 && !slices.Contains(r.On.V, slot.Scheduled) {
			r.On.V = append(slices.Clip(r.On.V), slot.Scheduled)
		}
		required(l, r.Name, r.origin, "rule.name")
		l.unique("rule.name", rules, r.Name)
		if r.Every.V == 0 {
			required(l, r.On, r.origin, "rule.on")
		}
		required(l, r.Run, r.origin, "rule.run")
		// What was refused by itself is zero, and fits nothing.
		if r.Grace.V > r.TTL.V/3 && r.TTL.V > 0 {
			l.bad.add(setBy(r.Grace.Origin, r.TTL.Origin), "rule.grace: %s is more than a third of ttl, which is %s",
				slot.Span(r.Grace.V), slot.Span(r.TTL.V))
		}
		if r.Quiet.V > r.MaxQuiet.V {
			l.bad.add(setBy(r.Quiet.Origin, r.MaxQuiet.Origin), "rule.quiet: %s is more than max_quiet, which is %s",
				slot.Span(r.Quiet.V), slot.Span(r.MaxQuiet.V))
		}
	}
}

// setBy is where one of two values that do not fit was set.
func setBy(a, b Origin) Origin {
	if a != (Origin{}) {
		return a
	}
	return b
}

func (l *loader) completeGates() {
	first := map[string]Origin{}
	for i := range l.c.Gates {
		g := &l.c.Gates[i]
		required(l, g.Type, g.origin, "gate.type")
		t, ok := findGateType(g.Type.V)
		if !ok {
			continue // reported
		}
		if at, again := first[t.name]; again && !t.many() {
			l.bad.add(g.Type.Origin, "gate.type: %s is configured already, at %s", t.name, at)
		}
		first[t.name] = g.Type.Origin
		if t.name == "hold" && !g.Enabled.V {
			l.bad.add(g.Enabled.Origin, "gate.enabled: hold cannot be turned off")
		}
		l.gateKeys(g, t)
		t.fill(g)
	}
}

// gateKeys checks that a gate has the keys of its type and no others.
func (l *loader) gateKeys(g *Gate, t gateType) {
	has := false
	for _, k := range g.keys() {
		switch set := k.origin != (Origin{}); {
		case set && slices.Contains(t.needs, k.name):
			has = true
		case set && !slices.Contains(t.keys, k.name) && !(t.foreign && k.foreign):
			l.bad.add(k.origin, "gate.%s: a gate of type %s does not take it", k.name, t.name)
		}
	}
	if len(t.needs) > 0 && !has && g.Enabled.V {
		l.bad.add(g.origin, "gate.%s is missing", strings.Join(t.needs, " or gate."))
	}
}
