package gate

import (
	"context"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Ask is the question: may work on this start now?
type Ask struct {
	Ref    slot.Ref
	Sha    string // the newest head commit that the events name; may be empty
	Rule   string
	Path   string
	Events []slot.Event // what is waiting, oldest first; none for `oneslot run`
	// Claimed: the caller holds the slot and is about to start. Nothing that was
	// read before the claim may answer.
	Claimed bool
	// Self is the claim asked for, so that what it holds itself is not in its way.
	Self string

	look *look // what the Decide has read of a forge
}

// Answer is what one gate says.
type Answer struct {
	// Verdict is slot.Proceed, slot.Defer, slot.Skip, slot.Unknown, or empty: not
	// asked, because its source is not configured.
	Verdict slot.Verdict
	Reason  string // the gate's type, a colon and a word or two; stable
	Detail  string // evidence for people: who holds it, what was seen
	// Until is when a deferral is worth another look, also one of something Unknown;
	// zero: after the gate's `every`.
	Until time.Time
	// Lasting: of something Unknown, that no waiting mends it. It is put off for as long
	// as it is so, also beyond OnError.For.
	Lasting bool
	// Events are the ids that a skip is about; empty: all of them.
	Events []string
}

// Gate is one check. Ask returns within ctx (a Set does not wait longer); an error
// that kept it from finding out is Unknown, with the error in Detail. It may be
// asked by several goroutines at once.
type Gate interface {
	Type() string
	Ask(ctx context.Context, a Ask) Answer
}

// Lister is a gate that answers from one list for all refs. The list is read once
// per tick, and anew for an Ask under the claim.
type Lister interface {
	Gate
	// Tick makes the next Ask read the list anew.
	Tick()
}

// Watcher is a gate that learns of changes by itself. Watch calls changed whenever
// something that was in somebody's way may be gone, until ctx ends. It reconnects
// by itself; an error means that it can watch nothing at all.
type Watcher interface {
	Watch(ctx context.Context, changed func()) error
}

// Holder is a gate that keeps others out while the run lives. Hold is called under
// the claim, after the last Ask and before the start. What is held is let go when
// the run's supervisor and its tree are gone. The returned function, nil if nothing
// is held, lets go at once, for a start that did not happen.
type Holder interface {
	Hold(ctx context.Context, a Ask, run Run) (Answer, func(context.Context))
}

// Run is the run that a Holder holds something for.
type Run struct {
	ID         string
	Supervisor slot.Process
	Slug       string // of the ref, under which the registry has it; Hold fills it in
	State      string // the state folder with the registry
}

// OnError says what a gate that could not find out means.
type OnError struct {
	// Closed: it defers. Otherwise the work goes on, and the evidence says so.
	Closed bool
	// For bounds Closed: when the gate has failed for this ref without a break for
	// that long, the work goes on. Zero: for ever. It is for sources that are down: an
	// answer that is Lasting is no such failure.
	For time.Duration
}

// Memory keeps since when a gate has failed for a ref, for OnError.For, across
// processes.
type Memory interface {
	// Failed notes a failure now and returns when the unbroken row of them began.
	Failed(ctx context.Context, gate string, ref slot.Ref, now time.Time) (time.Time, error)
	// Answered ends the row.
	Answered(ctx context.Context, gate string, ref slot.Ref) error
}

// Evidence is one gate's part in a decision.
type Evidence = slot.Finding

// Decision is what a Set says. One whose context ended before all gates had
// answered is Defer: an ask that was cut off starts nothing.
type Decision struct {
	Verdict  slot.Verdict // Proceed, Defer or Skip
	Reason   string       // of the gate that decided; empty with Proceed
	Detail   string
	Until    time.Time // of Defer: when to look again
	Evidence []Evidence
	// Head is the head commit of the pull request, if a gate read it: what the worker
	// is to work on. Events may name another.
	Head string
	// Skipped maps the ids of events that some gate ended to its answer, while
	// others of the same item may go on. With Skip all of them are over.
	Skipped map[string]Answer
}

// Related says what else belongs to the same piece of work, if a gate that let it
// pass knows of any: the issues that a pull request closes.
func (d Decision) Related() string {
	for _, e := range d.Evidence {
		if e.Verdict == slot.Proceed && e.Reason == relatedReason {
			return e.Detail
		}
	}
	return ""
}

// relatedReason is how open_pr lets a pull request pass.
const relatedReason = "open_pr: a pull request"
