package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// noneFree refuses a list of refs: each for its own reason.
type noneFree struct{ refusals []error }

func (e *noneFree) Error() string {
	lines := make([]string, len(e.refusals))
	for i, r := range e.refusals {
		lines[i] = "  " + clean(r.Error())
	}
	return fmt.Sprintf("none of the %d refs is free:\n%s", len(e.refusals), strings.Join(lines, "\n"))
}

// Unwrap gives the refusals, so that their kind decides the exit code.
func (e *noneFree) Unwrap() []error { return e.refusals }

// explain tells a refusal to a person who was woken by it: who, since when, for
// how long, according to whom, and what to do now.
func explain(w io.Writer, err error, now time.Time) {
	var none *noneFree
	var busy *slot.BusyError
	var deferred *slot.DeferError
	var skipped *slot.SkipError
	switch {
	case errors.As(err, &none):
		fmt.Fprintln(w, "oneslot:", none)
	case errors.As(err, &busy):
		explainBusy(w, busy, now)
	case errors.As(err, &skipped):
		fmt.Fprintf(w, "oneslot: there is nothing to do for %s: %s\n", skipped.Ref, clean(because(skipped.Reason, skipped.Detail)))
		table(w, "  ", [][]string{{"next", "nothing; `oneslot run --force --reason TEXT` starts all the same"}}) //nolint:errcheck // nobody is left to tell
	case errors.As(err, &deferred):
		why := deferred.Detail
		if deferred.Evidence != nil { // a gate's reason says more than its name
			why = because(deferred.Reason, deferred.Detail)
		}
		fmt.Fprintf(w, "oneslot: %s is not started: %s\n", deferred.Ref, clean(why))
		if at := deferred.Until; deferred.Evidence != nil && at.After(now) {
			table(w, "  ", [][]string{{"again", fmt.Sprintf("worth a try at %s (in %s)", when(at), span(at.Sub(now)))}}) //nolint:errcheck // nobody is left to tell
		}
		if deferred.Hold != nil {
			table(w, "  ", [][]string{ //nolint:errcheck // nobody is left to tell
				{"since", since(deferred.Hold.At, now)},
				{"next", "`oneslot unhold " + quote(deferred.Hold.Scope) + "` ends the hold; --force does not pass it"},
			})
		}
	}
}

// because is a gate's reason with its evidence, which may say the same in more words.
func because(reason, detail string) string {
	gate, words, ok := strings.Cut(reason, ": ")
	switch {
	case detail == "":
		return reason
	case ok && strings.HasPrefix(detail, words):
		return gate + ": " + detail
	}
	return reason + ": " + detail
}

func explainBusy(w io.Writer, e *slot.BusyError, now time.Time) {
	c, ref := e.Claim, quote(e.Ref.String())
	fmt.Fprintf(w, "oneslot: %s\n", busyLine(e))
	var rows [][]string
	if e.Detail != "" {
		rows = append(rows, []string{"seen", clean(e.Detail)})
	}
	if c.ID != "" {
		rows = append(rows,
			[]string{"since", since(c.Since, now)},
			[]string{"renewed", since(c.RenewedAt, now)},
			[]string{"until", until(c, now)},
			[]string{"fence", fmt.Sprint(c.Fence)},
			[]string{"claim", c.ID},
		)
	}
	if e.Place != nil && e.Place.Ahead > 0 {
		rows = append(rows, []string{"line", fmt.Sprintf("%d wait in line", e.Place.Ahead)})
	}
	if e.Store != "" {
		rows = append(rows, []string{"store", e.Store})
	}
	rows = append(rows, []string{"next", nextStep(e, ref)})
	table(w, "  ", rows) //nolint:errcheck // nobody is left to tell
}

// busyLine is the first line: what is held, and by whom.
func busyLine(e *slot.BusyError) string {
	ref := e.Ref.String()
	switch e.Reason {
	case slot.ReasonLine:
		return ref + " is free, but others wait in line for it"
	case slot.ReasonInside:
		return ref + " is held by the run that this command is part of, and waiting for it would never end"
	case slot.ReasonUnstopped:
		return ref + " was claimed, but what an earlier run left cannot be stopped; nothing was started"
	}
	if e.Claim.ID == "" {
		return ref + " is held"
	}
	return ref + " is held by " + clean(e.Claim.Holder.String())
}

func nextStep(e *slot.BusyError, ref string) string {
	switch {
	case e.Reason == slot.ReasonInside:
		return "work without a second claim, or on another ref"
	case e.Reason == slot.ReasonUnstopped:
		return "end those processes as their user, or wait for them"
	case e.Claim.Kind == slot.Waiting:
		return "it waits for a person: `oneslot run --force --reason TEXT " + ref + " -- CMD` goes on with it, `oneslot takeover " + ref + " --reason TEXT` ends it"
	}
	return "ask again later, wait with `run --on-busy wait`, see `oneslot why " + ref + "`, or end it with `oneslot stop " + ref + "`"
}

// until says when a claim ends by itself. The store's clock decided how much is
// left; the wall clock only writes it down.
func until(c slot.Claim, now time.Time) string {
	switch {
	case c.Kind == slot.Waiting:
		return "somebody decides"
	case c.Bound:
		return fmt.Sprintf("process %d ends", c.Holder.Process.PID)
	case c.Expired():
		return "overdue since " + when(c.ExpiresAt)
	}
	return fmt.Sprintf("%s (in %s), unless it is renewed", when(now.Add(c.Left)), span(c.Left))
}

// holdText says who paused what, and why.
func holdText(h slot.Hold) string {
	s := h.Scope + " is on hold by " + h.By
	if h.Reason != "" {
		s += ": " + h.Reason
	}
	return s
}

// quote makes a word safe to paste into a shell.
func quote(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@=+,#", r))
	})
	if plain {
		return s
	}
	return forceQuote(s)
}

// forceQuote writes s as one word of a shell, in single quotes.
func forceQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
