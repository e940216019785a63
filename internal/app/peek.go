package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

// greetTime bounds all that one forge is asked.
const greetTime = 15 * time.Second

// Greet asks a forge who its token is, and how many of its repositories the
// configuration means.
func Greet(ctx context.Context, cfg *config.Config, f config.Forge) (string, error) {
	clk, err := clock.System()
	if err != nil {
		return "", err
	}
	all, err := (&App{Config: cfg, Clock: clk}).forgesOf(cfg, uncountedRequest)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, greetTime)
	defer cancel()
	c, who := all.at[f.Host.V].Forge, "nobody"
	if f.Token.Form() != config.TokenNone && f.Token.Form() != config.TokenApp { // an app is somebody at each owner
		if who, err = c.Me(ctx); err != nil {
			return "", err
		}
	}
	if f.Token.Form() == config.TokenApp {
		who = f.Token.String()
	}
	if len(f.Repos.V) == 0 {
		return "answers " + who, nil
	}
	repos, err := c.Repos(ctx, f.Repos.V)
	if err != nil {
		return "", err
	}
	n := 0
	for _, r := range repos {
		if slices.ContainsFunc(f.Repos.V, r.Matches) {
			n++
		}
	}
	if n == 0 {
		return "", fmt.Errorf("it answers %s, but no repository that this token sees matches %s", who, strings.Join(f.Repos.V, ", "))
	}
	return fmt.Sprintf("answers %s, %d repositories match", who, n), nil
}

// Peek asks a gate that looks at this host about a ref that is nobody's, and tells
// why it could not find out. What it would answer for that ref does not matter.
func Peek(ctx context.Context, cfg *config.Config, g config.Gate) error {
	clk, err := clock.System()
	if err != nil {
		return err
	}
	if g.Type.V == "systemd" && len(g.Units.V) == 0 { // it only holds units, by the same way
		g.Units.V = []string{g.HoldUnit.V}
	}
	built, err := (&App{Config: cfg, Clock: clk}).gateOf(cfg, forges{}, g, "oneslot")
	if err != nil || built == nil {
		return err
	}
	ref, err := slot.ParseCanonical("github.com/octo-org/octo-repo#1")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, g.Timeout.V)
	defer cancel()
	ans := built.Ask(ctx, gate.Ask{Ref: ref, Sha: "0000000000000000000000000000000000000000", Path: slot.PathManual, Claimed: true})
	if ans.Verdict == slot.Unknown {
		return errors.New(ans.Detail)
	}
	return nil
}
