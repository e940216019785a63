package config

import (
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Gate is one [[gate]] table. What its type does not take is not set.
type Gate struct {
	Type    Value[string]
	Enabled Value[bool]
	OnError Value[OnError]
	Timeout Value[time.Duration] // of one question; more than zero
	Every   Value[time.Duration] // between looks at what is deferred; more than zero

	User     Value[bool]     // systemd: the user manager
	Units    Value[[]string] // systemd: patterns of units
	HoldUnit Value[string]   // systemd: held while a run lives
	Name     Value[string]   // docker, podman
	Label    Value[string]   // docker, podman: KEY or KEY=VALUE
	PidFile  Value[string]   // process: absolute path
	Flock    Value[string]   // process: absolute path
	Run      Value[[]string] // command
	URL      Value[string]   // http
	Hours    Value[[]string] // hours
	TZ       Value[string]   // hours: of the time zone database; empty: the host's
	Labels   Value[[]string] // label: any of them
	Pattern  Value[[]string] // comment: regular expressions, beside those that are always looked for
	Then     Value[string]   // open_pr: "skip" or "defer"

	origin Origin
}

// OnError says what a gate that could not find out means.
type OnError struct {
	// Closed: it defers. Otherwise the work goes on, and the evidence says so.
	Closed bool
	// For bounds Closed: when the gate has failed for a ref without a break for
	// that long, the work goes on. Zero: for ever.
	For time.Duration
}

// String is the setting as it is written.
func (o OnError) String() string {
	switch {
	case !o.Closed:
		return "open"
	case o.For == 0:
		return "closed"
	}
	return "closed-for " + slot.Span(o.For)
}

func newGate(at Origin) Gate {
	return Gate{
		Enabled: byDefault(true),
		origin:  at,
	}
}

// gateType is a type of gate, with the keys that it takes beside type and enabled.
type gateType struct {
	name    string
	always  bool     // on without a table, and at most one
	keys    []string // beside those that every foreign gate takes
	needs   []string // one of these must be there
	remote  bool     // what it asks may be far away: closed for a while if it fails
	own     bool     // it asks our store: closed if that fails
	foreign bool     // it asks somebody else, and can fail
	forge   bool     // it reads from the forge, which is foreign and remote
}

// many reports that there may be several of one type.
func (t gateType) many() bool { return t.foreign && !t.always }

// fill gives what is not set its default.
func (t gateType) fill(g *Gate) {
	timeout, every := 5*time.Second, 10*time.Second
	if t.forge { // it reads several pages, and each look costs of the forge's limit
		timeout, every = 15*time.Second, time.Minute
	}
	fill(&g.OnError, t.onError())
	fill(&g.Timeout, timeout)
	fill(&g.Every, every)
	if t.name == "open_pr" {
		fill(&g.Then, "skip")
	}
}

func fill[T any](v *Value[T], byDefault T) {
	if v.Origin == (Origin{}) {
		v.V = byDefault
	}
}

// onError is what a gate of this type does by default.
func (t gateType) onError() OnError {
	switch {
	case t.remote:
		return OnError{Closed: true, For: 10 * time.Minute}
	case t.own:
		return OnError{Closed: true}
	}
	return OnError{}
}

// ReadsForge reports whether the gate is about what its forge knows of a ref.
func (g Gate) ReadsForge() bool {
	t, _ := findGateType(g.Type.V)
	return t.forge
}

// gateKey is a key of a gate that not every type takes.
type gateKey struct {
	name    string
	origin  Origin
	foreign bool // every foreign gate takes it
}

func (g *Gate) keys() []gateKey {
	return []gateKey{
		{"on_error", g.OnError.Origin, true},
		{"timeout", g.Timeout.Origin, true},
		{"every", g.Every.Origin, true},
		{"user", g.User.Origin, false},
		{"units", g.Units.Origin, false},
		{"hold_unit", g.HoldUnit.Origin, false},
		{"name", g.Name.Origin, false},
		{"label", g.Label.Origin, false},
		{"pid_file", g.PidFile.Origin, false},
		{"flock", g.Flock.Origin, false},
		{"run", g.Run.Origin, false},
		{"url", g.URL.Origin, false},
		{"hours", g.Hours.Origin, false},
		{"tz", g.TZ.Origin, false},
		{"labels", g.Labels.Origin, false},
		{"pattern", g.Pattern.Origin, false},
		{"then", g.Then.Origin, false},
	}
}

// gateTypes are the gates of this version, those that are always there first; the
// cheap before the dear.
func gateTypes() []gateType {
	return []gateType{
		{name: "hold", always: true, own: true},
		{name: "trust", always: true},
		{name: "already_handled", always: true},
		{name: "capacity", always: true, own: true},
		{name: "breaker", always: true, own: true},
		{name: "hours", keys: []string{"hours", "tz"}, needs: []string{"hours"}},
		{name: "process", foreign: true, keys: []string{"pid_file", "flock"}, needs: []string{"pid_file", "flock"}},
		{name: "systemd", foreign: true, keys: []string{"user", "units", "hold_unit"}, needs: []string{"units", "hold_unit"}},
		{name: "docker", foreign: true, keys: []string{"name", "label"}, needs: []string{"name", "label"}},
		{name: "podman", foreign: true, keys: []string{"name", "label"}, needs: []string{"name", "label"}},
		readsForge("closed", true),
		readsForge("draft", true),
		readsForge("head_moved", true),
		readsForge("label", false, "labels"),
		readsForge("assignee", false),
		readsForge("open_pr", true),
		readsForge("still_failing", true),
		readsForge("comment", false),
		readsForge("landed", true),
		{name: "command", foreign: true, remote: true, keys: []string{"run"}, needs: []string{"run"}},
		{name: "http", foreign: true, remote: true, keys: []string{"url"}, needs: []string{"url"}},
	}
}

// readsForge is a type of gate that reads from the forge.
func readsForge(name string, always bool, needs ...string) gateType {
	t := gateType{name: name, always: always, foreign: true, remote: true, forge: true, keys: needs, needs: needs}
	switch name {
	case "open_pr":
		t.keys = []string{"then"}
	case "comment":
		t.keys = []string{"pattern"}
	}
	return t
}

// laterGates are the types that need what this version does not have.
func laterGates() []string { return []string{"redis"} }

func findGateType(name string) (gateType, bool) {
	all := gateTypes()
	i := slices.IndexFunc(all, func(t gateType) bool { return t.name == name })
	if i < 0 {
		return gateType{}, false
	}
	return all[i], true
}

// GatesInForce lists the gates to ask, in their order: those that are there
// without a table, unless it turns them off, then the others; cheap ones first,
// and those of one type as they are written.
func (c *Config) GatesInForce() []Gate {
	var list []Gate
	for _, t := range gateTypes() {
		written := false
		for _, g := range c.Gates {
			if g.Type.V != t.name {
				continue
			}
			written = true
			if g.Enabled.V {
				list = append(list, g)
			}
		}
		if t.always && !written {
			g := newGate(Origin{})
			g.Type.V = t.name
			t.fill(&g)
			list = append(list, g)
		}
	}
	return list
}
