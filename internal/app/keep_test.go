package app

import (
	"testing"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
)

// A new configuration keeps the client of a forge whose section says what it said: the
// forge's limit is known to it. One with another token, or other hooks, is made anew.
func TestKeepsForgesThatAreAsTheyWere(t *testing.T) {
	of := func(change func(*config.Config)) *config.Config {
		f := config.Forge{}
		f.Host.V, f.Type.V, f.API.V = "git.example.com", "forgejo", "https://git.example.com"
		f.Token.Secret.File.V = "/etc/token"
		c := &config.Config{Forges: []config.Forge{f}}
		change(c)
		return c
	}
	clk, err := clock.System()
	if err != nil {
		t.Fatal(err)
	}
	a := &App{Clock: clk}
	for name, tt := range map[string]struct {
		change func(*config.Config)
		kept   bool
	}{
		"nothing":      {func(*config.Config) {}, true},
		"poll":         {func(c *config.Config) { c.Forges[0].Poll.V = 7 }, true},
		"repos, rules": {func(c *config.Config) { c.Forges[0].Repos.V, c.Rules = []string{"x/*"}, make([]config.Rule, 1) }, true},
		"token":        {func(c *config.Config) { c.Forges[0].Token.Secret.File.V = "/etc/other" }, false},
		"api":          {func(c *config.Config) { c.Forges[0].API.V = "https://git.example.com/git" }, false},
		"hooks":        {func(c *config.Config) { c.Hooks = make([]config.Hook, 1) }, false},
	} {
		was, now := of(func(*config.Config) {}), of(tt.change)
		old, err := a.forgesOf(was, uncountedRequest)
		if err != nil {
			t.Fatal(err)
		}
		all, err := a.forgesOf(now, uncountedRequest)
		if err != nil {
			t.Fatal(err)
		}
		all.keep(now, old, was)
		if kept := all.at["git.example.com"] == old.at["git.example.com"]; kept != tt.kept {
			t.Errorf("%s: kept is %v", name, kept)
		}
	}
}
