package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

// Flag beats environment beats file beats default, and each value says so.
func TestPrecedence(t *testing.T) {
	const file = `store = "f.db"` + "\n" + `host = "from-file"`
	for name, tt := range map[string]struct {
		file, env, flag string
		want, origin    string
	}{
		"default":               {"", "", "", "sqlite:/home/.local/state/oneslot/oneslot.db", "default"},
		"file":                  {file, "", "", "sqlite:/home/.config/oneslot/f.db", "/" + user + ":1"},
		"environment":           {"", "sqlite:e.db", "", "sqlite:/srv/e.db", "environment ONESLOT_STORE"},
		"environment over file": {file, "sqlite:e.db", "", "sqlite:/srv/e.db", "environment ONESLOT_STORE"},
		"flag over file":        {file, "", "x.db", "sqlite:/srv/x.db", "flag --store"},
		"flag over all":         {file, "sqlite:e.db", "x.db", "sqlite:/srv/x.db", "flag --store"},
		"flag over a bad one":   {file, "mysql:", "x.db", "sqlite:/srv/x.db", "flag --store"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tt.file != "" {
				w.write(t, user, tt.file)
			}
			w.vars["ONESLOT_STORE"] = tt.env
			if tt.flag != "" {
				w.Flags["store"] = tt.flag
			}
			got := mustLoad(t, w).Store
			wantLine(t, strings.ReplaceAll(got.V, w.root, ""), tt.want)
			wantLine(t, strings.ReplaceAll(got.Origin.String(), w.root, ""), tt.origin)
		})
	}
}

func TestOverridesOfOtherKeys(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, "host = 'file'\ndefault_host = 'git.example.org'\nclaims = 'c.db'")
	w.vars["ONESLOT_HOST"] = "env"
	w.Flags["claims"], w.Flags["store"] = "one.db", "sqlite:one.db"
	w.Flags["default_host"] = "codeberg.org"
	c := mustLoad(t, w)
	wantLine(t, c.Host.V+" "+c.Host.Origin.String(), "env environment ONESLOT_HOST")
	wantLine(t, c.Claims.Origin.String(), "flag --claims")
	wantLine(t, c.DefaultHost.V+" "+c.DefaultHost.Origin.String(), "codeberg.org flag --default-host")
}

// A bad flag alone is a wrong command line; anything bad beside it is a bad
// configuration.
func TestBadFlagIsUsage(t *testing.T) {
	w := newWorld(t)
	w.Flags["store"] = "mysql:x"
	if _, err := Load(w.Sources); !errors.Is(err, slot.ErrUsage) || errors.Is(err, slot.ErrConfig) {
		t.Errorf("a bad flag: %v", err)
	}
	w.vars["ONESLOT_HOST"] = "a\x1b[2Jb"
	if _, err := Load(w.Sources); errors.Is(err, slot.ErrUsage) || !errors.Is(err, slot.ErrConfig) {
		t.Errorf("a bad flag and a bad variable: %v", err)
	}
}

func TestBadOverrides(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, "nonsense = 1")
	w.vars["ONESLOT_CLAIMS"] = "redis://:canary@cache"
	w.vars["ONESLOT_HOST"] = "a\x1b[2Jb"
	w.Flags["store"] = ""
	w.Flags["nonsense"] = "1"
	wantLine(t, refused(t, w), strings.Join([]string{
		`environment ONESLOT_CLAIMS: redis addresses are not in this version`,
		`environment ONESLOT_HOST: has characters that cannot be printed`,
		`flag --nonsense: sets nothing that is known`,
		`flag --store: is empty; leave it out for the default`,
		`/` + user + `:1:1: unknown key "nonsense"`,
	}, "\n"))
}

func TestClaimsElsewhere(t *testing.T) {
	w := newWorld(t)
	w.vars["ONESLOT_CLAIMS"] = "sqlite:/elsewhere.db"
	wantLine(t, refused(t, w), "environment ONESLOT_CLAIMS: claims elsewhere than in the store are not in this version; leave the key out")
}

func TestDefaultStore(t *testing.T) {
	for name, tt := range map[string]struct{ home, xdg, want string }{
		"home":             {"/h", "", "/h/.local/state/oneslot/oneslot.db"},
		"xdg":              {"/h", "/x", "/x/oneslot/oneslot.db"},
		"xdg without home": {"", "/x", "/x/oneslot/oneslot.db"},
		"relative xdg":     {"/h", "x", "/h/.local/state/oneslot/oneslot.db"},
		"neither":          {"", "", ""},
		"relative, both":   {"h", "x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.vars = map[string]string{"HOME": tt.home, "XDG_STATE_HOME": tt.xdg}
			if tt.want == "" {
				if got := refused(t, w); !strings.HasPrefix(got, "no store: set HOME or XDG_STATE_HOME, or name one with --store") {
					t.Error(got)
				}
				w.Flags["store"] = "/named.db"
				tt.want = "/named.db"
			}
			wantLine(t, mustLoad(t, w).StorePath(), tt.want)
		})
	}
}

func TestStateDirLiesBesideTheDatabase(t *testing.T) {
	w := newWorld(t)
	w.Flags["store"] = "sqlite:/srv/shared/claims.db"
	wantLine(t, mustLoad(t, w).StateDir(), "/srv/shared")
}

func TestHostNameIsForPeopleOnly(t *testing.T) {
	w := newWorld(t)
	w.Hostname = func() (string, error) { return "", errors.New("none") }
	wantLine(t, mustLoad(t, w).Host.V, "localhost")
	w.Hostname = func() (string, error) { return "a\nb", nil }
	wantLine(t, mustLoad(t, w).Host.V, "localhost")
}

// A store that only this runner sees excludes nobody: C03.
func TestCIWarning(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		want        bool
	}{
		{"CI", "", false}, {"CI", "true", true}, {"CI", "1", true}, {"CI", "false", false}, {"CI", "0", false},
		{"GITHUB_ACTIONS", "true", true},
	} {
		w := newWorld(t)
		w.vars[tt.name] = tt.value
		got := mustLoad(t, w).CIWarning()
		if (got != "") != tt.want || tt.want && !strings.Contains(got, "excludes nobody") {
			t.Errorf("%s=%s: %q", tt.name, tt.value, got)
		}
	}
}

func TestGrammar(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, `
default_host = "git.example.org"
[[forge]]
host = "GitBox"
type = "gitlab"`)
	origin := func() (string, error) { return "", nil }
	g := mustLoad(t, w).Grammar(origin)
	if g.DefaultHost != "git.example.org" || len(g.Hosts) != 1 || g.Hosts["gitbox"] != "gitlab" || g.Origin == nil {
		t.Errorf("%+v", g)
	}
}
