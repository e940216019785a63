package queue

import (
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// State is where a work item is.
type State string

const (
	Idle    State = "idle"    // nothing is to be done
	Pending State = "pending" // it is looked at when it is due
	Running State = "running" // a run holds the slot for it
	Dead    State = "dead"    // its events are dead letters
)

// Reasons of an item's state, beside those of gates and claims.
const (
	ReasonQuiet      = "quiet"      // a burst is calming down
	ReasonFollowUp   = "follow-up"  // events came during the run
	ReasonRetry      = "retry"      // the last run failed
	ReasonLater      = "later"      // the worker asked for another time
	ReasonWaiting    = "waiting"    // the worker needs a person
	ReasonUnresolved = "unresolved" // every attempt failed, or left a condition as it was
	ReasonRevived    = "revived"    // a person asked for it again
	ReasonRule       = "rule"       // its rule is not there any more
)

// Item is the one queue row for a ref and a rule. Its methods are the rules of the
// queue. Times are wall clock, of the store that keeps it.
type Item struct {
	ID     int64
	Ref    slot.Ref
	Policy Policy
	State  State

	// Waiting counts the events that have not ended well. Only Items fills it in.
	Waiting int

	Run  string // the present run
	Told int64  // the last event (by number) that the present run was told of

	Attempts int // failed runs in a row on unchanged facts
	Laters   int // runs in a row that asked for another time
	// Spent is the most Attempts that a run on unchanged facts had used when it ended
	// well: where they go on if a condition outlives it.
	Spent  int
	Defers int // looks in a row that led to "not now"
	// Sha and Kinds are the facts that failures are counted on; Fresh says that
	// an event changed them during the present run.
	Sha   string
	Kinds []slot.EventKind
	Fresh bool

	Reason string
	Detail string
	Due    time.Time // when it is looked at next, if it is pending
	// Age is when the oldest event that has not ended was accepted; zero if there
	// is none. Burst is when the oldest was that no run was told of yet.
	Age, Burst time.Time
	// Last is when the newest event was accepted.
	Last time.Time
	// Deferred is when a gate or a claim put it off first, without a break: a run
	// that had begun but started nothing is none.
	Deferred time.Time
	// Person: somebody asked in person for what no run was told of yet; Asked: for
	// what the present run was told of.
	Person, Asked bool
}

// Accept is what a new event does. A dead item that stays dead makes it a dead
// letter; one that it revives has all its dead letters waiting again.
func (it *Item) Accept(e slot.Event, p Policy, now time.Time) slot.Intake {
	return it.accept(e, p, false, now)
}

// StillTrue reports whether a condition that was handled, by a run that ended then,
// is to be seen to again. While something waits or runs for the item that is not so:
// whoever sees to that reads the truth anyway, and a person may be asked.
func (it *Item) StillTrue(p Policy, ended, now time.Time) bool {
	return it.State == Idle && it.Age.IsZero() && p.Again > 0 && !now.Before(ended.Add(p.Again))
}

// Remind is Accept of a condition that is StillTrue. Unless the facts changed, the run
// that handled it was an attempt, though it ended well; after the last one the item
// is dead.
func (it *Item) Remind(e slot.Event, p Policy, now time.Time) slot.Intake {
	return it.accept(e, p, true, now)
}

func (it *Item) accept(e slot.Event, p Policy, still bool, now time.Time) slot.Intake {
	fresh := it.note(e)
	it.Policy = p
	if it.State == Dead && !fresh {
		return slot.Coalesced
	}
	it.Last = now
	if it.Age.IsZero() {
		it.Age = now
	}
	if it.Burst.IsZero() {
		it.Burst = now
	}
	it.Person = it.Person || e.Person()
	if it.State == Running {
		it.Fresh = it.Fresh || fresh
		return slot.Coalesced
	}
	switch {
	case fresh:
		it.budget()
	case still:
		it.Attempts = it.Spent + 1
		if it.Attempts >= p.Attempts {
			it.die("it is still so after " + runs(it.Attempts))
			return slot.Coalesced
		}
	}
	switch {
	case it.State != Pending:
		it.State = Pending
		it.wake(ReasonQuiet, now)
		return slot.Queued
	case it.Deferred.IsZero(): // a burst goes on, or a back-off is cut short
		it.wake(ReasonQuiet, now)
	case it.Person: // a look costs nothing
		it.Due = now
	}
	return slot.Coalesced
}

// note takes down what e says of the facts, and reports whether they changed: a
// new head, another kind, or a person's wish. A new result at the same head is
// nothing new.
func (it *Item) note(e slot.Event) bool {
	moved := e.Sha != "" && e.Sha != it.Sha
	if moved {
		it.Sha, it.Kinds = e.Sha, nil
	}
	other := !slices.Contains(it.Kinds, e.Kind)
	if other {
		it.Kinds = append(slices.Clone(it.Kinds), e.Kind)
	}
	return moved || other || e.Person()
}

// wake puts the next look where the burst of new events has calmed down, counted
// from their acceptance: it may be over. Times that lie ahead are of a clock that
// was set back since.
func (it *Item) wake(reason string, now time.Time) {
	it.Reason, it.Detail, it.Deferred, it.Defers = reason, "", time.Time{}, 0
	it.Due = now
	if it.Person || it.Policy.Quiet <= 0 {
		return
	}
	it.Due = it.Last.Add(it.Policy.Quiet)
	if last := it.Burst.Add(it.Policy.MaxQuiet); it.Policy.MaxQuiet > 0 && last.Before(it.Due) {
		it.Due = last
	}
	if most := now.Add(it.Policy.Quiet); most.Before(it.Due) {
		it.Due = most
	}
}

// Begin has a run that holds the claim take the item, with all events up to last.
func (it *Item) Begin(run string, p Policy, last int64) {
	it.State, it.Run, it.Told, it.Policy = Running, run, last, p
	it.Asked, it.Person, it.Fresh = it.Person, false, false
	it.Burst = time.Time{}
	it.Reason, it.Detail = "", ""
}

// Defer puts a pending item off. Nothing is spent.
func (it *Item) Defer(reason, detail string, until, now time.Time) {
	it.Defers++
	if it.Deferred.IsZero() {
		it.Deferred = now
	}
	it.State, it.Reason, it.Detail, it.Due = Pending, reason, detail, until
}

// PutBack undoes Begin for a run that started no worker.
func (it *Item) PutBack(now time.Time) {
	since, looks := it.Deferred, it.Defers
	it.Run, it.Told, it.State = "", 0, Pending
	it.Person, it.Asked = it.Person || it.Asked, false
	it.refresh()
	it.Burst = it.Age
	it.wake(ReasonQuiet, now)
	it.Due, it.Deferred, it.Defers = now, since, looks
}

// Revive gives a dead or waiting item a fresh budget, because a person says so. It
// reports whether there was something to revive.
func (it *Item) Revive(now time.Time) bool {
	if it.State == Running || it.Age.IsZero() {
		return false
	}
	it.budget()
	it.State, it.Person = Pending, true
	it.wake(ReasonRevived, now)
	return true
}

// refresh gives a fresh budget if the facts changed during the present run.
func (it *Item) refresh() {
	if it.Fresh {
		it.budget()
	}
	it.Fresh = false
}

// budget gives a fresh one.
func (it *Item) budget() { it.Attempts, it.Laters, it.Spent = 0, 0, 0 }

// die makes an item dead whose last attempt is over.
func (it *Item) die(detail string) {
	age := it.Age
	it.rest(Dead, ReasonUnresolved, detail)
	it.Age = age
}

// Skip gives up what an item was looked at for: a gate ended all of it. oldest is
// when the oldest event was accepted that came since; zero if there is none.
func (it *Item) Skip(reason, detail string, oldest, now time.Time) {
	it.budget()
	it.Run, it.Told, it.Asked, it.Fresh = "", 0, false, false
	if oldest.IsZero() {
		it.rest(Idle, reason, detail)
		return
	}
	it.State, it.Age, it.Burst = Pending, oldest, oldest
	it.wake(ReasonQuiet, now)
}

// Thin is for a gate that ended some of the events: the others go on as they are.
// oldest is when the oldest of those was accepted.
func (it *Item) Thin(oldest time.Time) {
	it.Age = oldest
	if it.State == Pending && it.Burst.Before(oldest) {
		it.Burst = oldest
	}
}

// Kill makes dead letters of all that waits: there is nothing to start for it.
func (it *Item) Kill(reason, detail string) {
	age := it.Age
	it.Run, it.Told, it.Asked, it.Fresh = "", 0, false, false
	it.rest(Dead, reason, detail)
	it.Age = age
}

// rest leaves an item with nothing to do.
func (it *Item) rest(s State, reason, detail string) {
	it.State, it.Reason, it.Detail = s, reason, detail
	it.Age, it.Burst, it.Deferred, it.Due = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	it.Person, it.Defers = false, 0
}
