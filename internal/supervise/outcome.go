package supervise

import (
	"strings"
	"syscall"

	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
)

// finish is everything that the outcome of a run is made of.
type finish struct {
	status    *syscall.WaitStatus // nil: the worker's end was not seen
	end       *ending             // why we ended it, if we did
	released  slot.Result         // what the worker said when it released; empty if it did not
	said      rundir.Result
	complaint string // what was wrong with the result file
}

// outcome weighs what happened against what the worker says. What we did to it
// comes first; a crash beats its words; its words beat its exit code, but a
// non-zero exit beats "done".
func (f finish) outcome() slot.Outcome {
	out := slot.Outcome{
		Summary: f.said.Summary, PR: f.said.PR, CostUSD: f.said.CostUSD, Tokens: f.said.Tokens,
		RetryAfter: f.said.RetryAfter,
	}
	if f.status != nil {
		out.Exit, out.Signal = exitOf(*f.status)
	}
	word := f.said.Outcome
	if f.released != "" {
		word = f.released
	}
	switch {
	case f.end != nil:
		out.Result, out.Reason = f.end.result, f.end.reason
	case f.status == nil:
		out.Result, out.Reason = slot.Vanish, "the worker's end was not seen"
	case f.released != "": // it was done with the slot: we ended what was left
		out.Result = f.released
	case f.status.Signaled():
		out.Result = slot.Failed
	case word == slot.Later, word == slot.Waits, word == slot.Failed:
		out.Result = word
	case f.status.ExitStatus() == exitBusy:
		out.Result = slot.Later
	case f.status.ExitStatus() != 0:
		out.Result = slot.Failed
	default:
		out.Result = slot.Done
	}
	out.Reason = strings.Join(clean(out.Reason, f.complaint), "; ")
	return out
}

// code is what oneslot exits with.
func (f finish) code() int {
	switch {
	case f.end != nil && f.end.code != 0:
		return f.end.code
	case f.released != "":
		return 0
	case f.status == nil:
		return exitUnknown
	}
	return codeOf(*f.status)
}

func clean(words ...string) []string {
	var some []string
	for _, w := range words {
		if w != "" {
			some = append(some, w)
		}
	}
	return some
}
