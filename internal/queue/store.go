package queue

import (
	"context"
	"errors"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// ErrStale says that the item is not in the state that the caller saw: somebody
// else has it in hand, or it is over. Nothing was changed.
var ErrStale = errors.New("the work item has changed since")

// Wish is an event with the rules that want it.
type Wish struct {
	Event slot.Event
	// Policies are those of the rules that want it; none: it is ignored.
	Policies []Policy
	Ignored  string // why nobody wants it
	// Condition: the event was read from a forge just now, and is true now: a failing
	// check, a conflict, changes requested, an unresolved thread. A handled one may
	// then be wanted again; see Policy.Again.
	Condition bool
	// Key makes wishes that are always new comparable: with an equal key the
	// second is a duplicate. It is the caller's idempotency key.
	Key string
}

// Arrival is what comes in together and is recorded in one transaction.
type Arrival struct {
	Delivery *slot.Delivery // nil for wishes that came by no webhook
	Wishes   []Wish
	// AnyNew: what was handled once may be wanted again (the gate
	// already_handled is off).
	AnyNew bool
}

// Accepted is what became of one wish under one rule.
type Accepted struct {
	Event  slot.Event // with ID and At; its ID is empty if it is not on record
	Rule   string
	Intake slot.Intake
	Of     string // of a duplicate: the event or delivery it repeats
	Reason string
}

// EventState is where an event is under a rule.
type EventState string

const (
	EventWaiting    EventState = "waiting"    // for a run that ends well
	EventUnresolved EventState = "unresolved" // its ref is not known yet
	EventResolved   EventState = "resolved"   // others took its place, for the refs it turned out to be about
	EventDone       EventState = "done"       // a run that ended 0 was told of it
	EventSuperseded EventState = "superseded" // told together with a newer one
	EventSkipped    EventState = "skipped"
	EventDead       EventState = "dead" // a dead letter
)

// Record is an event as kept under one rule.
type Record struct {
	slot.Event
	N      int64 // its number in this store; grows
	Item   int64
	Rule   string
	State  EventState
	Run    string // the last run that was told of it
	By     string // of a superseded one: the id of the newer; of a resolved one: of the first in its place
	Reason string // of an ended one
}

// Look is an item that is due, with its waiting events, oldest first.
type Look struct {
	Item   Item
	Events []Record
	Last   int64 // the number of the newest of them
}

// Begin is what a run that holds the claim takes an item with.
type Begin struct {
	Item   int64
	Run    string
	Policy Policy
}

// Filter chooses items or events. Zero fields choose all.
type Filter struct {
	Ref   slot.Ref
	Rule  *string
	State string // of an item, or of an event
	Run   string // events that this run was told of
	// PutOff chooses pending items that were put off before then and are since,
	// those put off for longest first.
	PutOff time.Time
	// Oldest has events listed the oldest first.
	Oldest bool
	After  int64    // events with a number above it
	Hosts  []string // events of repositories at one of them
	Limit  int      // the first so many: the newest, but for PutOff and Oldest
}

// Gauge is the queue in numbers.
type Gauge struct {
	Items      map[State]int
	Oldest     time.Time // the age of the oldest pending item
	Due        int       // pending items whose time has come
	Deferred   int       // pending items that a gate or a claim put off
	Unresolved int       // events without a ref
}

// Store keeps work items and events. Each method is one atomic step, in which what
// it changes, its events and its decision are one transaction. It reads the time
// itself.
//
// Errors: ErrStale; slot.ErrUsage for what is not there; slot.ErrUnknown when the
// store could not be asked or the end of the step is not known.
type Store interface {
	// Accept records an arrival. A delivery is kept with its body if any of its
	// wishes was queued or coalesced. When it returns, what was queued, coalesced or
	// skipped is on disk. Equal deliveries (hook and GUID), equal fingerprints
	// that wait, that the present run was told of, or that were handled, and
	// equal keys are duplicates; what was ignored or skipped is judged anew.
	//
	// A handled condition that is still true after Policy.Again is none; neither does
	// AnyNew make it one before.
	Accept(ctx context.Context, a Arrival) ([]Accepted, error)
	// Resolve puts wishes in the place of the unresolved event with number n, one for
	// each ref that it turned out to be about. Each is judged as by Accept, and
	// belongs to the same delivery. Without any it ends as skipped, for the reason.
	// It is stale if the event is not unresolved (any more).
	Resolve(ctx context.Context, n int64, wishes []Wish, reason string) ([]Accepted, error)

	// Pick returns up to n items that are due, a person's first, then by priority,
	// then in turn by repository and age within it. busy lists items not to be
	// returned, full the repositories that may start nothing.
	Pick(ctx context.Context, n int, busy []int64, full []string) ([]Look, error)
	// Look reads one item with its waiting events, due or not.
	Look(ctx context.Context, item int64) (Look, error)
	// NextDue is when the next pending item becomes due: zero for none. busy and full are
	// as for Pick: what that leaves out, this does, too.
	NextDue(ctx context.Context, busy []int64, full []string) (time.Time, error)

	// Begin gives a pending item to a run and returns it with the events the run
	// is told of: all that wait. An item for which none waits is put to rest, and
	// stale.
	Begin(ctx context.Context, b Begin) (Look, error)
	// Defer puts a pending item off, or one that run (if not empty) has begun but
	// not started; d is recorded, unless it has no verdict: the claim store's own
	// refusal is on record. One that is put off for a slot that was freed
	// meanwhile is due at once.
	Defer(ctx context.Context, item int64, run string, until time.Time, d slot.Decision) error
	// Skip ends the waiting events of an item up to number last: those with ids in
	// only or, if it is empty, all. If none is left up to there, the item is given
	// up, also by run, if that has begun it.
	Skip(ctx context.Context, item int64, run string, last int64, only []string, d slot.Decision) error
	// Kill makes the waiting events of a pending item dead letters.
	Kill(ctx context.Context, item int64, run string, d slot.Decision) error
	// Settle ends the run of the item whose present run it is, and reports whether
	// there was one. Stores that keep the claims, too, do it in the claim's own
	// transaction; again is harmless.
	Settle(ctx context.Context, run string, out slot.Outcome) (bool, error)
	// Revive gives the items of a ref that are not at work a fresh budget or, if it
	// is zero, the dead ones of all refs: what waits for a person waits on. rule nil
	// is every rule. It returns those revived.
	Revive(ctx context.Context, ref slot.Ref, rule *string) ([]Item, error)
	// Drop ends the events of a ref that wait or are dead letters, but for those that
	// a present run was told of; of all refs, if it is zero, what is dead. They are
	// skipped, and one decision for each ref is recorded. It returns the items that
	// had such events or are at work; again is harmless.
	Drop(ctx context.Context, d Drop) ([]Dropped, error)
	// Wake has deferred items looked at now: those of a ref, or those whose reason
	// begins with the given words. It returns their number.
	Wake(ctx context.Context, ref slot.Ref, reason string) (int, error)
	// Shift moves all times to come by d, by which the wall clock was set back. After
	// a step forward nothing need be done: a look that comes early is free.
	Shift(ctx context.Context, d time.Duration) error
	// Rewound is for a wall clock that was set back while nobody saw it: items that
	// were accepted or put off at a time to come, or that wait for longer than any
	// back-off of theirs, become due. It returns their number.
	Rewound(ctx context.Context) (int, error)

	// Items and Events list the newest first, unless the filter says otherwise.
	Items(ctx context.Context, f Filter) ([]Item, error)
	Events(ctx context.Context, f Filter) ([]Record, error)
	// Delivery reads a delivery with its body, or the name of the file it is in.
	Delivery(ctx context.Context, id string) (slot.Delivery, error)
	Gauge(ctx context.Context) (Gauge, error)
	// Forget drops deliveries, and events that ended, from before the given time,
	// but no dead letters: they wait for a person. It ends unresolved ones of then,
	// and returns the files of bodies that nobody names any more.
	Forget(ctx context.Context, before time.Time) ([]string, error)

	// Names reports whether a delivery names the file as that of its body.
	Names(ctx context.Context, file string) (bool, error)

	// Woken is poked whenever an item may have become due. Of all processes of this
	// store one is told: the newest caller, beside what each does itself. Whoever
	// was told before is poked once more, and is told again after renew, which
	// costs a look if nobody is told instead.
	Woken(ctx context.Context) (woken <-chan struct{}, renew func(context.Context) error, err error)
}
