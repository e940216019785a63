package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Entry is one setting as people see it. Its value never holds a secret.
type Entry struct {
	Key    string
	Value  string
	Origin Origin
}

// Entries lists all settings, in the order of the manual. Of lists of tables it
// shows what is written and what is in force; a gate has what its type takes.
func (c *Config) Entries() []Entry {
	list := []Entry{
		show("store", c.Store, text),
		show("claims", c.Claims, or("in the store")),
		show("listen", c.Listen, text),
		show("host", c.Host, text),
		show("default_host", c.DefaultHost, text),
	}
	for i, t := range c.Tokens {
		list = append(list, t.entries(fmt.Sprintf("api.tokens[%d].", i))...)
	}
	for i, h := range c.Hooks {
		list = append(list, h.entries(fmt.Sprintf("hook[%d].", i))...)
	}
	for i, f := range c.Forges {
		list = append(list, f.entries(fmt.Sprintf("forge[%d].", i))...)
	}
	list = append(list, show("worker.run", c.Worker.Run, quoted))
	for i, r := range c.Rules {
		list = append(list, r.entries(fmt.Sprintf("rule[%d].", i))...)
	}
	for i, g := range c.Gates {
		list = append(list, g.entries(fmt.Sprintf("gate[%d].", i))...)
	}
	list = append(list,
		show("trust.associations", c.Trust.Associations, quoted),
		show("trust.logins", c.Trust.Logins, quoted),
		show("trust.bots", c.Trust.Bots, quoted),
		show("trust.own", c.Trust.Own, quoted),
		show("limits.running", c.Limits.Running, limit),
		show("limits.per_repo", c.Limits.PerRepo, limit),
		show("limits.runs_per_ref", c.Limits.RunsPerRef, Rate.String))
	list = append(list, c.Reservation.entries("reservation.")...)
	return append(list,
		show("sweep.every", c.SweepEvery, slot.Span),
		show("waiting_max", c.WaitingMax, slot.Span),
		show("defer_alarm", c.DeferAlarm, slot.Span),
		show("retention.decisions", c.Retention.Decisions, slot.Span),
		show("retention.deliveries", c.Retention.Deliveries, slot.Span),
		show("retention.logs", c.Retention.Logs, slot.Span),
		show("retention.log_bytes", c.Retention.LogBytes, formatBytes),
		show("retention.logs_bytes", c.Retention.LogsBytes, formatBytes))
}

func (t Token) entries(key string) []Entry {
	return []Entry{
		show(key+"name", t.Name, text),
		show(key+"role", t.Role, text),
		t.Secret.entry(key),
	}
}

func (h Hook) entries(key string) []Entry {
	list := []Entry{
		show(key+"name", h.Name, text),
		show(key+"forge", h.Forge, text),
		show(key+"host", h.Host, or("as the payload says")),
	}
	if h.Secret.IsSet() {
		list = append(list, h.Secret.entry(key+"secret."))
	}
	return append(list,
		show(key+"unsigned", h.Unsigned, strconv.FormatBool),
		show(key+"commands", h.Commands, quoted))
}

// entry shows where a secret is.
func (s Secret) entry(key string) Entry {
	if s.File.V != "" {
		return show(key+"file", s.File, text)
	}
	return show(key+"env", s.Env, text)
}

func (r Rule) entries(key string) []Entry {
	list := []Entry{
		show(key+"name", r.Name, text),
		show(key+"on", r.On, quoted),
		show(key+"run", r.Run, quoted),
	}
	list = appendSet(list, key+"match.labels", r.Match.Labels, quoted)
	list = appendSet(list, key+"match.branches", r.Match.Branches, quoted)
	list = appendSet(list, key+"match.authors", r.Match.Authors, quoted)
	list = appendSet(list, key+"match.draft", r.Match.Draft, strconv.FormatBool)
	list = appendSet(list, key+"env", r.Env, quoted)
	return append(list,
		show(key+"priority", r.Priority, number),
		show(key+"timeout", r.Timeout, slot.Span),
		show(key+"ttl", r.TTL, slot.Span),
		show(key+"grace", r.Grace, slot.Span),
		show(key+"attempts", r.Attempts, number),
		show(key+"backoff", r.Backoff, Range.String),
		show(key+"quiet", r.Quiet, slot.Span),
		show(key+"max_quiet", r.MaxQuiet, slot.Span),
		show(key+"again", r.Again, formatOff),
		show(key+"every", r.Every, formatOff),
		show(key+"link", r.Link, strconv.FormatBool))
}

func (g Gate) entries(key string) []Entry {
	list := []Entry{
		show(key+"type", g.Type, text),
		show(key+"enabled", g.Enabled, strconv.FormatBool),
	}
	if t, _ := findGateType(g.Type.V); t.foreign {
		list = append(list,
			show(key+"on_error", g.OnError, OnError.String),
			show(key+"timeout", g.Timeout, slot.Span),
			show(key+"every", g.Every, slot.Span))
	}
	list = appendSet(list, key+"user", g.User, strconv.FormatBool)
	list = appendSet(list, key+"units", g.Units, quoted)
	list = appendSet(list, key+"hold_unit", g.HoldUnit, text)
	list = appendSet(list, key+"name", g.Name, text)
	list = appendSet(list, key+"label", g.Label, text)
	list = appendSet(list, key+"pid_file", g.PidFile, text)
	list = appendSet(list, key+"flock", g.Flock, text)
	list = appendSet(list, key+"run", g.Run, quoted)
	list = appendSet(list, key+"url", g.URL, withoutQuery)
	list = appendSet(list, key+"hours", g.Hours, quoted)
	list = appendSet(list, key+"tz", g.TZ, text)
	list = appendSet(list, key+"labels", g.Labels, quoted)
	list = appendSet(list, key+"pattern", g.Pattern, quoted)
	return appendSet(list, key+"then", g.Then, text)
}

func show[T any](key string, v Value[T], format func(T) string) Entry {
	return Entry{key, format(v.V), v.Origin}
}

// appendSet shows a setting only if somebody set it.
func appendSet[T any](list []Entry, key string, v Value[T], format func(T) string) []Entry {
	if v.Origin == (Origin{}) {
		return list
	}
	return append(list, show(key, v, format))
}

func text(s string) string { return s }

// or shows what an empty text means.
func or(empty string) func(string) string {
	return func(s string) string {
		if s == "" {
			return empty
		}
		return s
	}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func formatOff(d time.Duration) string {
	if d == 0 {
		return "off"
	}
	return slot.Span(d)
}

func limit(n int64) string {
	if n == 0 {
		return "unlimited"
	}
	return number(n)
}

// quoted writes a list as the file has it, but "none" for an empty one.
func quoted[T ~string](list []T) string {
	if len(list) == 0 {
		return "none"
	}
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = strconv.Quote(string(s))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// withoutQuery leaves out of an address what may be a key.
func withoutQuery(s string) string {
	if before, _, ok := strings.Cut(s, "?"); ok {
		return before + "?…"
	}
	return s
}
