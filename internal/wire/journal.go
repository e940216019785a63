package wire

import (
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Run is slot.Run.
type Run struct {
	Run        string        `json:"run"`
	Ref        slot.Ref      `json:"ref"`
	Rule       *string       `json:"rule"`
	Path       string        `json:"path"`
	Claim      string        `json:"claim"`
	Fence      int64         `json:"fence"`
	State      slot.RunState `json:"state"`
	Outcome    *Outcome      `json:"outcome"`
	Holder     slot.Holder   `json:"holder"`
	Dir        *string       `json:"dir"`
	StartedAt  *time.Time    `json:"started_at"`
	EndedAt    *time.Time    `json:"ended_at"`
	TreeGoneAt *time.Time    `json:"tree_gone_at"`
}

// FromRun makes the shape of a run.
func FromRun(r slot.Run) Run {
	return Run{
		Run: r.ID, Ref: r.Ref, Rule: some(r.Rule), Path: r.Path, Claim: r.Claim, Fence: r.Fence, State: r.State,
		Outcome: fromOutcome(r.Outcome), Holder: r.Holder, Dir: some(r.Dir),
		StartedAt: at(r.StartedAt), EndedAt: at(r.EndedAt), TreeGoneAt: at(r.TreeGoneAt),
	}
}

// Slot gives the run back.
func (r Run) Slot() slot.Run {
	return slot.Run{
		ID: r.Run, Ref: r.Ref, Rule: textOf(r.Rule), Path: r.Path, Claim: r.Claim, Fence: r.Fence, State: r.State,
		Outcome: r.Outcome.Slot(), Holder: r.Holder, Dir: textOf(r.Dir),
		StartedAt: timeOf(r.StartedAt), EndedAt: timeOf(r.EndedAt), TreeGoneAt: timeOf(r.TreeGoneAt),
	}
}

// Runs lists runs.
type Runs struct {
	Runs []Run `json:"runs"`
}

// Decision is slot.Decision.
type Decision struct {
	Ref     slot.Ref     `json:"ref"`
	At      *time.Time   `json:"at,omitempty"` // of the first of Count; now, if left out
	LastAt  *time.Time   `json:"last_at,omitempty"`
	Count   int          `json:"count,omitempty"`
	Path    string       `json:"path"`
	Verdict slot.Verdict `json:"verdict"`
	Reason  string       `json:"reason"`
	Detail  string       `json:"detail"`
	Next    string       `json:"next"`
	Fence   int64        `json:"fence"`
	Run     *string      `json:"run"`
}

// FromDecision makes the shape of a decision.
func FromDecision(d slot.Decision) Decision {
	return Decision{Ref: d.Ref, At: at(d.At), LastAt: at(d.LastAt), Count: d.Count, Path: d.Path, Verdict: d.Verdict,
		Reason: d.Reason, Detail: d.Detail, Next: d.Next, Fence: d.Fence, Run: some(d.Run)}
}

// Slot gives the decision back.
func (d Decision) Slot() slot.Decision {
	return slot.Decision{Ref: d.Ref, At: timeOf(d.At), LastAt: timeOf(d.LastAt), Count: d.Count, Path: d.Path, Verdict: d.Verdict,
		Reason: d.Reason, Detail: d.Detail, Next: d.Next, Fence: d.Fence, Run: textOf(d.Run)}
}

// Decisions lists decisions, oldest first.
type Decisions struct {
	Decisions []Decision `json:"decisions"`
}

// Hold is slot.Hold.
type Hold struct {
	Scope  string     `json:"scope"` // a ref, a repository, or * for everything
	Reason string     `json:"reason"`
	By     string     `json:"by"`
	At     *time.Time `json:"at,omitempty"` // now, if left out
}

// FromHold makes the shape of a hold; nil is none.
func FromHold(h *slot.Hold) *Hold {
	if h == nil {
		return nil
	}
	return &Hold{h.Scope, h.Reason, h.By, at(h.At)}
}

// Slot gives the hold back; nil is none.
func (h *Hold) Slot() *slot.Hold {
	if h == nil {
		return nil
	}
	return &slot.Hold{Scope: h.Scope, Reason: h.Reason, By: h.By, At: timeOf(h.At)}
}

// Holds lists pauses by scope.
type Holds struct {
	Holds []Hold `json:"holds"`
}

// Unhold ends a pause.
type Unhold struct {
	Scope string `json:"scope"`
}

// Was says whether there was something to end.
type Was struct {
	Was bool `json:"was"`
}

// Prune drops what is older.
type Prune struct {
	Before time.Time `json:"before"`
}

// Number counts what something was done to.
type Number struct {
	Number int `json:"number"`
}

// OK answers a step that has nothing to tell.
type OK struct {
	OK bool `json:"ok"` // true
}
