package config

// given is a text that somebody gave for a setting.
type given struct {
	text   string
	origin Origin
	dir    func() (string, error) // what relative paths in it count from
}

// row is a known key. It is one of: a text (take), a table (rows), a list of
// tables (rows and open), or a key that this version refuses (later).
type row struct {
	name  string
	wants string // of a text, for people
	take  func(*Config, given) error
	rows  []row
	open  func(*Config, Origin) // begins the list's next table
	later bool
}

// schema lists the keys of the manual, all of them. What a later version will
// take is known too, so that nobody is told of a typing error.
func schema() []row {
	return []row{
		{name: "store", wants: "an address in quotes", take: takeStore},
		{name: "claims", wants: "an address in quotes", take: takeClaims},
		{name: "host", wants: "a text in quotes", take: takeHost},
		{name: "default_host", wants: "a host in quotes", take: takeDefaultHost},
		aDuration("waiting_max", func(c *Config) *durationValue { return &c.WaitingMax }),
		{name: "forge", open: openForge, rows: append([]row{
			{name: "host", wants: "a host in quotes", take: takeForgeHost},
			{name: "type", wants: "a text in quotes", take: takeForgeType},
			later("token", names("file", "env", "app_id", "key", "helper")...),
		}, laterAll("api", "repos", "poll")...)},
		{name: "retention", rows: []row{
			aDuration("decisions", func(c *Config) *durationValue { return &c.Retention.Decisions }),
			later("deliveries"),
			aDuration("logs", func(c *Config) *durationValue { return &c.Retention.Logs }),
			aSize("log_bytes", func(c *Config) *sizeValue { return &c.Retention.LogBytes }),
			aSize("logs_bytes", func(c *Config) *sizeValue { return &c.Retention.LogsBytes }),
		}},

		later("listen"),
		later("defer_alarm"),
		later("api", row{name: "tokens", rows: names("name", "role", "file", "env")}),
		later("hook", append(names("name", "forge", "unsigned", "commands"),
			row{name: "secret", rows: names("file", "env")})...),
		later("worker", names("run")...),
		later("rule", append(names("name", "on", "run", "runner", "image", "mounts", "env", "network",
			"user", "memory", "cpu", "workspace", "link", "priority", "timeout", "ttl", "grace", "stall",
			"attempts", "backoff", "quiet", "max_quiet", "again", "every"),
			row{name: "match", rows: names("labels", "branches", "authors", "draft", "paths")})...),
		later("gate", names("type", "enabled", "on_error", "timeout", "every", "user", "units",
			"hold_unit", "name", "label", "pid_file", "flock", "run", "url", "key", "pattern", "labels",
			"hours", "tz")...),
		later("trust", names("associations", "logins", "bots", "own")...),
		later("limits", names("running", "per_repo", "runs_per_ref", "cost_usd_per_ref",
			"cost_usd_per_day")...),
		later("reservation", names("enabled", "recheck", "ttl", "key", "delete_at_end",
			"lock_conversation", "ticket")...),
		later("sweep", names("every")...),
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
