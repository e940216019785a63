package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

// What is needed is had if nothing that is wrong could change it, and only then.
func TestNeed(t *testing.T) {
	const rule = "[[rule]]\nname = \"r\"\non = [\"ci_failed\"]\nrun = [\"true\"]\n"
	for name, tt := range map[string]struct {
		file         string
		refs, claims bool
	}{
		"a rule":                         {"store = 'f.db'\n" + rule + "ttl = \"1x\"", true, true},
		"a rule that lacks all":          {"[[rule]]", true, true},
		"a key of no rule":               {rule + "prioritty = 1", true, true},
		"a rule that is none":            {"rule = 3", true, true},
		"a table with a typing error":    {"[[rules]]\nname = 'r'", true, true},
		"a table that nobody knows":      {"[whatever]\nx = 1", false, false},
		"a gate":                         {"[[gate]]\ntype = 'nothing'", true, true},
		"limits, as a key of the root":   {"limits.running = 0", true, true},
		"limits, in a table of its own":  {"limits = { running = 0 }\nstore = 'f.db'", true, true},
		"another retention":              {"[retention]\ndecisions = '1'", true, true},
		"a hook":                         {"[[hook]]\nname = 'h'", false, true},
		"a forge":                        {"[[forge]]\nhost = 'a b'", false, true},
		"the default host":               {"default_host = 'a b'", false, true},
		"a reservation":                  {"[reservation]\nenabled = true", false, true},
		"the store":                      {"store = 'mysql:x'", false, false},
		"the store, twice":               {"store = 'a.db'\nstore = 'b.db'", false, false},
		"the store, misspelt":            {"stroe = 'a.db'", false, false},
		"the store, below a table":       {rule + "store = 'a.db'", false, false},
		"misspelt below a table":         {rule + "stroe = 'a.db'", false, false},
		"below a table that is misspelt": {"[[rules]]\nstore = 'a.db'", false, false},
		"below one that has no list":     {"[rule]\nstore = 'a.db'", false, false},
		"claims elsewhere":               {"claims = 'b.db'", false, false},
		"a table twice":                  {"[limits]\nrunning = 1\n[limits]\nper_repo = 1", false, true},
		"twice before the store":         {"limits.running = 1\nlimits.running = 2\nstore = 'a.db'\nstore = 'b.db'", false, false},
		"cut off in a rule":              {"store = 'f.db'\n[[rule]]\nname = \"r\nrun = ['x']", false, true},
		"cut off below a rule":           {rule + "\n[[forge", false, true},
		"cut off, the store twice":       {"store = 'a.db'\nstore = 'b.db'\n" + rule + "x = \"", false, false},
		"cut off, the store misplaced":   {rule + "store = 'a.db'\nx = \"", false, false},
		"cut off before any table":       {"store = 'f.db'\nhost = \"a", false, false},
		"no text":                        {rule + "\x00", false, false},
		"large, and who knows":           {"store = 'a.db'\nstore = 'b.db'\nlimits.running = 0" + strings.Repeat("\n# -----", large/8), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			path := w.write(t, user, tt.file)
			if _, err := Load(w.Sources); !errors.Is(err, slot.ErrConfig) {
				t.Fatalf("the file is bad, and was taken: %v", err)
			}
			for need, want := range map[Need]bool{Refs: tt.refs, Claims: tt.claims} {
				c, err := LoadFor(w.Sources, need)
				if (err == nil) != want {
					t.Errorf("need %d: %v", need, err)
				}
				if err != nil {
					continue
				}
				store := "sqlite:/home/.local/state/oneslot/oneslot.db"
				if strings.HasPrefix(tt.file, "store = ") || strings.HasSuffix(tt.file, "store = 'f.db'") {
					store = "sqlite:/home/.config/oneslot/f.db"
				}
				wantLine(t, strings.ReplaceAll(c.Store.V, w.root, ""), store)
				if len(c.Warnings) != 1 || !strings.HasPrefix(c.Warnings[0], path+": ") || !strings.Contains(c.Warnings[0], " problem") {
					t.Errorf("warnings: %q", c.Warnings)
				}
				if c.Reservation.Enabled.V {
					t.Error("others are told of claims by settings that are not certain")
				}
			}
		})
	}
}

// With a rule that is bad, what is known of forges is known still.
func TestNeedKeepsWhatIsCertain(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, "[reservation]\nenabled = true\nkey = { file = 'k' }\n[[forge]]\nhost = 'a.example'\ntype = 'gitea'\n[[rule]]\n[[rule]]")
	c, err := LoadFor(w.Sources, Refs)
	if err != nil || !c.Reservation.Enabled.V || len(c.Forges) != 1 || c.Forges[0].Host.V != "a.example" {
		t.Errorf("%+v, %v", c, err)
	}
	if want := ": 6 problems elsewhere "; err == nil && !strings.Contains(c.Warnings[0], want) {
		t.Errorf("%q", c.Warnings)
	}
}

// What a bad variable says may have been meant for another store.
func TestNeedOfTheEnvironment(t *testing.T) {
	w := newWorld(t)
	w.vars["ONESLOT_RECHECK"] = "x"
	if _, err := LoadFor(w.Sources, Claims); !errors.Is(err, slot.ErrConfig) {
		t.Error(err)
	}
}

// What follows a syntax error is not missing.
func TestOnlyTheSyntaxError(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, "[[rule]]\nname = \"r\nrun = ['x']")
	w.vars["ONESLOT_HOST"] = "a\x1b[2Jb"
	wantLine(t, refused(t, w), "environment ONESLOT_HOST: has characters that cannot be printed\n"+
		"/"+user+":2:10: basic strings cannot have new lines")
}
