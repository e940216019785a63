package gate_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

const hello = "github.com/octo/hello"

// fakeForge says what it is told, and counts what it was asked.
type fakeForge struct {
	kind     string
	thread   forge.Thread
	pulls    map[string]forge.Thread // by ref
	comments forge.Comments
	checks   map[string][]forge.Check // by sha or branch
	reviews  forge.Reviews
	closing  []forge.Thread
	open     []forge.Thread
	commits  []forge.Commit
	more     bool
	reopened time.Time
	acts     []forge.Act
	repo     forge.Repo
	errs     map[string]error // by method
	hang     bool

	mu    sync.Mutex
	asked map[string]int
}

func (f *fakeForge) For(r slot.Ref) (gate.Forge, string, bool) {
	return f, f.kind, r.Host() == "github.com"
}

func (f *fakeForge) ask(ctx context.Context, method string) error {
	f.mu.Lock()
	if f.asked == nil {
		f.asked = map[string]int{}
	}
	f.asked[method]++
	f.mu.Unlock()
	if f.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return f.errs[method]
}

func (f *fakeForge) Thread(ctx context.Context, r slot.Ref) (forge.Thread, error) {
	if p, ok := f.pulls[r.String()]; ok {
		return p, f.ask(ctx, "pull")
	}
	return f.thread, f.ask(ctx, "thread")
}
func (f *fakeForge) Comments(ctx context.Context, _ slot.Ref) (forge.Comments, error) {
	return f.comments, f.ask(ctx, "comments")
}
func (f *fakeForge) Checks(ctx context.Context, _, sha string) ([]forge.Check, error) {
	return f.checks[sha], f.ask(ctx, "checks")
}
func (f *fakeForge) Reviews(ctx context.Context, _ slot.Ref) (forge.Reviews, error) {
	return f.reviews, f.ask(ctx, "reviews")
}
func (f *fakeForge) Closing(ctx context.Context, _ slot.Ref) ([]forge.Thread, error) {
	return f.closing, f.ask(ctx, "closing")
}
func (f *fakeForge) Open(ctx context.Context, _ string) ([]forge.Thread, error) {
	return f.open, f.ask(ctx, "open")
}
func (f *fakeForge) Commits(ctx context.Context, _ string, _ time.Time) ([]forge.Commit, bool, error) {
	return f.commits, f.more, f.ask(ctx, "commits")
}
func (f *fakeForge) Reopened(ctx context.Context, _ slot.Ref) (time.Time, error) {
	return f.reopened, f.ask(ctx, "reopened")
}
func (f *fakeForge) Acts(ctx context.Context, _ slot.Ref) ([]forge.Act, error) {
	return f.acts, f.ask(ctx, "acts")
}
func (f *fakeForge) Repo(ctx context.Context, _ string) (forge.Repo, error) {
	return f.repo, f.ask(ctx, "repo")
}

func day(n int) time.Time { return time.Date(2026, 3, n, 12, 0, 0, 0, time.UTC) }

// anIssue is a forge with the open issue octo/hello#12, made on the first.
func anIssue(t testing.TB) *fakeForge {
	return &fakeForge{
		kind:   "github",
		thread: forge.Thread{Ref: ref(t, hello+"#12"), RepoID: "7", State: forge.Open, Title: "It is slow", Created: day(1)},
		repo:   forge.Repo{ID: "7", Name: hello, Default: "main"},
	}
}

// aPull is a forge with the open pull request octo/hello#12 at head "aaa".
func aPull(t testing.TB) *fakeForge {
	f := anIssue(t)
	f.thread.Pull = true
	f.thread.Head = forge.End{Repo: hello, Branch: "fix", Sha: "aaa"}
	f.thread.Base = forge.End{Repo: hello, Branch: "main", Sha: "bbb"}
	return f
}

// pull34 is a pull request that closes the issue.
func pull34(t testing.TB, state, base string) forge.Thread {
	p := forge.Thread{Ref: ref(t, hello+"#34"), Pull: true, State: state, Title: "Go faster", Body: "Fixes #12", Base: forge.End{Repo: hello, Branch: base}}
	if state != forge.Open {
		p.Closed = day(3)
	}
	return p
}

func decide(t testing.TB, g gate.Gate, events ...slot.Event) gate.Decision {
	t.Helper()
	return decideAs(t, g, slot.PathSweep, events...)
}

func decideAs(t testing.TB, g gate.Gate, path string, events ...slot.Event) gate.Decision {
	t.Helper()
	for i := range events {
		if events[i].ID == "" {
			events[i].ID = string(events[i].Kind)
		}
	}
	return gate.NewSet(newClock(), nil, gate.Entry{Gate: g, OnError: gate.OnError{Closed: true}}).
		Decide(t.Context(), gate.Ask{Ref: ref(t, hello+"#12"), Path: path, Events: events})
}

func event(kind slot.EventKind) slot.Event { return slot.Event{Kind: kind, Path: slot.PathWebhook} }

// verdict checks a decision: its verdict, words of reason or evidence, and which
// events are over.
func verdict(t testing.TB, d gate.Decision, want slot.Verdict, words string, over ...string) {
	t.Helper()
	ev := d.Evidence[len(d.Evidence)-1]
	if d.Verdict != want || !strings.Contains(ev.Reason+" | "+ev.Detail, words) || len(d.Skipped) != len(over) {
		t.Errorf("%s: %q %q, over %v; want %s with %q, over %v", d.Verdict, ev.Reason, ev.Detail, d.Skipped, want, words, over)
	}
	for _, id := range over {
		if _, ok := d.Skipped[id]; !ok {
			t.Errorf("%s is not over", id)
		}
	}
}

// factGates are all gates over facts.
func factGates(t testing.TB, f gate.Facts) []gate.Gate {
	comment := must(t)(gate.NewComment(f, gate.Trust{}, nil))
	return []gate.Gate{gate.NewClosed(f), gate.NewDraft(f), gate.NewHeadMoved(f), gate.NewLabel(f, []string{"busy"}),
		gate.NewAssignee(f, nil), gate.NewOpenPR(f, gate.Trust{}, false), gate.NewStillFailing(f, nil), comment, gate.NewLanded(f)}
}

// Where no forge is configured, and of what is on none, nobody is asked.
func TestFacts_NotAsked(t *testing.T) {
	f := aPull(t)
	for _, r := range []string{"key:x", "git.example.com/o/r#1", hello + "@main", hello + "@main:lint"} {
		for _, g := range factGates(t, f) {
			if ans := g.Ask(t.Context(), gate.Ask{Ref: ref(t, r)}); ans.Verdict != "" && g.Type() != "still_failing" || ans.Verdict == slot.Unknown {
				t.Errorf("%s of %s: %+v", g.Type(), r, ans)
			}
		}
	}
	for _, g := range factGates(t, nil) {
		if ans := g.Ask(t.Context(), gate.Ask{Ref: ref(t, hello+"#12")}); ans.Verdict != "" || !strings.Contains(ans.Detail, "no forge") {
			t.Errorf("%s: %+v", g.Type(), ans)
		}
	}
	if len(f.asked) != 0 {
		t.Errorf("asked: %v", f.asked)
	}
}

// P8: what could not be read is unknown, says why, and waits as long as a limit does.
func TestFacts_Unknown(t *testing.T) {
	until := day(9)
	for _, c := range []struct {
		err   error
		words string
		until time.Time
	}{
		{&forge.Error{Kind: forge.ErrNotFound, Op: "read octo/hello#12", Status: 404}, "404); does the token for github.com have the right", time.Time{}},
		{&forge.Error{Kind: forge.ErrForbidden, Status: 403}, "have the right to read it?", time.Time{}},
		{&forge.Error{Kind: forge.ErrLimited, Status: 429, Err: &forge.LimitError{Until: until}}, "rate limit", until},
		{&forge.Error{Kind: forge.ErrShort}, "shorter", time.Time{}},
		{errors.New("connection refused"), "connection refused", time.Time{}},
	} {
		f := aPull(t)
		f.errs = map[string]error{"thread": c.err, "comments": c.err}
		for _, g := range factGates(t, f) {
			d := decide(t, g, event(slot.CIFailed))
			verdict(t, d, slot.Defer, c.words)
			if ev := d.Evidence[0]; ev.Verdict != slot.Unknown || !c.until.IsZero() && d.Until != c.until {
				t.Errorf("%s: %+v", g.Type(), d)
			}
		}
	}
	for method, g := range map[string]func(gate.Facts) gate.Gate{
		"closing":  gate.NewLanded,
		"commits":  gate.NewLanded,
		"reopened": gate.NewLanded,
		"repo":     gate.NewLanded,
		"checks":   func(f gate.Facts) gate.Gate { return gate.NewStillFailing(f, nil) },
	} {
		f := anIssue(t)
		if method == "checks" {
			f = aPull(t)
		}
		if method == "reopened" || method == "repo" {
			f.closing = []forge.Thread{pull34(t, forge.Merged, "main")}
		}
		f.errs = map[string]error{method: errors.New("the line is cut")}
		verdict(t, decide(t, g(f), event(slot.CIFailed)), slot.Defer, "the line is cut")
	}
	f := anIssue(t)
	f.errs = map[string]error{"closing": errors.New("the line is cut")}
	verdict(t, decide(t, gate.NewOpenPR(f, gate.Trust{}, false)), slot.Defer, "the line is cut")
}

// P8, C45, C46: a limit and a no are answers: no time that passes makes them "free". The
// user's own word for it, on_error = "open", does.
func TestP8_NoRunsOutIntoYes(t *testing.T) {
	closedFor := gate.OnError{Closed: true, For: 10 * time.Minute}
	down := &forge.Error{Op: "read octo/hello#12", Detail: "connection refused"}
	for name, c := range map[string]struct {
		err    error
		waits  bool
		mended string
	}{
		"404":          {&forge.Error{Kind: forge.ErrNotFound, Status: 404}, true, "does the token for github.com have the right to read it?"},
		"403":          {&forge.Error{Kind: forge.ErrForbidden, Status: 403}, true, "does the token for github.com have the right to read it?"},
		"401":          {&forge.Error{Kind: forge.ErrUnauthorized, Status: 401}, true, "the token for github.com is to be replaced"},
		"a limit":      {&forge.Error{Kind: forge.ErrLimited, Status: 429, Err: &forge.LimitError{Until: day(9)}}, true, "the forge's rate limit"},
		"an outage":    {down, false, "connection refused"},
		"a short list": {&forge.Error{Kind: forge.ErrShort}, false, "shorter"},
	} {
		t.Run(name, func(t *testing.T) {
			f := anIssue(t)
			f.errs = map[string]error{"thread": c.err, "comments": c.err}
			a := gate.Ask{Ref: ref(t, hello+"#12")}
			for _, g := range []gate.Gate{gate.NewClosed(f), gate.NewLanded(f), must(t)(gate.NewComment(f, gate.Trust{}, nil))} {
				clk, m := newClock(), &memory{}
				set := gate.NewSet(clk, m, gate.Entry{Gate: g, OnError: closedFor})
				first := set.Decide(t.Context(), a)
				clk.Advance(24 * time.Hour)
				later := set.Decide(t.Context(), a)
				ev := later.Evidence[0]
				if first.Verdict != slot.Defer || (later.Verdict == slot.Defer) != c.waits || !strings.Contains(ev.Detail, c.mended) {
					t.Errorf("%s: %+v, a day later %+v", g.Type(), first, later)
				}
				if c.waits {
					// It was up all day: an outage that begins now has its own ten minutes.
					f.errs = map[string]error{"thread": down, "comments": down}
					if d := set.Decide(t.Context(), a); d.Verdict != slot.Defer {
						t.Errorf("%s: the outage after it: %+v", g.Type(), d)
					}
					f.errs = map[string]error{"thread": c.err, "comments": c.err}
				}
				if d := gate.NewSet(clk, m, gate.Entry{Gate: g}).Decide(t.Context(), a); d.Verdict != slot.Proceed {
					t.Errorf("%s, on_error = open: %+v", g.Type(), d)
				}
			}
		})
	}
}

// P7: one Decide reads each thing once, for all gates; the next reads it anew, and so
// what was read before the claim answers nothing under it.
func TestP7_ReadOncePerDecide(t *testing.T) {
	f := aPull(t)
	f.checks = map[string][]forge.Check{"aaa": {{Name: "lint", State: forge.Failure}}}
	var entries []gate.Entry
	for _, g := range factGates(t, f) {
		entries = append(entries, gate.Entry{Gate: g})
	}
	set := gate.NewSet(newClock(), nil, entries...)
	e := slot.Event{ID: "1", Kind: slot.CIFailed, Path: slot.PathPoll, Sha: "aaa"}
	a := gate.Ask{Ref: ref(t, hello+"#12"), Path: slot.PathPoll, Events: []slot.Event{e}}
	if d := set.Decide(t.Context(), a); d.Verdict != slot.Proceed || d.Head != "aaa" {
		t.Fatalf("%+v", d)
	}
	for method, n := range f.asked {
		if n != 1 {
			t.Errorf("%s was read %d times", method, n)
		}
	}
	f.thread.Head.Sha = "ccc"
	f.checks["ccc"] = f.checks["aaa"]
	a.Claimed = true
	if d := set.Decide(t.Context(), a); d.Verdict != slot.Skip || d.Head != "ccc" || f.asked["thread"] != 2 {
		t.Errorf("%+v, asked %v", d, f.asked)
	}
}

// A forge that hangs costs one time limit, not one for each gate.
func TestFacts_HangsOnce(t *testing.T) {
	f := aPull(t)
	f.hang = true
	var entries []gate.Entry
	for _, g := range factGates(t, f)[:5] {
		entries = append(entries, gate.Entry{Gate: g, Timeout: 50 * time.Millisecond})
	}
	d := gate.NewSet(newClock(), nil, entries...).Decide(t.Context(), gate.Ask{Ref: ref(t, hello+"#12")})
	if f.asked["thread"] != 1 || len(d.Evidence) != 5 || d.Head != "" {
		t.Errorf("asked %v: %+v", f.asked, d)
	}
	for _, ev := range d.Evidence {
		if ev.Verdict != slot.Unknown {
			t.Errorf("%+v", ev)
		}
	}
}
