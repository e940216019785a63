package claimtest

import (
	"context"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Store is what the suite asks of a backend.
type Store interface {
	claim.Store
	claim.Journal
}

// Clock is the backend's time, when a test can move it. *clock.Manual is one.
type Clock interface {
	Boot() time.Duration
	Wall() time.Time
	BootID() string

	Advance(d time.Duration)  // time passes
	Suspend(d time.Duration)  // time passes while the machine sleeps
	StepWall(d time.Duration) // somebody sets the calendar clock, also back
	Reboot(id string)         // a new boot; handles of the old one are closed before
}

// Options are the settings of the store that a test wants. Zero values mean the
// product's own. Only a backend without a Clock is asked for other times than
// WaitingMax, so that nobody sleeps for minutes.
type Options struct {
	StartTTL   time.Duration // without a renewal in Starting, the grace not counted
	StartMax   time.Duration // in Starting, however often renewed
	WaitingMax time.Duration // of a waiting claim, by wall clock
	Turn       time.Duration // in which the head of the line must take a free slot; at least 4 ticks
}

// defaultTurn is how long the head of the line may be silent when the slot is
// free before it loses its turn.
const defaultTurn = 2 * time.Second

func (o Options) filled() Options {
	or := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	or(&o.StartTTL, slot.StartTTL)
	or(&o.StartMax, slot.StartMax)
	or(&o.WaitingMax, slot.WaitingMax)
	or(&o.Turn, defaultTurn)
	return o
}

func turn(o Options, c claim.Capabilities) time.Duration { return max(o.Turn, 4*c.Tick) }

// Harness is one empty store, as seen by a test.
type Harness struct {
	// Open gives a further handle, as independent as another process's would
	// be. The suite closes what it opens.
	Open func() (Store, error)
	// Far is Open on another host. It is set exactly if CrossHost is declared.
	Far func() (Store, error)
	// Clock moves the store's time. Without one the suite really waits.
	Clock Clock
	// BootID names the boot that the store thinks it is in; needed only
	// without a Clock.
	BootID string
}

// Run holds a backend to the contract. It calls open once for each test.
func Run(t *testing.T, open func(t testing.TB, opt Options) Harness) {
	run(direct{t}, open)
}

type opener func(t testing.TB, opt Options) Harness

// runner is a testing.TB with subtests; the suite's own tests put a recorder in
// the place of *testing.T to see it fail.
type runner interface {
	testing.TB
	sub(name string, f func(runner))
}

type direct struct{ *testing.T }

func (d direct) sub(name string, f func(runner)) {
	d.Run(name, func(t *testing.T) { f(direct{t}) })
}

type test struct {
	name string
	f    func(*bench)
}

func run(t runner, open opener) {
	t.Helper()
	for _, tests := range [][]test{
		capabilityTests(), holderTests(), fenceTests(), ownerTests(), againTests(), expiryTests(),
		startTests(), parkTests(), lineTests(), holdTests(), journalTests(), rebootTests(), unknownTests(), limitTests(), coverTests(),
		coverLineTests(),
	} {
		for _, tt := range tests {
			t.sub(tt.name, func(t runner) { tt.f(newBench(t, open)) })
		}
	}
}

func newBench(t runner, open opener) *bench {
	t.Helper()
	b := &bench{runner: t, ctx: context.Background()}
	// WaitingMax is a setting of the product, so the suite always sets it.
	opt := Options{WaitingMax: 48 * time.Hour}
	b.h = open(t, opt)
	first := b.open()
	b.caps = first.Capabilities()
	b.ttl = max(4*slot.MinTTL, 8*b.caps.Tick)
	if b.h.Clock == nil {
		// Real time: a fresh store with everything as short as the tick allows.
		b.ttl = max(slot.MinTTL, 4*b.caps.Tick)
		opt = Options{StartTTL: b.ttl, StartMax: 3 * b.ttl, WaitingMax: 2 * b.ttl, Turn: b.ttl}
		b.h = open(t, opt)
	}
	b.grace = b.ttl / 4
	b.opt = opt.filled()
	b.opt.Turn = turn(b.opt, b.caps)
	return b
}
