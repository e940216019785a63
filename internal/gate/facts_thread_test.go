package gate_test

import (
	"testing"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

func TestC08_Closed(t *testing.T) {
	for _, c := range []struct {
		name   string
		state  string
		events []slot.Event
		want   slot.Verdict
		words  string
		over   []string
	}{
		{"open", forge.Open, []slot.Event{event(slot.Labeled)}, slot.Proceed, "closed: open", nil},
		{"C27 closed, and opened comes late", forge.Closed, []slot.Event{event(slot.Opened)}, slot.Skip, "closed: closed | closed as completed at 2026-03-03T12:00:00Z", []string{"opened"}},
		{"C27 merged", forge.Merged, []slot.Event{event(slot.Pushed), event(slot.Reopened)}, slot.Skip, "closed: merged", []string{"pushed", "reopened"}},
		{"by hand", forge.Closed, []slot.Event{{Kind: slot.Manual, Path: slot.PathManual}}, slot.Skip, "closed: closed", []string{"manual"}},
		{"oneslot run", forge.Closed, nil, slot.Skip, "closed: closed", nil},
		{"the end is wanted", forge.Merged, []slot.Event{event(slot.Merged)}, slot.Proceed, "closed: merged", nil},
		{"C01 one of both", forge.Merged, []slot.Event{event(slot.Merged), event(slot.Commented)}, slot.Proceed, "closed: merged", []string{"comment"}},
		{"a state that nobody knows", "locked", nil, slot.Defer, "the forge says locked", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := anIssue(t)
			f.thread.State, f.thread.Reason, f.thread.Closed = c.state, "completed", day(3)
			verdict(t, decide(t, gate.NewClosed(f), c.events...), c.want, c.words, c.over...)
		})
	}
}

// C40: a repository with a new name is where it was; an issue that went to another one
// is not.
func TestC40_Moved(t *testing.T) {
	for _, c := range []struct {
		name  string
		now   string
		id    string // of the thread's repository
		repo  forge.Repo
		want  slot.Verdict
		words string
	}{
		{"renamed", "github.com/octo/world#12", "7", forge.Repo{ID: "7", Name: "github.com/octo/world"}, slot.Proceed, "open"},
		{"renamed, no ids", "github.com/octo/world#12", "", forge.Repo{Name: "github.com/octo/world"}, slot.Proceed, "open"},
		{"moved", "github.com/octo/world#3", "8", forge.Repo{ID: "7", Name: hello}, slot.Skip, "closed: moved to github.com/octo/world#3"},
		{"moved, same number", "github.com/octo/world#12", "8", forge.Repo{ID: "7", Name: hello}, slot.Skip, "closed: moved to github.com/octo/world#12"},
		{"moved, same number, no ids", "github.com/octo/world#12", "", forge.Repo{Name: hello}, slot.Skip, "moved to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := anIssue(t)
			f.thread.Ref, f.thread.RepoID, f.repo = ref(t, c.now), c.id, c.repo
			verdict(t, decide(t, gate.NewClosed(f)), c.want, c.words)
			if c.want == slot.Skip { // whoever waits for its end waits there now
				verdict(t, decide(t, gate.NewClosed(f), event(slot.Closed)), c.want, c.words, "closed")
			}
		})
	}
}

func TestC04_HeadMoved(t *testing.T) {
	at := func(kind slot.EventKind, sha string) slot.Event {
		return slot.Event{ID: string(kind) + sha, Kind: kind, Sha: sha}
	}
	f := aPull(t)
	g := gate.NewHeadMoved(f)
	verdict(t, decide(t, g, at(slot.CIFailed, "aaa"), at(slot.Conflict, "")), slot.Proceed, "the head is aaa")
	verdict(t, decide(t, g, at(slot.CIFailed, "old")), slot.Skip, "head_moved: another head | the head is aaa, not ci_failed of old", "ci_failedold")
	verdict(t, decide(t, g, at(slot.CIFailed, "old"), at(slot.Conflict, "old"), at(slot.CIPassed, "old"), at(slot.Commented, "old"), at(slot.CIFailed, "AAA")),
		slot.Proceed, "another head", "ci_failedold", "conflictold", "ci_passedold")
	verdict(t, decide(t, g), slot.Proceed, "")
	// C30: the head is read also for a comment, which names none, and never asked of an issue.
	if d := decide(t, g, event(slot.Commented)); d.Head != "aaa" {
		t.Errorf("%+v", d)
	}
	f.thread.Head.Sha = ""
	verdict(t, decide(t, g), slot.Defer, "names no head")
	issue := anIssue(t)
	if d := decide(t, gate.NewHeadMoved(issue), event(slot.Commented)); d.Verdict != slot.Proceed || d.Head != "" || len(issue.asked) != 1 {
		t.Errorf("%+v, asked %v", d, issue.asked)
	}
}

func TestC41_Draft(t *testing.T) {
	f := aPull(t)
	g := gate.NewDraft(f)
	verdict(t, decide(t, g, event(slot.Opened)), slot.Proceed, "no draft")
	f.thread.Draft = true
	verdict(t, decide(t, g, event(slot.Opened), event(slot.CIFailed)), slot.Skip, "draft: a draft", "opened", "ci_failed")
	verdict(t, decide(t, g, event(slot.Ready)), slot.Proceed, "asked for")
	verdict(t, decide(t, g, event(slot.Command)), slot.Proceed, "asked for")
	verdict(t, decide(t, g, event(slot.Command), event(slot.Pushed)), slot.Proceed, "", "pushed")
	verdict(t, decide(t, g, slot.Event{Kind: slot.CIFailed, Path: slot.PathAPI}), slot.Proceed, "asked for")
	verdict(t, decideAs(t, g, slot.PathManual), slot.Proceed, "asked for") // `oneslot run` by a person
	verdict(t, decideAs(t, g, "timer"), slot.Skip, "draft: a draft")       // by another program
	f.thread.State = forge.Closed                                          // that is for the gate "closed"
	verdict(t, decide(t, g, event(slot.Closed)), slot.Proceed, "no draft")
}

func TestStillFailing(t *testing.T) {
	check := func(name, state string) forge.Check { return forge.Check{Name: name, State: state, App: "ci"} }
	failed := func(name string) slot.Event {
		return slot.Event{ID: "f " + name, Kind: slot.CIFailed, Path: slot.PathWebhook, Sha: "aaa", Facts: slot.Facts{Check: name}}
	}
	for _, c := range []struct {
		name   string
		checks []forge.Check
		events []slot.Event
		want   slot.Verdict
		words  string
		over   []string
	}{
		{"failing", []forge.Check{check("lint", forge.Failure)}, []slot.Event{failed("lint")}, slot.Proceed, "still_failing: failing | failing: lint", nil},
		{"passed", []forge.Check{check("lint", forge.Success), check("test", forge.Failure)}, []slot.Event{failed("lint")}, slot.Skip, "still_failing: passed since | passed: lint", []string{"f lint"}},
		{"pending", []forge.Check{check("lint", forge.Pending)}, []slot.Event{failed("lint")}, slot.Defer, "still_failing: pending | pending: lint", nil},
		{"one failing, one passed, one pending", []forge.Check{check("a", forge.Failure), check("b", forge.Success), check("c", forge.Pending)},
			[]slot.Event{failed("a"), failed("b"), failed("c")}, slot.Proceed, "passed since", []string{"f b"}},
		{"one passed, one pending", []forge.Check{check("b", forge.Success), check("c", forge.Pending)}, []slot.Event{failed("b"), failed("c")}, slot.Defer, "pending: c", nil},
		{"pending, but a comment waits", []forge.Check{check("c", forge.Pending)}, []slot.Event{failed("c"), event(slot.Commented)}, slot.Proceed, "", nil},
		{"passed, and a comment waits", []forge.Check{check("b", forge.Success)}, []slot.Event{failed("b"), event(slot.Commented)}, slot.Proceed, "passed since", []string{"f b"}},
		{"no name: any fails", []forge.Check{check("a", forge.Success), check("b", forge.Failure)}, []slot.Event{failed("")}, slot.Proceed, "failing: all checks", nil},
		{"no name: all passed", []forge.Check{check("a", forge.Success), check("b", forge.Neutral)}, []slot.Event{failed("")}, slot.Skip, "passed: all checks", []string{"f "}},
		{"another name", []forge.Check{check("a", forge.Failure)}, []slot.Event{failed("Workflow")}, slot.Proceed, "failing: all checks", nil},
		{"cancelled says nothing", []forge.Check{check("a", forge.Neutral)}, []slot.Event{failed("a")}, slot.Proceed, "a (no result)", nil},
		{"no checks", nil, []slot.Event{failed("a")}, slot.Proceed, "(no result)", nil},
		{"our own do not count", []forge.Check{check("a", forge.Success), {Name: "b", State: forge.Failure, App: "oneslot"}}, []slot.Event{failed("")}, slot.Skip, "passed", []string{"f "}},
		{"a person wants it", []forge.Check{check("a", forge.Success)}, []slot.Event{{Kind: slot.CIFailed, Path: slot.PathManual}}, slot.Proceed, "nothing to look at", nil},
		{"other kinds", []forge.Check{check("a", forge.Success)}, []slot.Event{event(slot.Commented)}, slot.Proceed, "nothing to look at", nil},
		{"oneslot run", nil, nil, slot.Proceed, "nothing to look at", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := aPull(t)
			f.checks = map[string][]forge.Check{"aaa": c.checks}
			verdict(t, decide(t, gate.NewStillFailing(f, []string{"oneslot"}), c.events...), c.want, c.words, c.over...)
		})
	}
	// A forge that has no checks has nothing to say.
	bare := aPull(t)
	bare.errs = map[string]error{"checks": &forge.Error{Kind: forge.ErrUnsupported}}
	verdict(t, decide(t, gate.NewStillFailing(bare, nil), failed("lint")), slot.Proceed, "not asked: ")
	// A branch is judged by its newest commit, a check on it by that check.
	f := aPull(t)
	f.checks = map[string][]forge.Check{"main": {check("lint", forge.Success), check("test", forge.Failure)}}
	for r, want := range map[string]slot.Verdict{"@main": slot.Proceed, "@main:test": slot.Proceed, "@main:lint": slot.Skip} {
		ans := gate.NewStillFailing(f, nil).Ask(t.Context(), gate.Ask{Ref: ref(t, hello+r), Events: []slot.Event{failed("")}})
		if ans.Verdict != want {
			t.Errorf("%s: %+v", r, ans)
		}
	}
}

func TestLabelAndAssignee(t *testing.T) {
	f := anIssue(t)
	label, assignee := gate.NewLabel(f, []string{"in progress", "claimed"}), gate.NewAssignee(f, []string{"our-bot"})
	f.thread.Labels, f.thread.Assignees = []string{"bug"}, []string{"Our-Bot[bot]"}
	verdict(t, decide(t, label), slot.Proceed, "label: not set")
	verdict(t, decide(t, assignee), slot.Proceed, "assignee: nobody else")
	f.thread.Labels, f.thread.Assignees = []string{"bug", "Claimed"}, []string{"our-bot", "alice"}
	verdict(t, decide(t, label), slot.Defer, "label: set | Claimed is set")
	verdict(t, decide(t, assignee), slot.Defer, "assignee: somebody else | assigned to alice")
}
