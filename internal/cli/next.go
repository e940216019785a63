package cli

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// nextFor says what happens next with a slot, by whom, and when.
func nextFor(a *app.App, s claim.Slot, work []queue.Item, now time.Time) string {
	live := s.Live()
	switch {
	case live != nil:
		return nextHeld(a, s, work, now)
	case s.Hold != nil:
		return unheld(s.Hold)
	case s.Waiting > 0:
		return "the head of the line starts"
	}
	if next := nextWork(a, work, now); next != "" {
		return next
	}
	if l := a.Config.Limits; len(a.Config.Gates) > 0 || l.Running.V+l.PerRepo.V > 0 {
		return "whoever asks first gets it, if no gate says no (`oneslot peek " + quote(s.Ref.String()) + "` asks them)"
	}
	return "whoever asks first gets it"
}

func unheld(h *slot.Hold) string {
	return "nothing starts until " + unholds(h.Scope)
}

// nextWork says what becomes of the work that waits for a free slot; empty if there
// is none.
func nextWork(a *app.App, work []queue.Item, now time.Time) string {
	it, ok := firstWork(work)
	if !ok {
		return ""
	}
	ref, name := quote(it.Ref.String()), "its work by "+ruleName(it.Policy)
	if it.State == queue.Dead {
		return "nothing by itself: something new must come, or " + again(it) + "; `oneslot drop " + ref + " --reason TEXT` ends it"
	}
	if nobody := unworked(a, it.Ref); nobody != "" {
		return nobody
	}
	if it.Reason == slot.ReasonCapacity {
		return name + " starts when a run that takes its place ends (`oneslot status` lists them)"
	}
	at := "now"
	if it.Due.After(now) {
		at = "in " + span(it.Due.Sub(now))
	}
	switch it.Reason {
	case queue.ReasonQuiet, queue.ReasonRetry, queue.ReasonLater, queue.ReasonFollowUp, queue.ReasonRevived:
		return fmt.Sprintf("%s starts %s (%s), if no gate says no then; `oneslot retry %s` has it looked at now", name, at, reasonText(it), ref)
	}
	return fmt.Sprintf("%s is looked at again %s (%s)", name, at, reasonText(it))
}

// firstWork is the work that is looked at first; what was given up comes after all else.
func firstWork(work []queue.Item) (it queue.Item, ok bool) {
	work = slices.DeleteFunc(slices.Clone(work), func(it queue.Item) bool {
		return it.State != queue.Pending && it.State != queue.Dead
	})
	if len(work) == 0 {
		return it, false
	}
	return slices.MinFunc(work, func(a, b queue.Item) int {
		if a.State != b.State {
			return cmp.Compare(b.State, a.State) // "pending" before "dead"
		}
		return a.Due.Compare(b.Due)
	}), true
}

// again is what a person can do for work that was given up.
func again(it queue.Item) string {
	if it.Reason == queue.ReasonRule {
		return "its rule must be there again and then `oneslot retry " + quote(it.Ref.String()) + "`"
	}
	return "`oneslot retry " + quote(it.Ref.String()) + "` gives it a fresh budget"
}

// unworked says why nobody looks at what waits for a ref; empty if somebody does.
func unworked(a *app.App, ref slot.Ref) string {
	switch pid, err := a.Daemon(); {
	case err != nil:
		return ""
	case pid == 0:
		return "no daemon is there to look at it: start `oneslot serve`, or `oneslot dispatch --wait " + quote(ref.String()) + "`"
	case daemonStopped(a, pid):
		return fmt.Sprintf("the daemon, pid %d, is stopped (SIGSTOP) and looks at nothing: `kill -CONT %d` has it go on", pid, pid)
	}
	return ""
}

// daemonStopped reports whether the daemon is seen to be stopped. Another host's is not seen.
func daemonStopped(a *app.App, pid int) bool {
	if a.Server != nil {
		return false
	}
	p, err := proc.Identify(pid)
	return err == nil && proc.Look(p).Stopped
}

// nextHeld is nextFor for a slot that somebody has.
func nextHeld(a *app.App, s claim.Slot, work []queue.Item, now time.Time) string {
	ref, live := quote(s.Ref.String()), s.Live()
	d, reason, _ := claim.Judge(app.Sight{}, *live)
	then := "whoever asks then gets it"
	switch it, ok := firstWork(work); {
	case s.Hold != nil:
		then = unheld(s.Hold)
	case s.Waiting > 0:
		then = fmt.Sprintf("the head of the line (%d waiting) starts", s.Waiting)
	case ok && it.State == queue.Pending:
		then = "its work by " + ruleName(it.Policy) + " is looked at"
		if nobody := unworked(a, it.Ref); nobody != "" {
			then = nobody
		}
	}
	gone := d != nil || a.Ender().Overtaken(*live)
	over := ended(*live) && live.Kind == slot.Supervised
	switch {
	case over && !gone:
		return "its supervisor gives the slot back, and " + then
	case gone && s.Hold != nil:
		return then
	case over:
		return "the next one who asks clears what its run left on record, and gets the slot"
	case gone:
		return "the next one who asks takes it, after ending what is left of it"
	case reason == slot.ReasonUnseen:
		return "it is kept until its holder gives it back, or a person says `oneslot takeover " + ref + " --reason TEXT`"
	case live.Kind == slot.Waiting:
		return "it is kept for a person until " + when(live.ExpiresAt) + "; `oneslot takeover " + ref + " --reason TEXT` ends that"
	case live.StopReason != "":
		return "its tree is being ended; then " + then
	case live.Kind == slot.Detached:
		return "it is kept until it is released, or until " + until(*live, now) + "; then " + then
	case stopped(*live):
		return fmt.Sprintf("its supervisor is stopped (SIGSTOP): unless `kill -CONT %d` has it go on, the next one who asks after %s ends it and takes the slot",
			live.Holder.Process.PID, when(live.ExpiresAt))
	}
	return "it is renewed while its worker lives; when that ends, " + then + " (`oneslot stop " + ref + "` ends it now)"
}

// stopped reports whether the process of a claim is seen to be stopped.
func stopped(c slot.Claim) bool {
	return !c.Holder.Process.IsZero() && proc.Look(c.Holder.Process).Stopped
}
