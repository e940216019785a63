package dispatch

import (
	"context"
	"log/slog"
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

// Taker takes slots.
type Taker interface {
	Take(ctx context.Context, req claim.Request) (claim.Grant, error)
}

// Watcher tells of the end of processes.
type Watcher interface {
	Watch(p slot.Process) (gone <-chan struct{}, stop func(), err error)
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
	Started(d time.Duration) // from the item's due time to the hand-over
	Peeked(d time.Duration)  // from the last look at what others do to the hand-over
}

// Parts are what a Dispatcher works with. All are needed.
type Parts struct {
	Queue   queue.Store
	Claims  claim.Store
	Journal claim.Journal
	Taker   Taker
	Gates   Gates
	Plans   Plans
	Pool    *standby.Pool
	Watcher Watcher
	Clock   clock.Clock
	Metrics Metrics
	Log     *slog.Logger

	// Holder describes us as the holder of a claim whose supervisor is p.
	Holder func(path, command string, p slot.Process) slot.Holder
	State  string // the folder of runs and registry
	Warden bool   // runs need one
	// Tell says that something about a ref is not as it was: its "claim" or "work".
	Tell func(kind string, ref slot.Ref)
	// Reap ends and settles what a dead run of the ref left.
	Reap func(ctx context.Context, ref slot.Ref) error
}

// Dispatcher starts what is due.
type Dispatcher struct {
	Parts

	changes atomic.Int64 // of what gates look at

	mu      sync.Mutex
	inHand  map[int64]bool    // items that a goroutine of ours works on
	watched map[string]func() // claims whose holder's end we wait for
	full    fullness
	slots   chan struct{} // how many items are worked on at once
	nudge   chan struct{}
	over    chan struct{} // closed when no watch is of use any more
	work    sync.WaitGroup
}

// New puts a dispatcher together. It runs or works once.
func New(p Parts) *Dispatcher {
	return &Dispatcher{
		Parts: p, inHand: map[int64]bool{}, watched: map[string]func(){}, over: make(chan struct{}),
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
	woken, err := d.Queue.Woken(ctx)
	if err != nil {
		return err
	}
	defer d.close()
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
			d.Log.Warn("the wall clock was set; times to come move with it", "by", step)
			if err := d.Queue.Shift(ctx, step); err != nil {
				d.Log.Error("the queue's times could not be moved", "err", err)
			}
		}
		timer.Reset(d.round(ctx))
	}
}

// close waits for what is in hand, and gives up all watches.
func (d *Dispatcher) close() {
	close(d.over)
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
		if len(looks) == 0 {
			return d.untilNext(ctx, busy, len(full) > 0)
		}
		for _, l := range looks {
			d.hand(ctx, l)
		}
	}
	return longest
}

func (d *Dispatcher) untilNext(ctx context.Context, busy []int64, full bool) time.Duration {
	wait := longest
	if full {
		wait = fullFor
	}
	due, err := d.Queue.NextDue(ctx, busy)
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
		defer func() {
			d.mu.Lock()
			delete(d.inHand, l.Item.ID)
			d.mu.Unlock()
			<-d.slots
			d.Nudge()
		}()
		d.try(context.WithoutCancel(ctx), l)
	})
}

// occupied lists what is not to be picked: items in hand, repositories that may
// start nothing; none says that nothing at all may start.
func (d *Dispatcher) occupied() (busy []int64, full []string, none bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id := range d.inHand {
		busy = append(busy, id)
	}
	if d.full.until > 0 && d.Clock.Boot() >= d.full.until {
		d.full = fullness{}
	}
	return busy, d.full.repos, d.full.all
}

// crowded notes that a claim was refused because as many run as may.
func (d *Dispatcher) crowded(ref slot.Ref, l claim.Limits) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full.until = d.Clock.Boot() + fullFor
	if l.PerRepo > 0 && len(d.full.repos) < 64 {
		d.full.repos = append(d.full.repos, ref.Repo())
	} else {
		d.full.all = true
	}
}

// roomy forgets what was full: somebody gave something back.
func (d *Dispatcher) roomy() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = fullness{}
}
