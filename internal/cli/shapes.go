package cli

import (
	"errors"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
)

// States of a slot in JSON.
const (
	stateFree     = "free"
	stateHeld     = "held"
	stateDeferred = "deferred"
	stateSkipped  = "skipped"
	stateUnknown  = "unknown"
)

// reasonPending is the reason of a slot whose run has ended: the outcome is on
// disk, and the claim is about to be given back.
const reasonPending = "ended, release pending"

// slotView is a slot as peek, the refusals and status show it. The field names
// are fixed.
type slotView struct {
	Ref       string        `json:"ref"`
	State     string        `json:"state"`
	Reason    string        `json:"reason"`
	Holder    *holderView   `json:"holder"`
	Claim     *string       `json:"claim"`
	Fence     *int64        `json:"fence"`
	Since     *string       `json:"since"`
	RenewedAt *string       `json:"renewed_at"`
	ExpiresAt *string       `json:"expires_at"`
	Evidence  []gateFinding `json:"evidence"`
}

// holderView says who holds it. PID is null if no process is bound to the claim.
type holderView struct {
	Host    string `json:"host"`
	PID     *int   `json:"pid"`
	Path    string `json:"path"`
	Command string `json:"command"`
}

// gateFinding is what one gate, or the claim store, had to say.
type gateFinding struct {
	Gate    string  `json:"gate"`
	Verdict string  `json:"verdict"`
	Reason  string  `json:"reason"`
	Detail  *string `json:"detail"`
}

// viewOf judges a slot as a claim of it would, and takes nothing: a holder that
// is provably dead, or overdue and in sight, leaves it free. Evidence tells.
func viewOf(a *app.App, s claim.Slot) slotView {
	v := slotView{Ref: s.Ref.String(), State: stateFree, Reason: slot.ReasonFree, Evidence: []gateFinding{}}
	live := s.Live()
	if live != nil {
		v.fill(*live)
		v.judge(a, *live)
	} else if s.InLine(app.Sight{}) {
		v.State = stateHeld
		v.find("claim", slot.Defer, slot.ReasonLine, "it is free, but others wait in line for it")
	}
	if h := s.Hold; h != nil {
		v.State = stateDeferred
		v.find("hold", slot.Defer, slot.ReasonHold, h.String())
	}
	return v
}

// judge says whether the live claim is in the way.
func (v *slotView) judge(a *app.App, c slot.Claim) {
	for _, run := range a.Inside {
		if c.Run == run {
			v.State = stateHeld
			v.find("claim", slot.Defer, slot.ReasonInside, "this command is part of the run that holds it")
			return
		}
	}
	if a.Ender().Overtaken(c) {
		v.find("claim", slot.Proceed, slot.ReasonDead, "the machine was restarted since")
		return
	}
	if c.Kind == slot.Waiting && c.Expired() {
		v.find("claim", slot.Proceed, slot.ReasonExpired, "it has waited for a person for as long as it may")
		return
	}
	d, reason, detail := claim.Judge(a.Taker().Sight, c)
	if d != nil {
		v.find("claim", slot.Proceed, string(d.Why), d.Detail)
		return
	}
	v.State = stateHeld
	if reason == slot.ReasonHeld && ended(c) {
		reason, detail = reasonPending, "the run has ended and its outcome is on disk; its supervisor is about to give the slot back"
	}
	if detail == "" && stopped(c) {
		detail = "its process is stopped (SIGSTOP)"
	}
	v.find("claim", slot.Defer, reason, detail)
}

// ended reports that the run of a live claim has left its outcome. The worker can
// write to that folder too: one that lives has not ended, whatever it says there.
func ended(c slot.Claim) bool {
	if c.Dir == "" || c.Kind == slot.Waiting { // that one's run is closed
		return false
	}
	dir := rundir.At(c.Dir)
	if _, err := dir.Outcome(); err != nil {
		return false
	}
	id, err := dir.Identity()
	return err == nil && (id.Worker.IsZero() || proc.Look(id.Worker).Life == proc.Dead)
}

// fill puts the claim's record in.
func (v *slotView) fill(c slot.Claim) {
	v.Holder = &holderView{Host: c.Holder.Host, PID: number(c.Holder.Process.PID), Path: c.Holder.Path, Command: c.Holder.Command}
	v.Claim, v.Fence = text(c.ID), number(c.Fence)
	v.Since, v.RenewedAt, v.ExpiresAt = stamp(c.Since), stamp(c.RenewedAt), stamp(c.ExpiresAt)
}

// find adds a finding; the last one is the slot's reason.
func (v *slotView) find(gate string, verdict slot.Verdict, reason, detail string) {
	v.Reason = reason
	v.Evidence = append(v.Evidence, gateFinding{gate, string(verdict), reason, text(detail)})
}

// findAll adds what gates said; the last one is the slot's reason.
func (v *slotView) findAll(list []slot.Finding) {
	for _, f := range list {
		v.find(f.Gate, f.Verdict, f.Reason, f.Detail)
	}
}

// refusalView is a refusal, or an answer that could not be had, as an object.
func refusalView(ref slot.Ref, err error) slotView {
	v := slotView{Ref: ref.String(), State: stateUnknown, Evidence: []gateFinding{}}
	var busy *slot.BusyError
	var deferred *slot.DeferError
	var skipped *slot.SkipError
	switch {
	case errors.As(err, &busy):
		v.Ref, v.State = busy.Ref.String(), stateHeld
		if busy.Claim.ID != "" {
			v.fill(busy.Claim)
		}
		v.find("claim", slot.Defer, busy.Reason, busyDetail(busy))
	case errors.As(err, &deferred):
		v.Ref, v.State = deferred.Ref.String(), stateDeferred
		if deferred.Unknown() {
			v.State = stateUnknown
		}
		v.findAll(deferred.Evidence)
		if len(deferred.Evidence) == 0 {
			v.find(deferred.Reason, slot.Defer, deferred.Reason, deferred.Detail)
		}
	case errors.As(err, &skipped):
		v.Ref, v.State = skipped.Ref.String(), stateSkipped
		v.findAll(skipped.Evidence)
	default:
		v.find("claim", slot.Unknown, "unknown", err.Error())
	}
	return v
}

func busyDetail(e *slot.BusyError) string {
	if e.Detail != "" {
		return e.Detail
	}
	return e.Error()
}
