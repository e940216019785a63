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
	return fmt.Sprintf("none of the %d refs is free", len(e.refusals))
}

// Unwrap gives the refusals, so that their kind decides the exit code.
func (e *noneFree) Unwrap() []error { return e.refusals }

// inquiry is what a refusal does not say of itself.
type inquiry struct {
	store string // the one that was asked
	what  string // what did not happen to the ref: it is not started, not claimed
}

// explain tells a refusal to a person who was woken by it: who, since when, for
// how long, according to whom, and what to do now.
func explain(w io.Writer, err error, by inquiry, now time.Time) {
	var none *noneFree
	var busy *slot.BusyError
	var deferred *slot.DeferError
	var skipped *slot.SkipError
	var line string
	var each, rows [][]string
	switch {
	case errors.As(err, &none):
		line = none.Error()
		for _, e := range none.refusals {
			each = append(each, inShort(e, by, now))
		}
		rows = [][]string{{"store", by.store}, {"next", "ask again later, wait for one of them with `run REF --on-busy wait`, or see `oneslot why REF`"}}
	case errors.As(err, &busy):
		line, rows = busyLine(busy), busyRows(busy, now)
	case errors.As(err, &skipped):
		line = skipLine(skipped)
		rows = [][]string{{"store", by.store}, {"next", "nothing; `oneslot run --force --reason TEXT` starts all the same"}}
	case errors.As(err, &deferred):
		line, rows = deferLine(deferred, by.what), deferRows(deferred, by, now)
	}
	fmt.Fprintf(w, "oneslot: %s\n", line)
	table(w, "  ", each) //nolint:errcheck // nobody is left to tell
	table(w, "  ", rows) //nolint:errcheck // as before
}

// inShort is a refusal in one row: of which ref, why, and until when.
func inShort(err error, by inquiry, now time.Time) []string {
	var busy *slot.BusyError
	var deferred *slot.DeferError
	var skipped *slot.SkipError
	switch {
	case errors.As(err, &busy) && busy.Claim.ID != "":
		return []string{busyLine(busy), "since " + since(busy.Claim.Since, now), "until " + until(busy.Claim, now)}
	case errors.As(err, &busy):
		return []string{busyLine(busy)}
	case errors.As(err, &skipped):
		return []string{skipLine(skipped)}
	case errors.As(err, &deferred):
		row := []string{deferLine(deferred, by.what)}
		if deferred.Hold != nil {
			row = append(row, "since "+since(deferred.Hold.At, now))
		}
		return row
	}
	return []string{clean(err.Error())}
}

func skipLine(e *slot.SkipError) string {
	return fmt.Sprintf("there is nothing to do for %s: %s", e.Ref, clean(because(e.Reason, e.Detail)))
}

// deferLine is the first line: what does not happen, and why.
func deferLine(e *slot.DeferError, what string) string {
	why := e.Detail
	switch {
	case e.Unknown():
		why = "the gate " + e.Evidence[len(e.Evidence)-1].Gate + " could not find out: " + e.Detail
	case e.Evidence != nil: // a gate's reason says more than its name
		why = because(e.Reason, e.Detail)
	}
	return fmt.Sprintf("%s is not %s: %s", e.Ref, what, clean(why))
}

func deferRows(e *slot.DeferError, by inquiry, now time.Time) (rows [][]string) {
	again := "ask again later"
	switch {
	case e.Hold != nil:
		rows = append(rows, []string{"since", since(e.Hold.At, now)})
	case e.Evidence != nil && e.Until.After(now):
		again = "ask again then"
		rows = append(rows, []string{"again", fmt.Sprintf("worth a try at %s (in %s)", when(e.Until), span(e.Until.Sub(now)))})
	}
	if by.store != "" {
		rows = append(rows, []string{"store", by.store})
	}
	see := "see `oneslot why " + quote(e.Ref.String()) + "`"
	switch {
	case e.Hold != nil:
		return append(rows, []string{"next", unholds(e.Hold.Scope) + " ends the hold; --force does not pass it"})
	case by.what == started:
		return append(rows, []string{"next", again + ", wait with `run --on-busy wait`, " + see + ", or pass it with `run --force --reason TEXT`"})
	}
	return append(rows, []string{"next", again + ", or " + see})
}

// What does not happen to a ref that is refused.
const (
	started = "started"
	claimed = "claimed"
)

// explainUnknown tells that nobody knows whether a slot is free, so that it was not
// taken.
func explainUnknown(w io.Writer, ref slot.Ref, err error, what string) {
	rows := [][]string{{"asked", clean(err.Error())}}
	if what == "" {
		fmt.Fprintf(w, "oneslot: it could not be found out whether %s is free\n", ref)
		rows = append(rows, []string{"next", "mend that (`oneslot doctor`), or ask again"})
	} else {
		fmt.Fprintf(w, "oneslot: %s is not %s: it could not be found out whether it is free\n", ref, what)
		rows = append(rows, []string{"next", "nothing was started; mend that (`oneslot doctor`), or ask again"})
	}
	table(w, "  ", rows) //nolint:errcheck // nobody is left to tell
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

func busyRows(e *slot.BusyError, now time.Time) (rows [][]string) {
	c := e.Claim
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
	return append(rows, []string{"next", nextStep(e, quote(e.Ref.String()))})
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
	return ref + " is held by " + clean(e.Claim.Who())
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
