package app

import (
	"context"
	"errors"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

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
	built, err := (&App{Config: cfg, Clock: clk}).gateOf(cfg, nil, g, "oneslot")
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
