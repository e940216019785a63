package config

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Load reads the configuration. The error is a *Problems with all that is wrong.
func Load(src Sources) (*Config, error) {
	return LoadFor(src, Whole)
}

func load(src Sources) *loader {
	l := &loader{src: src, c: defaults(), bad: &Problems{}}
	l.c.env = src.Env
	l.file()
	l.overrides()
	l.complete()
	return l
}

type loader struct {
	src   Sources
	c     *Config
	bad   *Problems
	parts []part // of the file, in its order
}

func (l *loader) file() {
	list, err := l.src.candidates()
	if err != nil {
		l.bad.add(Origin{}, "%v", err)
		return
	}
	path, data, warning, err := readFile(list)
	if err != nil {
		l.bad.add(Origin{Name: path}, "%v", err)
		return
	}
	l.c.File = path
	if warning != "" {
		l.c.Warnings = append(l.c.Warnings, warning)
	}
	if path != "" {
		l.parts = readTOML(path, data, l.c, l.bad)
	}
}

// overrides takes the settings of the environment and, over them, the flags.
// One that a flag has overridden is not looked at.
func (l *loader) overrides() {
	rows := schema()
	for _, e := range envKeys() {
		value := l.src.env(e.name)
		_, byFlag := l.src.Flags[e.key]
		at := Origin{Name: "environment " + e.name}
		if value != "" && !byFlag {
			l.take(findKey(rows, e.key), given{text: value, origin: at, dir: l.src.Getwd})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(l.src.Flags)) {
		at := Origin{Name: flagged + flagName(key)}
		switch r := findKey(rows, key); {
		case r == nil || r.take == nil || r.form != aText:
			l.bad.add(at, "sets nothing that is known")
		case l.src.Flags[key] == "":
			l.bad.add(at, "is empty; leave it out for the default")
		default:
			l.take(r, given{text: l.src.Flags[key], origin: at, dir: l.src.Getwd})
		}
	}
}

func (l *loader) take(r *row, g given) {
	if err := r.take(l.c, g); err != nil {
		l.bad.add(g.origin, "%v", err)
	}
}

// complete fills in the defaults that depend on the world, and checks what no
// single key shows.
func (l *loader) complete() {
	c := l.c
	c.ci = isSet(l.src.env("CI")) || isSet(l.src.env("GITHUB_ACTIONS"))

	if c.Host.Origin == (Origin{}) {
		name, err := l.src.Hostname()
		if err != nil || checkName(name) != nil {
			name = "localhost" // it is for people only, and they may set it
		}
		c.Host.V = name
	}
	l.completeForges()
	l.completeHooks()
	l.completeTokens()
	l.completeRules()
	l.completeGates()
	l.completeReservation()
	l.completeStore()
}

func (l *loader) completeStore() {
	c := l.c
	// With problems about, the store may be in what could not be read.
	if c.Store.Origin == (Origin{}) && l.certain(Claims) {
		if dir := l.src.userDir("XDG_STATE_HOME", ".local", "state"); dir != "" {
			c.Store.V = "sqlite:" + filepath.Join(dir, "oneslot", "oneslot.db")
		} else {
			l.bad.add(Origin{}, "no store: set HOME or XDG_STATE_HOME, or name one with --store, "+
				"ONESLOT_STORE or the key store, as in sqlite:/var/lib/oneslot/oneslot.db")
		}
	}
	if c.Store.V != "" && c.Remote() {
		// A hash, since an address is no file name.
		sum := sha256.Sum256([]byte(c.Store.V))
		if dir := l.src.userDir("XDG_STATE_HOME", ".local", "state"); dir != "" {
			c.state = filepath.Join(dir, "oneslot", "remote-"+hex.EncodeToString(sum[:8]))
		} else {
			l.bad.add(Origin{}, "no place for runs on this host: set HOME or XDG_STATE_HOME")
		}
	}
	if c.Claims.V != "" && c.Store.V != "" && c.Claims.V != c.Store.V {
		l.bad.add(c.Claims.Origin, "claims elsewhere than in the store are not in this version; leave the key out")
	}
}

// flagName is the flag of a key: its last word.
func flagName(key string) string {
	return "--" + strings.ReplaceAll(key[strings.LastIndexByte(key, '.')+1:], "_", "-")
}

// isSet reports what a variable of a CI system means.
func isSet(v string) bool { return v != "" && v != "0" && v != "false" }
