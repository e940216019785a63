package dispatch

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/standby"
)

// Gates are asked before the claim and again under it.
type Gates interface {
	// Tick begins a round of questions: what was listed before is old.
	Tick()
	Decide(ctx context.Context, a gate.Ask) gate.Decision
	Hold(ctx context.Context, a gate.Ask, run gate.Run) (gate.Decision, func(context.Context))
}

// Together is a queue that is kept with the claims.
type Together interface {
	// AcquireFor is claim.Store's Acquire and queue.Store's Begin in one step: both,
	// or neither.
	AcquireFor(ctx context.Context, req claim.Request, b queue.Begin) (claim.Grant, queue.Look, error)
}

// Plan is what is to run for a work item.
type Plan struct {
	Policy  queue.Policy
	Argv    []string
	Dir     string
	Strip   []string
	Timeout time.Duration
	TTL     time.Duration
	Grace   time.Duration
	// LogBytes bounds the run's log.
	LogBytes int64
	// Link: a pull request shares the slots of the issues that it closes.
	Link bool
}

// Plans says what is to run, by the configuration of this moment.
type Plans interface {
	// Plan is the plan for an item; an error makes its events dead letters.
	Plan(it queue.Item, sha string) (Plan, error)
	Limits() claim.Limits
}

// Metrics counts what happens; labels are of few values.
type Metrics interface {
	Decided(verdict slot.Verdict, reason string)
	Claimed(d time.Duration) // from the question to the grant
	Started(d time.Duration) // from the acceptance of its newest event to the hand-over
	Peeked(d time.Duration)  // from the last look at what others do to the hand-over
}

// Relations know what belongs to the same piece of work.
type Relations interface {
	// Closes lists the issues that a pull request closes, as its forge has it now, in
	// the order of their names; none for any other ref, and where no forge is known.
	Closes(ctx context.Context, ref slot.Ref) ([]slot.Ref, error)
}

// Reservations tell those who share no store with us who works on what.
type Reservations interface {
	// Reserve reserves the ref of a claim that we hold, and keeps it so until the claim
	// has ended. What earlier runs left on this host is ended first. waited says that it
	// took so long that what was read before is old. A refusal is a *slot.DeferError; any
	// other error says that it is not known whether the ref is ours. undo, which may be
	// nil, withdraws it if nothing starts.
	Reserve(ctx context.Context, g claim.Grant) (undo func(context.Context), waited bool, err error)
}

// Parts are what a Dispatcher works with. All but Together, Beat, Relations and
// Reservations are needed.
type Parts struct {
	Queue   queue.Store
	Claims  claim.Store
	Journal claim.Journal
	Taker   *claim.Taker
	Gates   Gates
	Plans   Plans
	Pool    *standby.Pool
	Sight   claim.Sight // of processes of this host
	Clock   clock.Clock
	Metrics Metrics
	Log     *slog.Logger

	// Together is Queue, if that is kept with Claims.
	Together     Together
	Relations    Relations    // for rules that link
	Reservations Reservations // nil: all who may start something share our store
	// Holder describes us as the holder of a claim whose supervisor is p.
	Holder func(path, command string, p slot.Process) slot.Holder
	State  string // the folder of runs and registry
	Warden bool   // runs need one
	// Tell says that something about a ref is not as it was: its "claim" or "work".
	Tell func(kind string, ref slot.Ref)
	// Reap ends and settles what a dead run of the ref left.
	Reap func(ctx context.Context, ref slot.Ref) error
	// Beat is told of each round of Run that was made.
	Beat func()
}

// Dispatcher starts what is due.
type Dispatcher struct {
	Parts

	changes atomic.Int64 // of what gates look at
	rooms   atomic.Int64 // times that somebody gave something back

	mu      sync.Mutex
	inHand  map[int64]bool    // items that a goroutine of ours works on
	watched map[string]func() // claims whose holder's end we wait for
	full    fullness
	related map[int64]relation
	failing map[int64]pause // items whose steps could not be written
	ill     pause           // of the store, as it seems
	slots   chan struct{}   // how many items are worked on at once
	nudge   chan struct{}
	over    chan struct{} // closed when no watch is of use any more
	work    sync.WaitGroup
}

// New puts a dispatcher together. It runs or works once.
func New(p Parts) *Dispatcher {
	return &Dispatcher{
		Parts: p, inHand: map[int64]bool{}, related: map[int64]relation{}, watched: map[string]func(){}, failing: map[int64]pause{}, over: make(chan struct{}),
		slots: make(chan struct{}, atOnce), nudge: make(chan struct{}, 1),
	}
}

// atOnce is how many items are worked on at the same time: enough that a slow gate
// does not hold up the others.
const atOnce = 8

// fullness is what the last refusals for capacity said; it is forgotten when
// somebody gives something back.
type fullness struct {
	all   bool
	repos []string
	until time.Duration // boot time
}

// fullFor is how long a refusal for capacity is believed if nothing is heard.
const fullFor = 10 * time.Second

// gateEvery is when a deferred item is looked at again if the gate names no time.
const gateEvery = 10 * time.Second

// Run starts what is due until ctx ends, and then waits for what is in hand. The
// error says that the queue cannot tell of changes at all.
func (d *Dispatcher) Run(ctx context.Context) error {
	woken, renew, err := d.Queue.Woken(ctx)
	if err != nil {
		return err
	}
	defer d.close()
	d.rewound(ctx)
	timer := time.NewTimer(0)
	defer timer.Stop()
	steps := newSteps(d.Clock)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
			d.roomy()
		case <-d.nudge:
		case <-timer.C:
		}
		if step := steps.step(); step != 0 {
			d.Log.Warn("the wall clock was set", "by", step)
			if err := d.Queue.Shift(ctx, min(step, 0)); err != nil && ctx.Err() == nil {
				d.Log.Error("the queue's times could not be moved", "err", err)
			}
		}
		// Whoever works a ref without a daemon may have taken our place.
		if err := renew(ctx); err != nil && ctx.Err() == nil {
			d.Log.Error("the queue may not tell of changes by others", "err", err)
		}
		timer.Reset(d.round(ctx))
		if d.Beat != nil {
			d.Beat()
		}
	}
}

// rewound is for steps of the wall clock while nobody worked the queue.
func (d *Dispatcher) rewound(ctx context.Context) {
	n, err := d.Queue.Rewound(ctx)
	switch {
	case ctx.Err() != nil: // we are ending
	case err != nil:
		d.Log.Error("the queue's times could not be looked at", "err", err)
	case n > 0:
		d.Log.Warn("the wall clock was set back: items from times to come are looked at now", "items", n)
	}
}

// close waits for what is in hand, and gives up all watches.
func (d *Dispatcher) close() {
	d.mu.Lock()
	close(d.over) // from here on no watch begins
	d.mu.Unlock()
	d.work.Wait()
	d.unwatch()
}

// Nudge has the queue looked at now.
func (d *Dispatcher) Nudge() {
	select {
	case d.nudge <- struct{}{}:
	default:
	}
}

// longest bounds the time without a look, whatever the queue says.
const longest = time.Minute

// round starts all that is due, as far as hands are free, and says when the next
// one is.
func (d *Dispatcher) round(ctx context.Context) time.Duration {
	d.Gates.Tick()
	for ctx.Err() == nil {
		if all, _ := d.resting(); all > 0 {
			return all
		}
		free := atOnce - len(d.slots)
		busy, full, none := d.occupied()
		if free == 0 { // whoever ends nudges
			return longest
		}
		if none {
			return fullFor
		}
		looks, err := d.Queue.Pick(ctx, free, busy, full)
		if err != nil {
			if ctx.Err() == nil {
				d.Log.Error("the queue cannot be read; nothing starts", "err", err)
			}
			return time.Second
		}
		for _, l := range looks {
			d.hand(ctx, l)
			busy = append(busy, l.Item.ID)
		}
		if len(looks) < free { // that was all
			return d.untilNext(ctx, busy, full)
		}
	}
	return longest
}

func (d *Dispatcher) untilNext(ctx context.Context, busy []int64, full []string) time.Duration {
	wait := longest
	if len(full) > 0 {
		wait = fullFor
	}
	if _, first := d.resting(); first > 0 {
		wait = min(wait, first)
	}
	due, err := d.Queue.NextDue(ctx, busy, full)
	switch {
	case err != nil:
		return time.Second
	case due.IsZero():
		return wait
	}
	return min(max(due.Sub(d.Clock.Wall()), time.Millisecond), wait)
}

// hand works on one item beside the loop.
func (d *Dispatcher) hand(ctx context.Context, l queue.Look) {
	d.slots <- struct{}{}
	d.mu.Lock()
	d.inHand[l.Item.ID] = true
	d.mu.Unlock()
	d.work.Go(func() {
		written := d.try(ctx, l)
		d.tried(l.Item.ID, written)
		<-d.slots
		d.Nudge()
	})
}

// occupied lists what is not to be picked: items in hand or left alone, repositories
// that may start nothing; none says that nothing at all may start.
func (d *Dispatcher) occupied() (busy []int64, full []string, none bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.Clock.Boot()
	for id := range d.inHand {
		busy = append(busy, id)
	}
	for id, p := range d.failing {
		if p.until > now {
			busy = append(busy, id)
		}
	}
	if d.full.until > 0 && now >= d.full.until {
		d.full = fullness{}
	}
	return busy, d.full.repos, d.full.all
}

// crowded notes that a claim was refused because as many run as may. rooms is how
// often somebody had given something back when it was asked for: what was given
// since may be room for it.
func (d *Dispatcher) crowded(ref slot.Ref, l claim.Limits, rooms int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rooms.Load() != rooms {
		return
	}
	d.full.until = d.Clock.Boot() + fullFor
	switch repo := ref.Repo(); {
	case l.PerRepo > 0 && slices.Contains(d.full.repos, repo):
	case l.PerRepo > 0 && len(d.full.repos) < 64:
		d.full.repos = append(d.full.repos, repo)
	default:
		d.full.all = true
	}
}

// roomy forgets what was full: somebody gave something back.
func (d *Dispatcher) roomy() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rooms.Add(1)
	d.full = fullness{}
}
