package ending

import (
	"context"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Store is what it takes of a store to end something there.
type Store interface {
	claim.Store
	claim.Journal
	Address() string
	Dir() string // the folder beside which run folders and the registry lie
}

// Ender ends what is on slots, on behalf of one process.
type Ender struct {
	Store  Store
	Taker  *claim.Taker
	Holder slot.Holder // the process, but for the path
}

func (e *Ender) holder(path string) slot.Holder {
	h := e.Holder
	h.Path = path
	return h
}

// Overtaken reports that the holder was a process of this very host, before it
// was restarted.
func (e *Ender) Overtaken(c slot.Claim) bool {
	p := c.Holder.Process
	return (c.Kind == slot.Supervised || c.Bound) && p.Boot != "" && !p.Far() && p.Boot != e.Taker.Clock.BootID() &&
		!e.Store.Capabilities().CrossHost
}

// Cleared reports that nothing is left of the run of a claim.
func (e *Ender) Cleared(ctx context.Context, c slot.Claim) bool {
	if c.Run == "" {
		return false
	}
	run, err := e.Store.Run(ctx, c.Run)
	return err == nil && !run.TreeGoneAt.IsZero()
}
