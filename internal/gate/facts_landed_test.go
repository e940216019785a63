package gate_test

import (
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

var unsupported = &forge.Error{Kind: forge.ErrUnsupported, Op: "links"}

func commit(sha string, n int, message string) forge.Commit {
	return forge.Commit{Sha: sha, At: day(n), Message: message}
}

func TestC08_Landed(t *testing.T) {
	const sha, other = "1111111222222233333334444444555555566666", "9999999222222233333334444444555555566666"
	for _, c := range []struct {
		name  string
		set   func(*fakeForge)
		want  slot.Verdict
		words string
	}{
		{"nothing", func(*fakeForge) {}, slot.Proceed, "landed: not landed"},
		{"(b) merged", func(f *fakeForge) { f.closing = []forge.Thread{pull34(t, forge.Merged, "main")} }, slot.Skip, "landed: by github.com/octo/hello#34 | on the default branch at 2026-03-03T12:00:00Z"},
		{"(c) closed without a merge", func(f *fakeForge) { f.closing = []forge.Thread{pull34(t, forge.Closed, "main")} }, slot.Proceed, "not landed"},
		{"merged into another branch", func(f *fakeForge) { f.closing = []forge.Thread{pull34(t, forge.Merged, "next")} }, slot.Proceed, "not landed"},
		{"merged in a fork", func(f *fakeForge) {
			p := pull34(t, forge.Merged, "main")
			p.Ref = ref(t, "github.com/eve/hello#34")
			p.Base.Repo = p.Ref.Repo()
			f.closing = []forge.Thread{p}
		}, slot.Proceed, "landed: not landed | github.com/eve/hello#34 was merged in another repository"},
		{"merged under the repository's old name", func(f *fakeForge) {
			f.thread.Ref, f.closing = ref(t, "github.com/octo/world#12"), []forge.Thread{pull34(t, forge.Merged, "main")}
		}, slot.Skip, "#34"},
		{"a list without bases", func(f *fakeForge) {
			f.closing = []forge.Thread{pull34(t, forge.Merged, "")}
			f.pulls = map[string]forge.Thread{hello + "#34": pull34(t, forge.Merged, "main")}
		}, slot.Skip, "#34"},
		{"(d) opened again after it", func(f *fakeForge) {
			f.closing, f.reopened = []forge.Thread{pull34(t, forge.Merged, "main")}, day(4)
		}, slot.Proceed, "by github.com/octo/hello#34 at 2026-03-03T12:00:00Z, and opened again at 2026-03-04T12:00:00Z"},
		{"opened again before it", func(f *fakeForge) {
			f.closing, f.reopened = []forge.Thread{pull34(t, forge.Merged, "main")}, day(2)
		}, slot.Skip, "#34"},
		{"landed again after it was opened again", func(f *fakeForge) {
			f.closing, f.reopened = []forge.Thread{pull34(t, forge.Merged, "main")}, day(4)
			f.commits = []forge.Commit{commit(sha, 5, "Again\n\nFixes #12")}
		}, slot.Skip, "landed: by commit 111111122222"},
		{"no word of when it was opened again", func(f *fakeForge) {
			f.closing = []forge.Thread{pull34(t, forge.Merged, "main")}
			f.errs = map[string]error{"reopened": unsupported}
		}, slot.Skip, "#34"},
		{"a commit", func(f *fakeForge) { f.commits = []forge.Commit{commit(sha, 3, "Go faster (fixes #12)")} }, slot.Skip, "by commit 111111122222 | on the default branch at 2026-03-03"},
		{"C59 a squash", func(f *fakeForge) {
			f.commits = []forge.Commit{commit(sha, 3, "Go faster (#34)\n\n* Closes #12")}
		}, slot.Skip, "by commit"},
		{"C59 a title", func(f *fakeForge) { f.commits = []forge.Commit{commit(sha, 3, "Go faster (#12)")} }, slot.Proceed, "not landed"},
		{"C59 another number", func(f *fakeForge) { f.commits = []forge.Commit{commit(sha, 3, "Fixes #120")} }, slot.Proceed, "not landed"},
		{"C59 another repository", func(f *fakeForge) { f.commits = []forge.Commit{commit(sha, 3, "Fixes octo/other#12")} }, slot.Proceed, "not landed"},
		{"C59 quoted", func(f *fakeForge) { f.commits = []forge.Commit{commit(sha, 3, "x\n\n> Fixes #12")} }, slot.Proceed, "not landed"},
		{"taken back", func(f *fakeForge) {
			f.commits = []forge.Commit{commit(other, 4, "Revert \"Fixes #12\"\n\nThis reverts commit "+sha+"."), commit(sha, 3, "Fixes #12")}
		}, slot.Proceed, "not landed"},
		{"taken back, and that too", func(f *fakeForge) {
			f.commits = []forge.Commit{commit("aaaaaaaaaa", 5, "Reapply \"x\"\n\nThis reverts commit "+other+"."),
				commit(other, 4, "Revert \"x\"\n\nThis reverts commit "+sha+"."), commit(sha, 3, "x\n\nFixes #12")}
		}, slot.Skip, "by commit 111111122222"},
		{"a commit, then opened again", func(f *fakeForge) {
			f.commits, f.reopened = []forge.Commit{commit(sha, 3, "Fixes #12")}, day(3)
		}, slot.Proceed, "opened again"},
		{"a long branch", func(f *fakeForge) { f.commits, f.more = []forge.Commit{commit(sha, 3, "x")}, true }, slot.Proceed, "only the newest 1 commits since 2026-03-01T12:00:00Z were read"},
		{"a forge without links", func(f *fakeForge) {
			f.kind, f.errs = "gitea", map[string]error{"closing": unsupported}
			f.commits = []forge.Commit{commit(sha, 3, "Merge pull request 'x' (!34)\n\nCloses !12")}
		}, slot.Skip, "by commit"},
		{"a forge without anything", func(f *fakeForge) {
			f.kind, f.errs = "gogs", map[string]error{"closing": unsupported, "commits": unsupported}
		}, slot.Proceed, "the forge links no pull requests; the forge lists no commits"},
		{"a forge that names who speaks of it", func(f *fakeForge) {
			p := pull34(t, forge.Merged, "main")
			p.Body = "See #12"
			f.kind, f.closing = "forgejo", []forge.Thread{p}
		}, slot.Proceed, "not landed"},
		{"and whose text closes it", func(f *fakeForge) { f.kind, f.closing = "forgejo", []forge.Thread{pull34(t, forge.Merged, "main")} }, slot.Skip, "#34"},
		{"closed anyhow", func(f *fakeForge) {
			f.thread.State, f.closing = forge.Closed, []forge.Thread{pull34(t, forge.Merged, "main")}
		}, slot.Proceed, "landed: not open"},
		{"a pull request", func(f *fakeForge) { f.thread.Pull, f.commits = true, []forge.Commit{commit(sha, 3, "Fixes #12")} }, slot.Proceed, "a pull request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := anIssue(t)
			c.set(f)
			verdict(t, decide(t, gate.NewLanded(f)), c.want, c.words)
		})
	}
}

func TestC07_OpenPR(t *testing.T) {
	f := anIssue(t)
	verdict(t, decide(t, gate.NewOpenPR(f, gate.Trust{}, false)), slot.Proceed, "open_pr: none")
	for _, state := range []string{forge.Closed, forge.Merged} {
		f.closing = []forge.Thread{pull34(t, state, "main")}
		verdict(t, decide(t, gate.NewOpenPR(f, gate.Trust{}, false)), slot.Proceed, "open_pr: none")
	}
	f.closing = append(f.closing, pull34(t, forge.Open, "main"))
	verdict(t, decide(t, gate.NewOpenPR(f, gate.Trust{}, false), event(slot.Labeled)), slot.Skip, "open_pr: github.com/octo/hello#34 closes it", "labeled")
	verdict(t, decide(t, gate.NewOpenPR(f, gate.Trust{}, true), event(slot.Labeled)), slot.Defer, "open_pr: github.com/octo/hello#34 closes it | it waits for the end of github.com/octo/hello#34")

	// A forge without links: the texts of all open pull requests tell.
	f = anIssue(t)
	f.kind, f.errs = "gitea", map[string]error{"closing": unsupported}
	mention, plain := pull34(t, forge.Open, "main"), pull34(t, forge.Open, "main")
	mention.Body, plain.Pull = "See #12", false
	f.open = []forge.Thread{mention, plain}
	verdict(t, decide(t, gate.NewOpenPR(f, gate.Trust{}, false)), slot.Proceed, "open_pr: none")
	f.open = append(f.open, pull34(t, forge.Open, "main"))
	verdict(t, decide(t, gate.NewOpenPR(f, gate.Trust{}, false)), slot.Skip, "#34 closes it")
	f.errs["open"] = &forge.Error{Kind: forge.ErrShort}
	verdict(t, decide(t, gate.NewOpenPR(f, gate.Trust{}, false)), slot.Defer, "shorter")
}

// C42: what a stranger writes in a pull request ends nobody's work.
func TestC42_AStrangersPullRequestClosesNothing(t *testing.T) {
	f := anIssue(t)
	f.repo.Public = true
	p := pull34(t, forge.Open, "main")
	p.Author = forge.Person{Login: "mallory", Association: "none"}
	p.Head.Repo = "github.com/mallory/hello"
	f.closing = []forge.Thread{p}
	g := gate.NewOpenPR(f, gate.Trust{Associations: []string{"member"}, Logins: []string{"carol"}}, false)
	verdict(t, decide(t, g), slot.Proceed, "github.com/octo/hello#34 closes it, of an author who is not trusted")
	for name, change := range map[string]func(*forge.Thread){
		"a branch of the repository": func(p *forge.Thread) { p.Head.Repo = p.Base.Repo },
		"a member":                   func(p *forge.Thread) { p.Author.Association = "member" },
		"a login of ours":            func(p *forge.Thread) { p.Author.Login = "Carol" },
	} {
		t.Log(name)
		own := p
		change(&own)
		f.closing = []forge.Thread{own}
		verdict(t, decide(t, g), slot.Skip, "#34 closes it")
	}
	f.closing = []forge.Thread{p}
	f.repo.Public = false // strangers see nothing there
	verdict(t, decide(t, g), slot.Skip, "#34 closes it")
}

// C09: of a pull request the issues are named that it closes; it never blocks itself.
func TestC09_Related(t *testing.T) {
	f := aPull(t)
	f.thread.Body = "Fixes #10, fixes #11 and fixes #12"
	f.closing = []forge.Thread{pull34(t, forge.Open, "main")}
	verdict(t, decide(t, gate.NewOpenPR(f, gate.Trust{}, false)), slot.Proceed,
		"it closes github.com/octo/hello#10, github.com/octo/hello#11, github.com/octo/hello#12")
	if f.asked["closing"] != 0 {
		t.Error("a pull request is no issue")
	}
}

// C42: what the payload does not tell of its author, the forge does.
func TestC42_TheForgeKnowsTheAuthor(t *testing.T) {
	f := aPull(t)
	f.thread.Author = forge.Person{Login: "eve", Association: "none"}
	f.comments.List = []forge.Comment{
		{ID: 1, Author: forge.Person{Login: "Ann", Association: "member"}},
		{ID: 2, Author: forge.Person{Login: "mallory", Association: "none"}},
		{ID: 3, Author: forge.Person{Login: "spam[bot]", Association: "member", Bot: true}},
	}
	f.reviews.Reviews = []forge.Review{{Author: forge.Person{Login: "rob", Association: "owner"}}}
	g := gate.NewTrust(gate.Trust{Associations: []string{"owner", "member"}, Logins: []string{"carol"}, Facts: f})
	by := func(kind slot.EventKind, actor string) slot.Event {
		return slot.Event{Kind: kind, Path: slot.PathWebhook, Facts: slot.Facts{Actor: actor}}
	}
	trusted := func(events ...slot.Event) {
		t.Helper()
		verdict(t, decide(t, g, events...), slot.Proceed, "trust: trusted")
	}
	refused := func(words string, e slot.Event) {
		t.Helper()
		verdict(t, decide(t, g, e), slot.Skip, words, string(e.Kind))
	}
	fork := slot.Event{Kind: slot.CIFailed, Path: slot.PathWebhook, Facts: slot.Facts{Fork: true, Actor: "ci"}}

	trusted(by(slot.Command, "ann"))
	trusted(by(slot.ChangesRequested, "rob"))
	trusted(by(slot.Labeled, "tim"))
	refused("command by mallory (none)", by(slot.Command, "mallory"))
	refused("command by spam[bot] (a bot)", by(slot.Command, "spam[bot]"))
	refused("opened by eve (none)", by(slot.Opened, "eve"))
	refused("no association", by(slot.Command, "nobody"))
	refused("no association", by(slot.Command, ""))
	refused("no association", by(slot.Pushed, "ann")) // what she wrote elsewhere is not looked for
	refused("ci_failed by eve (from a fork)", fork)
	f.thread.Author = forge.Person{Login: "zoe", Association: "member"}
	trusted(fork, by(slot.Opened, "zoe"))

	// What the payload does tell is not asked again, nor who asks by another path.
	f.asked = nil
	e := by(slot.Command, "ann")
	e.Facts.Association = "none"
	refused("command by ann (none)", e)
	trusted(slot.Event{Kind: slot.Command, Path: slot.PathSweep})
	if len(f.asked) != 0 {
		t.Errorf("asked: %v", f.asked)
	}

	// P8: not finding out lets no stranger in, also not with on_error = open.
	f.errs = map[string]error{"thread": &forge.LimitError{Until: day(9)}}
	d := gate.NewSet(newClock(), nil, gate.Entry{Gate: g}).Decide(t.Context(), gate.Ask{Ref: ref(t, hello+"#12"), Events: []slot.Event{by(slot.Command, "ann")}})
	if d.Verdict != slot.Defer || d.Reason != "trust: unknown" || !d.Until.Equal(day(9)) {
		t.Errorf("%+v", d)
	}
}

// C42: what a poll found without whose act it was goes by the thread's history, or else
// by its author: it was he, or somebody with rights.
func TestC42_NobodyKnowsWhoseAct(t *testing.T) {
	public := true
	found := func(kind slot.EventKind) slot.Event {
		return slot.Event{Kind: kind, Path: slot.PathPoll, Facts: slot.Facts{Author: "eve", Public: &public, Label: "agent"}}
	}
	eve, zoe := forge.Person{Login: "eve", Association: "none"}, forge.Person{Login: "zoe", Association: "member"}
	tim := forge.Person{Login: "tim"} // histories tell no association
	acts := func(kind slot.EventKind, what string, by ...forge.Person) (list []forge.Act) {
		for i, p := range by {
			list = append(list, forge.Act{Kind: kind, What: what, By: p, At: day(i + 1)})
		}
		return list
	}
	for name, c := range map[string]struct {
		kind   string
		event  slot.EventKind
		author forge.Person
		acts   []forge.Act
		err    error
		want   slot.Verdict
		words  string
	}{
		"a stranger opens his own again":  {"github", slot.Reopened, eve, acts(slot.Reopened, "", tim, eve), nil, slot.Skip, "reopened by eve (none)"},
		"somebody with rights does":       {"github", slot.Reopened, eve, acts(slot.Reopened, "", eve, tim), nil, slot.Proceed, "trusted"},
		"a member does with his own":      {"github", slot.Reopened, zoe, acts(slot.Reopened, "", zoe), nil, slot.Proceed, "trusted"},
		"a history that is behind":        {"github", slot.Reopened, eve, append(acts(slot.Reopened, "", tim), acts(slot.Closed, "", tim, tim)...), nil, slot.Skip, "reopened by somebody, maybe eve"},
		"a label of the template":         {"github", slot.Labeled, eve, acts(slot.Labeled, "agent", eve), nil, slot.Skip, "labeled by eve"},
		"a triager's label":               {"github", slot.Labeled, eve, append(acts(slot.Labeled, "Agent", tim), acts(slot.Labeled, "bug", eve, eve)...), nil, slot.Proceed, "trusted"},
		"a history that says nothing":     {"github", slot.Assigned, eve, nil, nil, slot.Skip, "assigned by somebody, maybe eve (none)"},
		"of a member's":                   {"github", slot.Assigned, zoe, nil, nil, slot.Proceed, "trusted"},
		"no history":                      {"gitea", slot.Closed, forge.Person{Login: "eve"}, nil, unsupported, slot.Skip, "closed by somebody, maybe eve"},
		"no history, a trusted login's":   {"gitea", slot.Closed, forge.Person{Login: "carol"}, nil, unsupported, slot.Proceed, "trusted"},
		"Gogs, where labels take a right": {"gogs", slot.Labeled, forge.Person{Login: "eve"}, nil, unsupported, slot.Proceed, "trusted"},
		"Gogs, where closing does not":    {"gogs", slot.Closed, forge.Person{Login: "eve"}, nil, unsupported, slot.Skip, "closed by"},
		"P8 a history that fails":         {"github", slot.Closed, eve, nil, &forge.LimitError{Until: day(9)}, slot.Defer, "rate limit"},
	} {
		t.Run(name, func(t *testing.T) {
			f := anIssue(t)
			f.kind, f.thread.Author, f.acts, f.errs = c.kind, c.author, c.acts, map[string]error{"acts": c.err}
			g := gate.NewTrust(gate.Trust{Associations: []string{"owner", "member"}, Logins: []string{"carol"}, Facts: f})
			d := gate.NewSet(newClock(), nil, gate.Entry{Gate: g}).Decide(t.Context(), gate.Ask{Ref: f.thread.Ref, Events: []slot.Event{found(c.event)}})
			if ev := d.Evidence[0]; d.Verdict != c.want || !strings.Contains(ev.Reason+" | "+ev.Detail, c.words) {
				t.Errorf("%+v", d)
			}
		})
	}
}
