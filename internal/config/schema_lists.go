package config

import (
	"errors"
	"math"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// last is the table of a list that is being read.
func last[T any](list []T) *T { return &list[len(list)-1] }

// fixed is a key of which this version takes one value, which is the default.
func fixed[T comparable](name string, k kind[T], only T) row {
	k = k.but(func(v T) error {
		if v != only {
			return errors.New("not in this version")
		}
		return nil
	})
	return set(name, k, func(*Config) *Value[T] { return new(Value[T]) })
}

func hookRows() row {
	open := func(c *Config, at Origin) { c.Hooks = append(c.Hooks, newHook(at)) }
	return row{name: "hook", open: open, rows: []row{
		set("name", pathSafe(), func(c *Config) *Value[string] { return &last(c.Hooks).Name }),
		set("forge", choice(forgeTypes(), nil), func(c *Config) *Value[string] { return &last(c.Hooks).Forge }),
		set("host", hostname(), func(c *Config) *Value[string] { return &last(c.Hooks).Host }),
		{name: "secret", rows: secretRows(func(c *Config) *Secret { return &last(c.Hooks).Secret })},
		set("unsigned", boolean(), func(c *Config) *Value[bool] { return &last(c.Hooks).Unsigned }),
		set("commands", texts(checkCommand), func(c *Config) *Value[[]string] { return &last(c.Hooks).Commands }),
	}}
}

func tokenRows() row {
	open := func(c *Config, at Origin) { c.Tokens = append(c.Tokens, Token{origin: at}) }
	return row{name: "tokens", open: open, rows: append([]row{
		set("name", pathSafe(), func(c *Config) *Value[string] { return &last(c.Tokens).Name }),
		set("role", choice(roles(), nil), func(c *Config) *Value[string] { return &last(c.Tokens).Role }),
	}, secretRows(func(c *Config) *Secret { return &last(c.Tokens).Secret })...)}
}

func secretRows(secret func(*Config) *Secret) []row {
	variable := line().but(checkVariable)
	variable.wants = "a variable's name in quotes"
	return []row{
		set("file", file(), func(c *Config) *Value[string] { return &secret(c).File }),
		set("env", variable, func(c *Config) *Value[string] { return &secret(c).Env }),
	}
}

func ruleRows() row {
	open := func(c *Config, at Origin) { c.Rules = append(c.Rules, newRule(at)) }
	rule := func(c *Config) *Rule { return last(c.Rules) }
	return row{name: "rule", open: open, rows: append([]row{
		set("name", pathSafe(), func(c *Config) *Value[string] { return &rule(c).Name }),
		set("on", eventKinds(), func(c *Config) *Value[[]slot.EventKind] { return &rule(c).On }),
		set("run", argv(), func(c *Config) *Value[[]string] { return &rule(c).Run }),
		{name: "match", rows: []row{
			set("labels", texts(checkName), func(c *Config) *Value[[]string] { return &rule(c).Match.Labels }),
			set("branches", texts(checkBranches), func(c *Config) *Value[[]string] { return &rule(c).Match.Branches }),
			set("authors", folded(checkName), func(c *Config) *Value[[]string] { return &rule(c).Match.Authors }),
			set("draft", boolean(), func(c *Config) *Value[bool] { return &rule(c).Match.Draft }),
			later("paths"),
		}},
		fixed("runner", choice([]string{"process"}, []string{"systemd", "docker", "podman"}), "process"),
		set("env", texts(checkVariable), func(c *Config) *Value[[]string] { return &rule(c).Env }),
		fixed("workspace", choice([]string{"none"}, []string{"worktree"}), "none"),
		set("link", boolean(), func(c *Config) *Value[bool] { return &rule(c).Link }),
		set("priority", integer(-1000, 1000), func(c *Config) *Value[int64] { return &rule(c).Priority }),
		set("timeout", duration(), func(c *Config) *Value[time.Duration] { return &rule(c).Timeout }),
		set("ttl", from(time.Second), func(c *Config) *Value[time.Duration] { return &rule(c).TTL }),
		set("grace", duration(), func(c *Config) *Value[time.Duration] { return &rule(c).Grace }),
		fixed("stall", line(), "off"),
		set("attempts", integer(1, math.MaxInt32), func(c *Config) *Value[int64] { return &rule(c).Attempts }),
		set("backoff", parsed(`a range of durations in quotes, such as "30s-30m"`, parseRange), func(c *Config) *Value[Range] { return &rule(c).Backoff }),
		set("quiet", span(), func(c *Config) *Value[time.Duration] { return &rule(c).Quiet }),
		set("max_quiet", span(), func(c *Config) *Value[time.Duration] { return &rule(c).MaxQuiet }),
		set("again", orOff(time.Second), func(c *Config) *Value[time.Duration] { return &rule(c).Again }),
		set("every", orOff(everyMin), func(c *Config) *Value[time.Duration] { return &rule(c).Every }),
	}, laterAll("image", "mounts", "network", "user", "memory", "cpu")...)}
}

func gateRows() row {
	open := func(c *Config, at Origin) { c.Gates = append(c.Gates, newGate(at)) }
	gate := func(c *Config) *Gate { return last(c.Gates) }
	var types []string
	for _, t := range gateTypes() {
		types = append(types, t.name)
	}
	pattern := line().but(checkPlaceholders)
	path := file().but(checkPlaceholders)
	return row{name: "gate", open: open, rows: append([]row{
		set("type", choice(types, laterGates()), func(c *Config) *Value[string] { return &gate(c).Type }),
		set("enabled", boolean(), func(c *Config) *Value[bool] { return &gate(c).Enabled }),
		set("on_error", parsed(`"open", "closed" or "closed-for 10m"`, parseOnError), func(c *Config) *Value[OnError] { return &gate(c).OnError }),
		set("timeout", duration(), func(c *Config) *Value[time.Duration] { return &gate(c).Timeout }),
		set("every", from(time.Second), func(c *Config) *Value[time.Duration] { return &gate(c).Every }),
		set("user", boolean(), func(c *Config) *Value[bool] { return &gate(c).User }),
		set("units", texts(checkUnit), func(c *Config) *Value[[]string] { return &gate(c).Units }),
		set("hold_unit", line().but(checkHoldUnit), func(c *Config) *Value[string] { return &gate(c).HoldUnit }),
		set("name", pattern, func(c *Config) *Value[string] { return &gate(c).Name }),
		set("label", pattern, func(c *Config) *Value[string] { return &gate(c).Label }),
		set("pid_file", path, func(c *Config) *Value[string] { return &gate(c).PidFile }),
		set("flock", path, func(c *Config) *Value[string] { return &gate(c).Flock }),
		set("run", argv(), func(c *Config) *Value[[]string] { return &gate(c).Run }),
		set("url", line().but(checkURL), func(c *Config) *Value[string] { return &gate(c).URL }),
		set("hours", texts(checkName), func(c *Config) *Value[[]string] { return &gate(c).Hours }),
		set("tz", line().but(checkZone), func(c *Config) *Value[string] { return &gate(c).TZ }),
		set("labels", texts(checkName), func(c *Config) *Value[[]string] { return &gate(c).Labels }),
		set("pattern", patterns(), func(c *Config) *Value[[]string] { return &gate(c).Pattern }),
		set("then", choice([]string{"skip", "defer"}, nil), func(c *Config) *Value[string] { return &gate(c).Then }),
	}, laterAll("key")...)}
}

func eventKinds() kind[[]slot.EventKind] {
	var all []string
	for _, k := range slot.EventKinds() {
		all = append(all, string(k))
	}
	return kind[[]slot.EventKind]{aList, `a list of kinds of events, such as ["ci_failed"]`, func(g given) ([]slot.EventKind, error) {
		var list []slot.EventKind
		for _, s := range g.list {
			if err := choose(s, all, nil); err != nil {
				return nil, err
			}
			list = append(list, slot.EventKind(s))
		}
		if len(list) == 0 {
			return nil, errors.New("names no kind of event")
		}
		return list, nil
	}}
}
