package claim

import (
	"fmt"

	"github.com/oneslot/oneslot/internal/slot"
)

// Granted is the decision that goes with a granted request.
func Granted(req Request, fence int64, displaced *slot.Claim, reason, detail string) slot.Decision {
	d := slot.Decision{
		Ref: req.Ref, Path: req.Holder.Path, Verdict: slot.Proceed, Reason: reason, Detail: detail,
		Fence: fence, Run: req.Run,
	}
	if displaced != nil {
		d.Detail = join("it was held by "+displaced.Who(), detail)
	}
	if req.Kind == slot.Detached {
		d.Next = "held until it is released or expires"
	} else {
		d.Next = "the worker starts"
	}
	return d
}

// Covered is the decision on a ref whose slot was taken together with that of c.
func Covered(ref slot.Ref, c slot.Claim) slot.Decision {
	return slot.Decision{
		Ref: ref, Path: c.Holder.Path, Verdict: slot.Proceed, Reason: slot.ReasonCovered, Detail: "with " + c.Ref.String(),
		Next: "held for as long as the claim of " + c.Ref.String() + " lives", Fence: c.Fence, Run: c.Run,
	}
}

// Uncovered is the decision on a ref that c covered, at its end: closed is that on c.
func Uncovered(ref slot.Ref, c slot.Claim, closed slot.Decision) slot.Decision {
	closed.Ref, closed.Detail = ref, join("with "+c.Ref.String(), closed.Detail)
	return closed
}

// SetAside is the decision on a claim that was set aside by one of another ref.
func SetAside(c slot.Claim, by slot.Ref, reason, detail string) slot.Decision {
	return slot.Decision{
		Ref: c.Ref, Path: c.Holder.Path, Verdict: slot.Ended, Reason: reason, Detail: join("for a claim of "+by.String(), detail),
		Fence: c.Fence, Run: c.Run, Next: "the slot is free",
	}
}

// Shared tells why the claim c is in the way of req: it has the slot of, or covers,
// the ref.
func Shared(req Request, ref slot.Ref, c slot.Claim) string {
	how := "is held"
	if c.Ref != ref {
		how = "is covered by the claim of " + c.Ref.String()
	}
	switch {
	case ref != req.Ref:
		return "it goes together with " + ref.String() + ", which " + how
	case c.Ref != ref:
		return "it " + how
	}
	return ""
}

// Refused is the decision that goes with a busy or deferred request. It carries
// no times, so that equal refusals in a row are one record.
func Refused(req Request, err error) slot.Decision {
	d := slot.Decision{Ref: req.Ref, Path: req.Holder.Path, Verdict: slot.Defer}
	switch e := err.(type) {
	case *slot.BusyError:
		d.Reason, d.Fence, d.Run, d.Detail = e.Reason, e.Claim.Fence, e.Claim.Run, e.Detail
		if e.Claim.ID != "" {
			d.Detail = join(e.Claim.Who(), e.Detail)
		}
	case *slot.DeferError:
		d.Reason, d.Detail = e.Reason, e.Detail
	}
	switch {
	case req.Ticket != nil:
		d.Next = "the caller waits in line"
	case req.Queued:
		d.Next = "the work stays in the queue and is looked at again; no attempt is spent"
	default:
		d.Next = "nothing started; the caller was told and may ask again"
	}
	return d
}

// Closed is the decision that goes with the end of a claim.
func Closed(c slot.Claim, out slot.Outcome) slot.Decision {
	d := slot.Decision{
		Ref: c.Ref, Path: c.Holder.Path, Verdict: slot.Ended, Reason: string(out.Result), Detail: out.Reason,
		Fence: c.Fence, Run: c.Run, Next: "the slot is free",
	}
	switch {
	case out.Signal != "":
		d.Detail = join(out.Signal, out.Reason)
	case out.Exit != nil:
		d.Detail = join(fmt.Sprintf("exit %d", *out.Exit), out.Reason)
	}
	if out.Result == slot.Waits {
		d.Next = "the slot is kept for a person; release, takeover or --force ends that"
	}
	return d
}

// Cleared is the decision that goes with the end of a run that somebody else had to
// close: its supervisor did not.
func Cleared(r slot.Run, out slot.Outcome) slot.Decision {
	return slot.Decision{
		Ref: r.Ref, Path: r.Path, Verdict: slot.Ended, Reason: string(out.Result), Detail: out.Reason,
		Fence: r.Fence, Run: r.ID, Next: "nothing of it is left",
	}
}

func join(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + ": " + b
}
