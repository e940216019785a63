package slot

import "time"

// Verdict is the kind of a stored answer to "why did it (not) start?".
type Verdict string

const (
	Proceed Verdict = "proceed" // the claim was given
	Defer   Verdict = "defer"   // not now: nothing is lost, no attempt is spent
	Skip    Verdict = "skip"    // nothing to do
	Unknown Verdict = "unknown" // could not be found out, so nothing was started
	Ended   Verdict = "ended"   // a claim came to its end
)

// Reasons that oneslot itself gives. A gate's reason starts with the gate's type.
const (
	ReasonFree      = "free"      // nobody held the slot
	ReasonHeld      = "held"      // somebody holds the slot
	ReasonLine      = "line"      // free, but others wait before you
	ReasonHold      = "hold"      // a person paused the ref, its repository or everything
	ReasonCapacity  = "capacity"  // as many run as may run
	ReasonBreaker   = "breaker"   // this ref ran too often of late
	ReasonInside    = "inside"    // asked from inside the slot's own worker
	ReasonDead      = "dead"      // taken: its holder is dead
	ReasonExpired   = "expired"   // taken: its time to live was over
	ReasonForced    = "forced"    // taken by a person
	ReasonResumed   = "resumed"   // a waiting claim went back to work
	ReasonCovered   = "covered"   // held together with another ref, by its claim
	ReasonStopAsked = "stop"      // a person asked the run to stop
	ReasonUnstopped = "unstopped" // the earlier tree could not be stopped
	ReasonUnseen    = "unseen"    // expired, but its holder cannot be seen from here
)

// Decision is one stored verdict. Equal verdicts in a row are one record with a
// count and the time of the last.
type Decision struct {
	Ref     Ref
	At      time.Time // of the first of Count
	LastAt  time.Time
	Count   int
	Path    string
	Verdict Verdict
	Reason  string
	Detail  string // evidence: who holds it, what was found
	Next    string // what happens next, for people
	Fence   int64
	Run     string
}

// Everything is the scope of a hold on all refs, keys too.
const Everything = "*"

// Hold is a person's pause of a ref, of a repository or of everything.
type Hold struct {
	Scope  string // canonical ref, host/owner/repo, or Everything
	Reason string
	By     string
	At     time.Time
}

// String says who paused what, and why.
func (h Hold) String() string {
	s := ScopeName(h.Scope) + " is on hold by " + h.By
	if h.Reason != "" {
		s += ": " + h.Reason
	}
	return s
}

// ScopeName is a scope as people read it.
func ScopeName(scope string) string {
	if scope == Everything {
		return "everything"
	}
	return scope
}

// Paused is the hold that keeps the ref from being claimed, if any: its own before
// its repository's before that on everything.
func (r Ref) Paused(holds []Hold) *Hold {
	var first *Hold
	for i, h := range holds {
		if r.Within(h.Scope) && (first == nil || len(h.Scope) > len(first.Scope)) {
			first = &holds[i]
		}
	}
	return first
}

// Within reports whether the ref is what a scope names, or in it.
func (r Ref) Within(scope string) bool {
	return !r.IsZero() && (scope == Everything || scope == r.String() || scope == r.Repo())
}
