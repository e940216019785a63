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
	// Listen is where the daemon serves: HOST:PORT, or "unix:" and an absolute path.
	Listen Value[string]
	// Tokens are the API's; their names differ.
	Tokens []Token
	// Hooks are the webhook endpoints; their names differ.
	Hooks  []Hook
	Worker Worker
	// Rules have names that differ.
	Rules  []Rule
	Gates  []Gate // as written; see GatesInForce
	Trust  Trust
	Limits Limits
	// Reservation is for those that share no store.
	Reservation Reservation
	// SweepEvery and DeferAlarm are more than zero: how often what should be is
	// compared with what is, and after how long a deferred item is reported.
	SweepEvery Value[time.Duration]
	DeferAlarm Value[time.Duration]
	// WaitingMax is the longest life of a waiting claim; more than zero.
	WaitingMax Value[time.Duration]
	Retention  Retention

	state string // the folder of this host for a remote store
	ci    bool   // it runs in somebody's CI
	env   func(string) (string, bool)
}

// Retention says what is kept, and for how long. All values are more than zero.
type Retention struct {
	Decisions  Value[time.Duration]
	Deliveries Value[time.Duration]
	Logs       Value[time.Duration]
	LogBytes   Value[int64] // of one run's log
	LogsBytes  Value[int64] // of all logs together
}

// Worker is what a wish without a rule starts.
type Worker struct {
	Run Value[[]string] // empty for none
}

// Limits bound what may run. Zero is no limit.
type Limits struct {
	Running    Value[int64]
	PerRepo    Value[int64]
	RunsPerRef Value[Rate] // binds runs outside the queue only if it was set
}

// Trust says whose forge text may start something. All is in lower case.
type Trust struct {
	Associations Value[[]string]
	Logins       Value[[]string]
	Bots         Value[[]string]
	Own          Value[[]string] // logins and app ids of oneslot itself
}

// defaults are the settings that need nothing from outside to be known.
func defaults() *Config {
	return &Config{
		DefaultHost: byDefault("github.com"),
		Claims:      byDefault(""),
		Listen:      byDefault("127.0.0.1:7180"),
		Trust:       Trust{Associations: byDefault([]string{"owner", "member", "collaborator"})},
		Limits:      Limits{RunsPerRef: byDefault(Rate{20, day})},
		Reservation: newReservation(),
		SweepEvery:  byDefault(5 * time.Minute),
		DeferAlarm:  byDefault(6 * time.Hour),
		WaitingMax:  byDefault(slot.WaitingMax),
		Retention: Retention{
			Decisions:  byDefault(30 * day),
			Deliveries: byDefault(7 * day),
			Logs:       byDefault(14 * day),
			LogBytes:   byDefault[int64](50e6),
			LogsBytes:  byDefault[int64](2e9),
		},
	}
}

// Remote reports whether the store is kept by a daemon that is asked over its API.
func (c *Config) Remote() bool { return !strings.HasPrefix(c.Store.V, "sqlite:") }

// StorePath is the absolute path of the store's SQLite file; of a remote store, of
// one that is not there.
func (c *Config) StorePath() string {
	if c.Remote() {
		return filepath.Join(c.state, "none")
	}
	return strings.TrimPrefix(c.Store.V, "sqlite:")
}

// StateDir is the absolute path of the folder that the database lies in. What
// belongs to the store but not into it lies there too, so that callers with
// another environment and the same store find it. Of a remote store it is a folder
// of the user's own, one for each address.
func (c *Config) StateDir() string { return filepath.Dir(c.StorePath()) }

// Grammar is how refs are read under this configuration. origin is asked for
// the address of the remote that "#12" alone counts from.
func (c *Config) Grammar(origin func() (string, error)) slot.Grammar {
	hosts := make(map[string]string, len(c.Forges))
	for _, f := range c.Forges {
		hosts[f.Host.V] = f.Type.V
	}
	for _, h := range c.Hooks {
		if h.Host.V != "" {
			hosts[h.Host.V] = h.Forge.V
		}
	}
	return slot.Grammar{DefaultHost: c.DefaultHost.V, Hosts: hosts, Origin: origin}
}

// CIWarning says, in CI with a store that only this runner sees, that claims
// there keep nobody out. It is empty everywhere else.
func (c *Config) CIWarning() string {
	if !c.ci || !strings.HasPrefix(c.Store.V, "sqlite:") || c.Reservation.Enabled.V {
		return ""
	}
	return "this runs in CI and the store is a file on this runner (" + c.Store.V +
		"): it excludes nobody on another runner"
}
