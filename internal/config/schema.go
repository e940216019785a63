package config

import (
	"math"
	"strings"
	"time"
)

// given is a value that somebody gave for a setting.
type given struct {
	text   string   // of a text, a boolean or a number: as it is written
	list   []string // of a list
	origin Origin
	dir    func() (string, error) // what relative paths in it count from
}

// row is a known key. It is one of: a value (take), a table (rows), a list of
// tables (rows and open), or a key that this version refuses (later).
type row struct {
	name  string
	form  form
	wants string // of a value, for people
	take  func(*Config, given) error
	mark  func(*Config, Origin) // notes where a value is that cannot be taken
	rows  []row
	open  func(*Config, Origin) // begins the list's next table
	later bool
}

// schema lists the keys of the manual, all of them. What a later version will
// take is known too, so that nobody is told of a typing error.
func schema() []row {
	return []row{
		set("store", address(), func(c *Config) *Value[string] { return &c.Store }),
		set("claims", address(), func(c *Config) *Value[string] { return &c.Claims }),
		set("listen", listener(), func(c *Config) *Value[string] { return &c.Listen }),
		set("host", line(), func(c *Config) *Value[string] { return &c.Host }),
		set("default_host", hostname(), func(c *Config) *Value[string] { return &c.DefaultHost }),
		set("waiting_max", duration(), func(c *Config) *Value[time.Duration] { return &c.WaitingMax }),
		set("defer_alarm", duration(), func(c *Config) *Value[time.Duration] { return &c.DeferAlarm }),
		{name: "api", rows: []row{tokenRows()}},
		hookRows(),
		forgeRows(),
		{name: "worker", rows: []row{
			set("run", argv(), func(c *Config) *Value[[]string] { return &c.Worker.Run }),
		}},
		ruleRows(),
		gateRows(),
		{name: "trust", rows: []row{
			set("associations", folded(checkAssociation), func(c *Config) *Value[[]string] { return &c.Trust.Associations }),
			set("logins", folded(checkName), func(c *Config) *Value[[]string] { return &c.Trust.Logins }),
			set("bots", folded(checkName), func(c *Config) *Value[[]string] { return &c.Trust.Bots }),
			set("own", folded(checkName), func(c *Config) *Value[[]string] { return &c.Trust.Own }),
		}},
		{name: "limits", rows: []row{
			set("running", integer(1, math.MaxInt32), func(c *Config) *Value[int64] { return &c.Limits.Running }),
			set("per_repo", integer(1, math.MaxInt32), func(c *Config) *Value[int64] { return &c.Limits.PerRepo }),
			set("runs_per_ref", parsed(`a rate in quotes, such as "20/24h"`, parseRate), func(c *Config) *Value[Rate] { return &c.Limits.RunsPerRef }),
			later("cost_usd_per_ref"),
			later("cost_usd_per_day"),
		}},
		reservationRows(),
		{name: "sweep", rows: []row{
			set("every", from(time.Second), func(c *Config) *Value[time.Duration] { return &c.SweepEvery }),
		}},
		{name: "retention", rows: []row{
			set("decisions", duration(), func(c *Config) *Value[time.Duration] { return &c.Retention.Decisions }),
			set("deliveries", duration(), func(c *Config) *Value[time.Duration] { return &c.Retention.Deliveries }),
			set("logs", duration(), func(c *Config) *Value[time.Duration] { return &c.Retention.Logs }),
			set("log_bytes", bytesize(), func(c *Config) *Value[int64] { return &c.Retention.LogBytes }),
			set("logs_bytes", bytesize(), func(c *Config) *Value[int64] { return &c.Retention.LogsBytes }),
		}},
	}
}

// later is a key, with what stands below it, that this version refuses.
func later(name string, rows ...row) row { return row{name: name, rows: rows, later: true} }

func laterAll(keys ...string) []row {
	rows := names(keys...)
	for i := range rows {
		rows[i].later = true
	}
	return rows
}

// names are keys below one that is refused: only their spelling is looked at.
func names(keys ...string) []row {
	rows := make([]row, len(keys))
	for i, key := range keys {
		rows[i].name = key
	}
	return rows
}

// find returns the row of that name, or nil.
func find(rows []row, name string) *row {
	for i := range rows {
		if rows[i].name == name {
			return &rows[i]
		}
	}
	return nil
}

// findKey returns the row of a key that may stand in a table, as in "a.b", or nil.
func findKey(rows []row, key string) *row {
	table, rest, below := strings.Cut(key, ".")
	r := find(rows, table)
	if !below || r == nil {
		return r
	}
	if r.open != nil {
		return nil // which of them?
	}
	return findKey(r.rows, rest)
}
