package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// history tells decisions in words, a row each.
func history(list []slot.Decision, runs []slot.Run, now time.Time) [][]string {
	by := map[string]string{}
	for _, r := range runs {
		by[r.ID] = r.Holder.Command
	}
	var rows [][]string
	for _, d := range list {
		rows = append(rows, []string{timeOfDay(d.At, now), clean(verdictText(d, now)), clean(detailText(d, by[d.Run]))})
	}
	return rows
}

// timeOfDay is a time of day, with the day if it was not today.
func timeOfDay(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

// verdictText is what was decided, why, and how often.
func verdictText(d slot.Decision, now time.Time) string {
	word := string(d.Verdict)
	switch d.Verdict {
	case slot.Proceed:
		word = "started"
		switch {
		case d.Reason == "related" || strings.Contains(d.Reason, ": "): // what a gate had to say beside it
			word = "noted"
		case d.Run == "":
			word = "claimed"
		}
		if d.Reason == slot.ReasonHold {
			return "hold ended"
		}
	case slot.Defer:
		word = "deferred"
		if strings.Contains(d.Next, "the caller") { // there was one, and it went away without
			word = "refused"
		}
		if d.Reason == slot.ReasonHold && strings.HasPrefix(d.Detail, "put on hold") {
			return "put on hold"
		}
	case slot.Skip:
		word = "skipped"
		if strings.Contains(d.Next, "dead letters") {
			word = "given up"
		}
	case slot.Unknown:
		word = "not started"
	case slot.Ended:
		if d.Reason == slot.ReasonStopAsked {
			return "asked to stop"
		}
	}
	s := word + " (" + d.Reason + ")"
	if d.Count > 1 {
		s = fmt.Sprintf("%s x%d (%s), last %s", word, d.Count, d.Reason, timeOfDay(d.LastAt, now))
	}
	return s
}

// detailText is who asked, the evidence, and what came next.
func detailText(d slot.Decision, command string) string {
	s := d.Path
	switch {
	case d.Verdict == slot.Defer && d.Run != "" && d.Reason == slot.ReasonHeld:
		who, more, _ := strings.Cut(d.Detail, ": ")
		s += fmt.Sprintf(": %s has it, run %s", who, d.Run)
		if more != "" {
			s += "; " + more
		}
	case d.Run != "":
		about := "run " + d.Run
		if command != "" && d.Verdict == slot.Proceed {
			about += " by " + command
		}
		s = about + ", " + s
		if d.Detail != "" {
			s += ": " + d.Detail
		}
	case d.Detail != "":
		s += ": " + d.Detail
	}
	if d.Next != "" {
		s += " — " + d.Next
	}
	return s
}
