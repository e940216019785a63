package app

import (
	"context"
	"time"

	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

// OnlyLook keeps this App from writing anything, also what it hears by the way.
func (a *App) OnlyLook() {
	a.Names = a.Names.Looking()
	if m, ok := a.Memory.(sinceMemory); ok {
		a.Memory = lookMemory{m}
	}
}

// looking is a for what only looks.
func (a *App) looking() *App {
	return &App{Config: a.Config, Store: a.Store, Server: a.Server, Names: a.Names.Looking(), Clock: a.Clock}
}

// sinceMemory tells since when a gate has failed without a break; zero: it has not.
type sinceMemory interface {
	gate.Memory
	Since(ctx context.Context, gate string, ref slot.Ref) (time.Time, error)
}

// lookMemory is a memory that nobody changes.
type lookMemory struct{ sinceMemory }

// Failed implements gate.Memory.
func (m lookMemory) Failed(ctx context.Context, gate string, ref slot.Ref, now time.Time) (time.Time, error) {
	since, err := m.Since(ctx, gate, ref)
	if since.IsZero() {
		since = now
	}
	return since, err
}

// Answered implements gate.Memory.
func (lookMemory) Answered(context.Context, string, slot.Ref) error { return nil }
