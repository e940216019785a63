package config

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Config is the whole configuration, checked, with defaults filled in.
type Config struct {
	// File is the absolute path of the file that was read; empty for none.
	File string
	// Warnings are for people; none of them stops the program.
	Warnings []string

	// Store is the store's address: "sqlite:" and an absolute path.
	Store Value[string]
	// Claims is the address of the claim backend; empty: in the store.
	Claims Value[string]
	// Host is this host's name for people: one line, never identity.
	Host Value[string]
	// DefaultHost is the forge host of refs that name none, in canonical form.
	DefaultHost Value[string]
	// Forges are the hosts that the ref grammar knows; their names differ.
	Forges []Forge
	// WaitingMax is the longest life of a waiting claim; more than zero.
	WaitingMax Value[time.Duration]
	Retention  Retention

	ci bool // it runs in somebody's CI
}

// Forge is one configured forge.
type Forge struct {
	Host Value[string] // canonical
	Type Value[string] // one of ForgeTypes

	origin Origin
}

// Retention says what is kept, and for how long. All values are more than zero.
type Retention struct {
	Decisions Value[time.Duration]
	Logs      Value[time.Duration]
	LogBytes  Value[int64] // of one run's log
	LogsBytes Value[int64] // of all logs together
}

// defaults are the settings that need nothing from outside to be known.
func defaults() *Config {
	return &Config{
		DefaultHost: byDefault("github.com"),
		Claims:      byDefault(""),
		WaitingMax:  byDefault(slot.WaitingMax),
		Retention: Retention{
			Decisions: byDefault(30 * day),
			Logs:      byDefault(14 * day),
			LogBytes:  byDefault[int64](50e6),
			LogsBytes: byDefault[int64](2e9),
		},
	}
}

// StorePath is the absolute path of the store's SQLite file.
func (c *Config) StorePath() string { return strings.TrimPrefix(c.Store.V, "sqlite:") }

// StateDir is the absolute path of the folder that the database lies in. What
// belongs to the store but not into it lies there too, so that callers with
// another environment and the same store find it.
func (c *Config) StateDir() string { return filepath.Dir(c.StorePath()) }

// Grammar is how refs are read under this configuration. origin is asked for
// the address of the remote that "#12" alone counts from.
func (c *Config) Grammar(origin func() (string, error)) slot.Grammar {
	hosts := make(map[string]string, len(c.Forges))
	for _, f := range c.Forges {
		hosts[f.Host.V] = f.Type.V
	}
	return slot.Grammar{DefaultHost: c.DefaultHost.V, Hosts: hosts, Origin: origin}
}

// CIWarning says, in CI with a store that only this runner sees, that claims
// there keep nobody out. It is empty everywhere else.
func (c *Config) CIWarning() string {
	if !c.ci || !strings.HasPrefix(c.Store.V, "sqlite:") {
		return ""
	}
	return "this runs in CI and the store is a file on this runner (" + c.Store.V +
		"): it excludes nobody on another runner"
}
