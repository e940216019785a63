package config

import "os"

// Sources is the world that a configuration is read from.
type Sources struct {
	// ConfigFlag is what --config said; empty if it was not given.
	ConfigFlag string
	// Flags are the settings given on the command line, by key: "store" for
	// --store, "reservation.recheck" for --recheck. One given as empty is an error: it is a variable that was not
	// set, and to fall back to another store would exclude nobody.
	Flags map[string]string
	// Env looks up an environment variable, as os.LookupEnv does.
	Env func(string) (string, bool)
	// Getwd and Hostname are asked only if something depends on them.
	Getwd    func() (string, error)
	Hostname func() (string, error)
	// SystemFile is looked for last; empty for none.
	SystemFile string
}

// System is the world of this process, without flags.
func System() Sources {
	return Sources{
		Env:        os.LookupEnv,
		Getwd:      os.Getwd,
		Hostname:   os.Hostname,
		SystemFile: "/etc/oneslot/oneslot.toml",
	}
}

// env is a variable's value; unset and empty are the same.
func (s Sources) env(name string) string {
	v, _ := s.Env(name)
	return v
}

// envKeys are the keys that the environment can set, in the order of the manual. A
// flag sets one of them, or another key, by the last word of its name.
func envKeys() []struct{ name, key string } {
	return []struct{ name, key string }{
		{"ONESLOT_STORE", "store"},
		{"ONESLOT_CLAIMS", "claims"},
		{"ONESLOT_HOST", "host"},
		{"ONESLOT_LISTEN", "listen"},
		{"ONESLOT_RECHECK", "reservation.recheck"},
	}
}
