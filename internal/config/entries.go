package config

import (
	"fmt"
	"time"
)

// Entry is one setting as people see it. Its value never holds a secret.
type Entry struct {
	Key    string
	Value  string
	Origin Origin
}

// Entries lists all settings, in the order of the manual.
func (c *Config) Entries() []Entry {
	claims := text("claims", c.Claims)
	if claims.Value == "" {
		claims.Value = "in the store"
	}
	list := []Entry{
		text("store", c.Store),
		claims,
		text("host", c.Host),
		text("default_host", c.DefaultHost),
	}
	for i, f := range c.Forges {
		list = append(list,
			text(fmt.Sprintf("forge[%d].host", i), f.Host),
			text(fmt.Sprintf("forge[%d].type", i), f.Type))
	}
	return append(list,
		duration("waiting_max", c.WaitingMax),
		duration("retention.decisions", c.Retention.Decisions),
		duration("retention.logs", c.Retention.Logs),
		size("retention.log_bytes", c.Retention.LogBytes),
		size("retention.logs_bytes", c.Retention.LogsBytes))
}

func text(key string, v Value[string]) Entry { return Entry{key, v.V, v.Origin} }

func duration(key string, v Value[time.Duration]) Entry {
	return Entry{key, FormatDuration(v.V), v.Origin}
}

func size(key string, v Value[int64]) Entry { return Entry{key, FormatBytes(v.V), v.Origin} }
