package gate_test

import (
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

func TestC42_OutsidersStartNothing(t *testing.T) {
	g := gate.NewTrust(gate.Trust{
		Associations: []string{"owner", "member", "collaborator"},
		Logins:       []string{"Carol"},
		Bots:         []string{"helper", "12345"},
	})
	public, private := true, false
	by := func(actor, association string) slot.Facts {
		return slot.Facts{Actor: actor, Association: association, Public: &public}
	}
	with := func(f slot.Facts, author string) slot.Facts { f.Author = author; return f }
	for _, c := range []struct {
		name  string
		path  string
		kind  slot.EventKind
		facts slot.Facts
		skip  string // the words of a refusal; empty: it goes on
	}{
		{"/run by none", "webhook", slot.Command, by("mallory", "NONE"), "command by mallory (NONE)"},
		{"/run by a first-timer", "webhook", slot.Command, by("eve", "FIRST_TIME_CONTRIBUTOR"), "eve (FIRST_TIME_CONTRIBUTOR)"},
		{"/run by a contributor", "webhook", slot.Command, by("eve", "contributor"), "eve (contributor)"},
		{"/run by a member", "webhook", slot.Command, by("ann", "MEMBER"), ""},
		{"/run by a named login", "webhook", slot.Command, by("carol", "none"), ""},
		{"/run by a bot", "webhook", slot.Command, slot.Facts{Actor: "spam[bot]", Bot: true, Association: "member"}, "spam[bot] (a bot)"},
		{"/run by a named bot", "webhook", slot.Command, slot.Facts{Actor: "Helper[bot]", Bot: true}, ""},
		{"/run by a named app", "webhook", slot.Command, slot.Facts{Actor: "x[bot]", Bot: true, App: "12345"}, ""},
		{"a label by a triager", "webhook", slot.Labeled, with(by("tim", ""), "eve"), ""},
		{"a label by who opened it, from a template", "webhook", slot.Labeled, with(by("Eve", "none"), "eve"), "labeled by Eve (none)"},
		{"that of a member", "webhook", slot.Labeled, with(by("ann", "member"), "ann"), ""},
		{"closed by somebody with rights", "webhook", slot.Closed, with(by("tim", ""), "eve"), ""},
		{"opened again by its author", "webhook", slot.Reopened, with(by("eve", "none"), "eve"), "reopened by eve (none)"},
		{"a label by a robot", "webhook", slot.Labeled, with(slot.Facts{Actor: "sorter[bot]", Bot: true}, "eve"), ""},
		{"closed by a robot that nobody named", "webhook", slot.Closed, with(slot.Facts{Actor: "stale[bot]", Bot: true}, "eve"), "stale[bot] (a bot)"},
		{"merged", "webhook", slot.Merged, with(by("tim", ""), "eve"), ""},
		{"nothing is known of who", "webhook", slot.Commented, slot.Facts{}, "by somebody (no association is known)"},
		{"not known to be public", "webhook", slot.Opened, slot.Facts{Actor: "eve", Association: "none"}, "opened by eve"},
		{"private", "webhook", slot.Command, slot.Facts{Actor: "eve", Association: "none", Public: &private}, ""},
		{"a push by a stranger", "webhook", slot.Pushed, by("eve", ""), "pushed by eve"},
		{"a check of the repository", "webhook", slot.CIFailed, by("ci", ""), ""},
		{"a check of a fork", "webhook", slot.CIFailed, slot.Facts{Fork: true, Actor: "carol", Author: "eve"}, "eve (from a fork)"},
		{"a check of a trusted fork", "webhook", slot.CIFailed, slot.Facts{Fork: true, Author: "carol"}, ""},
		{"a fork's check of nobody knows whom", "poll", slot.CIFailed, slot.Facts{Fork: true}, "somebody (from a fork)"},
		{"a check that the poll found", "poll", slot.CIFailed, slot.Facts{Author: "eve", Public: &public}, ""},
		{"a conflict that the poll found", "poll", slot.Conflict, slot.Facts{Author: "eve", Public: &public}, ""},
		{"a conflict of a fork", "poll", slot.Conflict, slot.Facts{Fork: true, Author: "eve", Public: &public}, "conflict by eve (from a fork)"},
		{"that of a trusted author", "poll", slot.Conflict, slot.Facts{Fork: true, Author: "carol", Public: &public}, ""},
		{"in private, too", "poll", slot.Conflict, slot.Facts{Fork: true, Author: "eve", Public: &private}, ""},
		{"a sweep over all that is open", "poll", slot.Scheduled, slot.Facts{Author: "eve", Public: &public}, ""},
		{"a comment of nobody knows whom, by poll", "poll", slot.Commented, slot.Facts{Author: "ann", Public: &public}, "by somebody (no association"},
		{"a command that the poll found", "poll", slot.Command, by("mallory", "none"), "command by mallory (none)"},
		{"one by a member", "poll", slot.Command, by("ann", "member"), ""},
		{"a fork's check that the poll found", "poll", slot.CIFailed, slot.Facts{Fork: true, Author: "eve"}, "eve (from a fork)"},
		{"an assignment that the poll found", "poll", slot.Assigned, slot.Facts{Author: "eve", Public: &public}, "assigned by somebody, maybe eve"},
		{"reopened, and the poll knows not by whom", "poll", slot.Reopened, slot.Facts{Author: "eve", Public: &public}, "reopened by somebody, maybe eve"},
		{"closed, likewise", "poll", slot.Closed, slot.Facts{Author: "eve", Public: &public}, "closed by somebody"},
		{"asked for a review, likewise", "poll", slot.ReviewRequested, slot.Facts{Author: "eve", Public: &public}, "review_requested by somebody"},
		{"labelled, likewise", "poll", slot.Labeled, slot.Facts{Author: "eve", Public: &public}, "labeled by somebody"},
		{"of a trusted author's, likewise", "poll", slot.Reopened, slot.Facts{Author: "carol", Public: &public}, ""},
		{"in private, likewise", "poll", slot.Reopened, slot.Facts{Author: "eve", Public: &private}, ""},
		{"merged, likewise", "poll", slot.Merged, slot.Facts{Author: "eve", Public: &public}, ""},
		{"the sweep", "sweep", slot.Opened, slot.Facts{}, ""},
		{"a person at a shell", "manual", slot.Manual, slot.Facts{}, ""},
		{"an API token", "api", slot.Manual, slot.Facts{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ask := gate.Ask{Ref: ref(t, "github.com/o/r#1"), Events: []slot.Event{{ID: "e1", Path: c.path, Kind: c.kind, Facts: c.facts}}}
			d := gate.NewSet(newClock(), nil, gate.Entry{Gate: g}).Decide(t.Context(), ask)
			if c.skip == "" {
				if d.Verdict != slot.Proceed || len(d.Skipped) != 0 {
					t.Errorf("%+v", d)
				}
				return
			}
			// A refusal is a skip with its reason: no failure, and nothing is claimed.
			if d.Verdict != slot.Skip || d.Reason != "trust: not trusted" || !strings.Contains(d.Detail, c.skip) {
				t.Errorf("%+v", d)
			}
		})
	}
}

// A stranger's comment does not take a member's with it.
func TestC42_EachEventIsJudgedAlone(t *testing.T) {
	g := gate.NewTrust(gate.Trust{Associations: []string{"member"}})
	d := gate.NewSet(newClock(), nil, gate.Entry{Gate: g}).Decide(t.Context(), gate.Ask{Events: []slot.Event{
		{ID: "1", Path: "webhook", Kind: slot.Commented, Facts: slot.Facts{Association: "none"}},
		{ID: "2", Path: "webhook", Kind: slot.Commented, Facts: slot.Facts{Association: "member"}},
	}})
	if _, out := d.Skipped["1"]; d.Verdict != slot.Proceed || len(d.Skipped) != 1 || !out {
		t.Errorf("%+v", d)
	}
	wants(t, g.Ask(t.Context(), gate.Ask{}), slot.Proceed, "") // `oneslot run` has no events
}
