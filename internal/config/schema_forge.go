package config

import "time"

func forgeRows() row {
	open := func(c *Config, at Origin) { c.Forges = append(c.Forges, newForge(at)) }
	forge := func(c *Config) *Forge { return last(c.Forges) }
	return row{name: "forge", open: open, rows: []row{
		set("host", hostname(), func(c *Config) *Value[string] { return &forge(c).Host }),
		set("type", choice(forgeTypes(), nil), func(c *Config) *Value[string] { return &forge(c).Type }),
		set("api", parsed("an address in quotes", parseAPI), func(c *Config) *Value[string] { return &forge(c).API }),
		{name: "token", rows: append(secretRows(func(c *Config) *Secret { return &forge(c).Token.Secret }),
			set("app_id", appID(), func(c *Config) *Value[string] { return &forge(c).Token.AppID }),
			set("key", file(), func(c *Config) *Value[string] { return &forge(c).Token.Key }),
			set("helper", boolean(), func(c *Config) *Value[bool] { return &forge(c).Token.Helper }),
		)},
		set("repos", folded(checkGlob), func(c *Config) *Value[[]string] { return &forge(c).Repos }),
		set("poll", orOff(pollMin), func(c *Config) *Value[time.Duration] { return &forge(c).Poll }),
	}}
}

func reservationRows() row {
	r := func(c *Config) *Reservation { return &c.Reservation }
	return row{name: "reservation", rows: []row{
		set("enabled", boolean(), func(c *Config) *Value[bool] { return &r(c).Enabled }),
		set("recheck", parsed(`a range of durations in quotes, such as "5s-15s", or "0"`, parseRecheck),
			func(c *Config) *Value[Range] { return &r(c).Recheck }),
		set("ttl", from(ttlMin).but(atMost(ttlMax)), func(c *Config) *Value[time.Duration] { return &r(c).TTL }),
		{name: "key", rows: secretRows(func(c *Config) *Secret { return &r(c).Key })},
		set("delete_at_end", boolean(), func(c *Config) *Value[bool] { return &r(c).DeleteAtEnd }),
		set("lock_conversation", boolean(), func(c *Config) *Value[bool] { return &r(c).LockConversation }),
		set("ticket", choice(tickets(), nil), func(c *Config) *Value[string] { return &r(c).Ticket }),
	}}
}
