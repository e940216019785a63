package poll_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/forge/gitea"
	"github.com/oneslot/oneslot/internal/forge/github"
	"github.com/oneslot/oneslot/internal/forge/gitlab"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/intake/poll"
)

type token string

func (t token) Token(context.Context) (string, error)         { return string(t), nil }
func (t token) Renew(context.Context, string) (string, error) { return "", nil }

func connect(t testing.TB, kind forgetest.Kind, api string) forge.Client {
	t.Helper()
	clk, err := clock.System()
	if err != nil {
		t.Fatal(err)
	}
	o := transport.Options{API: api, Token: token("secret"), Clock: clk}
	if kind == forgetest.Gitea {
		o.Header = gitea.Header
	}
	tr, err := transport.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Client().CloseIdleConnections)
	var c forge.Client
	switch host := forgetest.Host(api); kind {
	case forgetest.GitHub:
		c, err = github.New(host, "", tr)
	case forgetest.GitLab:
		c, err = gitlab.New(host, api, tr)
	default:
		c, err = gitea.New(host, api, tr, string(kind))
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rig is a poller of a forge that behaves like a real one.
type rig struct {
	testing.TB
	*forgetest.World
	host string
	o    poll.Options
	p    *poll.Poller

	mu    sync.Mutex
	by    time.Duration // that the forge's clock is ahead
	known map[string]bool
	texts map[string]string
	fresh []string
}

func newRig(t testing.TB, kind forgetest.Kind) *rig {
	r := &rig{TB: t, known: map[string]bool{}, texts: map[string]string{}}
	r.World = forgetest.New(kind, func() time.Time { r.mu.Lock(); defer r.mu.Unlock(); return time.Now().Add(r.by) })
	api := forgetest.Serve(t, r.World)
	r.host = forgetest.Host(api)
	r.AddUser(forgetest.User{Login: "our-bot", Token: "secret", Writer: true, Association: "member"})
	r.o = poll.Options{
		Sources: []poll.Source{{Host: r.host, Type: string(kind), Client: connect(t, kind, api), Repos: []string{"octo/*"}, Poll: time.Minute, Look: 2}},
		Sink:    r, Cursors: r, Own: mark.Own{Logins: []string{"our-bot"}}, Commands: []string{"/run"},
	}
	if kind == forgetest.GitLab {
		r.o.Sources[0].Look = 3
	}
	return r
}

func (r *rig) pass(d time.Duration) { r.mu.Lock(); r.by += d; r.mu.Unlock() }

func (r *rig) Accept(_ context.Context, found []poll.Found) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range found {
		if key := f.Ref.String() + " " + f.Fingerprint; !r.known[key] {
			r.known[key] = true
			r.fresh = append(r.fresh, string(f.Kind)+" "+f.Ref.String()[len(r.host)+1:])
		}
	}
	return nil
}

func (r *rig) Cursor(_ context.Context, key string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.texts[key], nil
}

func (r *rig) SetCursor(_ context.Context, key, text string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts[key] = text
	return nil
}

func (r *rig) start() { r.p = poll.New(r.o) }

// tick gives what is new of some ticks.
func (r *rig) tick(n int) string {
	r.Helper()
	for range n {
		r.pass(time.Minute)
		if err := r.p.Tick(r.Context()); err != nil {
			r.Fatal(err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.fresh)
	s := strings.Join(r.fresh, ", ")
	r.fresh = nil
	return s
}

func (r *rig) want(got, want string) {
	r.Helper()
	if got != want {
		r.Errorf("got  %q\nwant %q", got, want)
	}
}

func everyForge(t *testing.T, test func(t *testing.T, r *rig)) {
	for _, kind := range []forgetest.Kind{forgetest.GitHub, forgetest.Gitea, forgetest.GitLab} {
		t.Run(string(kind), func(t *testing.T) { t.Parallel(); test(t, newRig(t, kind)) })
	}
}

// Over the real clients: a quiet tick costs at most one request per repository.
func TestQuietTickOverEachForge(t *testing.T) {
	everyForge(t, func(t *testing.T, r *rig) {
		const repos, ticks = 5, 16
		for i := range repos {
			path := fmt.Sprintf("octo/r%d", i)
			r.AddRepo(path)
			r.AddCommit(path, "first")
			for range 3 {
				at := r.AddPull(path, "octo", "title", "topic")
				th, _ := r.Thread(at)
				r.SetCheck(th.Head.Sha, forgetest.Check{Name: "test", State: forge.Success, App: "ci"})
				r.AddComment(at, "ann", "hello")
			}
			r.SetCheck(r.Commits(path)[0].Sha, forgetest.Check{Name: "test", State: forge.Success, App: "ci"})
		}
		r.pass(time.Hour)
		r.start()
		r.tick(8) // and what the first look leaves
		r.Forget()
		r.want(r.tick(ticks), "")
		all, unchanged := r.Count("", "")
		if all > repos*ticks {
			t.Errorf("%d requests (%d of them 304) in %d ticks over %d repositories", all, unchanged, ticks, repos)
			for _, q := range r.Requests()[:min(len(r.Requests()), 40)] {
				t.Log(q.Method, q.URI, q.Status)
			}
		}
		if r.Kind() == forgetest.GitHub && unchanged < all/3 {
			t.Errorf("%d of %d requests were answered 304", unchanged, all)
		}
	})
}

// What happens is found, also what moves no time; and after a restart nothing is new.
func TestFoundOverEachForge(t *testing.T) {
	everyForge(t, func(t *testing.T, r *rig) {
		const path = "octo/hello"
		r.AddRepo(path)
		r.AddUser(forgetest.User{Login: "ann", Association: "member"})
		issue, pull, settled := r.AddIssue(path, "ann", "one", ""), r.AddPull(path, "ann", "two", "topic"), r.AddPull(path, "ann", "three", "other")
		th, _ := r.Thread(settled)
		r.SetCheck(th.Head.Sha, forgetest.Check{Name: "test", State: forge.Success, App: "ci"})
		pt, _ := r.Thread(pull)
		r.SetCheck(pt.Head.Sha, forgetest.Check{Name: "test", State: forge.Pending, App: "ci"})
		r.pass(time.Hour)
		r.start()
		r.want(r.tick(3), "")
		name := func(at forgetest.At) string { return r.Ref(r.host, at).String()[len(r.host)+1:] }

		r.Label(issue, "agent", true, "ann")
		r.AddComment(issue, "ann", "/run please")
		r.AddComment(pull, "our-bot", "/run me not") // our own
		r.want(r.tick(4), "command "+name(issue)+", labeled "+name(issue))
		r.SetCheck(pt.Head.Sha, forgetest.Check{Name: "test", State: forge.Failure, App: "ci"})
		r.want(r.tick(4), "ci_failed "+name(pull))
		r.SetCheck(th.Head.Sha, forgetest.Check{Name: "test", State: forge.Failure, App: "ci"})
		r.want(r.tick(60), "ci_failed "+name(settled))
		r.AddReview(pull, "ann", "changes_requested", "no")
		if got := r.tick(4); !strings.Contains(got, "changes_requested "+name(pull)) {
			t.Errorf("got %q", got)
		}
		r.Edit(settled, func(t *forgetest.Thread) { t.Mergeable = "conflict" })
		r.want(r.tick(5), "conflict "+name(settled))
		r.Push(settled)
		if got := r.tick(4); !strings.Contains(got, "pushed "+name(settled)) {
			t.Errorf("got %q", got)
		}
		r.Merge(pull, "ann")
		r.Close(issue, "ann")
		got := r.tick(4)
		if !strings.Contains(got, "merged "+name(pull)) || !strings.Contains(got, "closed "+name(issue)) {
			t.Errorf("got %q", got)
		}
		for range 3 {
			r.pass(time.Hour)
			r.start()
			r.want(r.tick(1), "")
		}
	})
}

// C31: what we set ourselves wakes nobody, where the forge tells who it was; and after a
// restart what was set before is no news.
func TestC31_OwnLabelsOverEachForge(t *testing.T) {
	everyForge(t, func(t *testing.T, r *rig) {
		const path = "octo/hello"
		r.AddRepo(path)
		issue := r.AddIssue(path, "ann", "one", "")
		r.pass(time.Hour)
		r.start()
		r.tick(2)
		r.Label(issue, "working", true, "our-bot")
		r.pass(time.Minute)
		r.want(r.tick(4), "")
		r.Label(issue, "agent", true, "ann")
		r.want(r.tick(4), "labeled octo/hello#1")

		r.pass(time.Hour)
		r.Label(issue, "more", true, "ann")
		r.Label(issue, "ours", true, "our-bot")
		r.start()
		r.want(r.tick(1), "edited octo/hello#1, labeled octo/hello#1")
	})
}

// C26: the daemon is stopped while things happen, and finds them at its first tick.
func TestC26_MissedOverEachForge(t *testing.T) {
	everyForge(t, func(t *testing.T, r *rig) {
		const path = "octo/hello"
		r.AddRepo(path)
		r.AddUser(forgetest.User{Login: "ann", Association: "member"})
		issue, pull := r.AddIssue(path, "ann", "one", ""), r.AddPull(path, "ann", "two", "topic")
		th, _ := r.Thread(pull)
		r.SetCheck(th.Head.Sha, forgetest.Check{Name: "test", State: forge.Success, App: "ci"})
		r.pass(time.Hour)
		r.start()
		r.want(r.tick(4), "")

		r.pass(time.Hour)
		r.Label(issue, "agent", true, "ann")
		r.pass(time.Minute)
		r.AddComment(issue, "ann", "hello")
		r.SetCheck(th.Head.Sha, forgetest.Check{Name: "test", State: forge.Failure, App: "ci"})
		r.pass(time.Hour)
		r.start()
		got := r.tick(1)
		for _, want := range []string{"labeled ", "comment ", "ci_failed "} {
			if !strings.Contains(got, want) {
				t.Errorf("no %sin %q", want, got)
			}
		}
		r.start()
		r.want(r.tick(2), "")
	})
}

// C26: what happens while the daemon is stopped to a thread that was opened just before
// is found as for an older one.
func TestC26_MissedOfANewThreadOverEachForge(t *testing.T) {
	everyForge(t, func(t *testing.T, r *rig) {
		const path = "octo/hello"
		r.AddRepo(path)
		r.AddIssue(path, "ann", "old", "")
		r.start()
		r.tick(6)
		r.pass(time.Hour)
		pull, issue, shut := r.AddPull(path, "ann", "two", "topic"), r.AddIssue(path, "ann", "three", ""), r.AddIssue(path, "ann", "four", "")
		r.Edit(pull, func(t *forgetest.Thread) { t.Draft = true })
		if got := r.tick(30); strings.Count(got, "opened ") != 3 {
			t.Errorf("got %q", got)
		}
		r.start()
		r.want(r.tick(6), "") // nothing happened
		r.pass(time.Hour)
		r.Push(pull)
		r.Edit(pull, func(t *forgetest.Thread) { t.Draft, t.Title = false, "another" })
		r.Close(issue, "bob")
		r.Reopen(issue, "bob")
		r.Close(shut, "bob")
		r.pass(time.Hour)
		r.start()
		got := r.tick(12)
		for kind, at := range map[string]forgetest.At{"pushed": pull, "ready": pull, "edited": pull, "reopened": issue, "closed": shut} {
			if want := kind + " " + r.Ref(r.host, at).String()[len(r.host)+1:]; !strings.Contains(got, want) {
				t.Errorf("no %s in %q", want, got)
			}
		}
	})
}
