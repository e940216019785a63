package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/slot"
)

// Check looks at what of a configuration shows only when it is put in force: its
// secrets, and the gates. The error, a *config.Problems, has all that is wrong.
func Check(cfg *config.Config) (warnings []string, err error) {
	warnings, err = cfg.Check()
	all := &config.Problems{}
	errors.As(err, &all)
	clk, err := clock.System()
	if err != nil {
		return warnings, fmt.Errorf("%w: the clock: %w", slot.ErrUnknown, err)
	}
	a := &App{Config: cfg, Clock: clk} // gates are built and not asked
	for _, g := range cfg.GatesInForce() {
		if _, err := a.gateOf(cfg, forges{}, g, "oneslot"); err != nil {
			all.List = append(all.List, refuseGate(g, err).List...)
		}
	}
	return warnings, all.Err()
}

// refuseGate says where the gate stands that cannot be built.
func refuseGate(g config.Gate, err error) *config.Problems {
	why := strings.TrimPrefix(err.Error(), slot.ErrUsage.Error()+": ")
	return config.Refuse(g.Type.Origin, "gate %s: %s", g.Type.V, why)
}
