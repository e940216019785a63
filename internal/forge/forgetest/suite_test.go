package forgetest_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/forge/gitea"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/slot"
)

// wrong is a right client with something wrong on purpose.
type wrong struct {
	*gitea.Client
	comments func(forge.Comments, error) (forge.Comments, error)
	thread   func(forge.Thread, error) (forge.Thread, error)
	post     func(again func() (forge.Comment, error), c forge.Comment, err error) (forge.Comment, error)
	changed  func(forge.Changes) forge.Changes
	can      func(*forge.Capabilities)
}

func (w wrong) Comments(ctx context.Context, ref slot.Ref) (forge.Comments, error) {
	c, err := w.Client.Comments(ctx, ref)
	if w.comments != nil {
		return w.comments(c, err)
	}
	return c, err
}

func (w wrong) Thread(ctx context.Context, ref slot.Ref) (forge.Thread, error) {
	t, err := w.Client.Thread(ctx, ref)
	if w.thread != nil {
		return w.thread(t, err)
	}
	return t, err
}

func (w wrong) Comment(ctx context.Context, ref slot.Ref, body string) (forge.Comment, error) {
	post := func() (forge.Comment, error) { return w.Client.Comment(ctx, ref, body) }
	c, err := post()
	if w.post != nil {
		return w.post(post, c, err)
	}
	return c, err
}

func (w wrong) Changed(ctx context.Context, repo string, since time.Time, seen forge.Seen) (forge.Changes, error) {
	c, err := w.Client.Changed(ctx, repo, since, seen)
	if w.changed != nil {
		c = w.changed(c)
	}
	return c, err
}

func (w wrong) Capabilities() forge.Capabilities {
	c := w.Client.Capabilities()
	if w.can != nil {
		w.can(&c)
	}
	return c
}

// The suite is worth what it catches: each wrong client fails it, in a test that
// names the case.
func TestSuiteCatches(t *testing.T) {
	for _, tt := range []struct {
		name   string
		wrong  wrong
		caught []string
	}{
		{"FirstPageOnly", wrong{comments: func(c forge.Comments, err error) (forge.Comments, error) {
			c.List = c.List[:min(len(c.List), 30)]
			return c, err
		}}, []string{"C14/Comments/FoundOnAnyPage"}},
		{"ShortIsEnough", wrong{comments: func(c forge.Comments, err error) (forge.Comments, error) {
			if errors.Is(err, forge.ErrShort) {
				err = nil
			}
			return c, err
		}}, []string{"C15/Comments/ShorterThanItsCounter"}},
		{"OurOwnClock", wrong{comments: func(c forge.Comments, err error) (forge.Comments, error) {
			c.At = time.Now()
			return c, err
		}}, []string{"C22/Comments/ClockOfTheForge"}},
		{"MissingIsClosed", wrong{thread: func(t forge.Thread, err error) (forge.Thread, error) {
			if errors.Is(err, forge.ErrNotFound) {
				return forge.Thread{State: forge.Closed}, nil
			}
			return t, err
		}}, []string{"C46/Errors/NeverAnAnswer", "C46/Errors/WhatIsNotThere"}},
		{"DraftIsAConflict", wrong{thread: func(t forge.Thread, err error) (forge.Thread, error) {
			if t.Draft {
				t.Mergeable = "conflict"
			}
			return t, err
		}}, []string{"C41/Thread/Draft"}},
		{"AnyHeadIsOurs", wrong{thread: func(t forge.Thread, err error) (forge.Thread, error) {
			t.Head.Repo = t.Base.Repo
			return t, err
		}}, []string{"Thread/AGit", "Thread/Fork"}},
		{"PostsTwice", wrong{post: func(again func() (forge.Comment, error), c forge.Comment, err error) (forge.Comment, error) {
			if err != nil {
				return again()
			}
			return c, err
		}}, []string{"Comment/KeptButNotAnswered"}},
		{"NewestFirst", wrong{changed: func(c forge.Changes) forge.Changes {
			slices.Reverse(c.Threads)
			return c
		}}, []string{"Changed/OldestFirst", "Changed/AllPages"}},
		{"ClaimsETags", wrong{can: func(c *forge.Capabilities) { c.ETags = true }}, []string{"Capabilities", "Changed/Quiet"}},
		{"ClaimsLinks", wrong{can: func(c *forge.Capabilities) { c.Links = true }}, []string{"Closing"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range tt.caught {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					one := func(c wrong) bool {
						return fails(t, func(t testing.TB) {
							forgetest.RunOne(t, name, forgetest.Gitea, func(t testing.TB, api, token string) forge.Client {
								c.Client = connect(t, api, token)
								return c
							})
						})
					}
					if !one(tt.wrong) {
						t.Error("it lets the wrong client pass")
					}
					if one(wrong{}) {
						t.Error("it does not let the right one pass")
					}
				})
			}
		})
	}
}

// fails runs one test without failing ourselves.
func fails(tb testing.TB, run func(testing.TB)) bool {
	r := &recorder{TB: tb}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer r.end()
		run(r)
	}()
	<-done
	return r.failed
}

// recorder notes a failure instead of having it.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failed   bool
	cleanups []func()
}

func (r *recorder) fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

func (r *recorder) Error(...any)          { r.fail() }
func (r *recorder) Errorf(string, ...any) { r.fail() }
func (r *recorder) Fatal(...any)          { r.fail(); runtime.Goexit() }
func (r *recorder) Fatalf(string, ...any) { r.fail(); runtime.Goexit() }
func (r *recorder) Skip(...any)           { runtime.Goexit() }
func (r *recorder) Cleanup(f func())      { r.cleanups = append(r.cleanups, f) }

func (r *recorder) end() {
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
}

type token string

func (t token) Token(context.Context) (string, error)         { return string(t), nil }
func (t token) Renew(context.Context, string) (string, error) { return "", nil }

func connect(t testing.TB, api, secret string) *gitea.Client {
	clk, err := clock.System()
	if err != nil {
		t.Fatal(err)
	}
	tr, err := transport.New(transport.Options{API: api, Token: token(secret), Header: gitea.Header, Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	c, err := gitea.New(forgetest.Host(api), api, tr, gitea.Gitea)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A fault is done as often as it says, to what it names.
func TestFaults(t *testing.T) {
	w, api := forgetest.NewGitea(t, nil)
	w.AddUser(forgetest.User{Login: "octo", Token: "secret", Writer: true})
	w.AddRepo("octo/hello")
	w.AddIssue("octo/hello", "octo", "x", "")
	get := func(path string) int {
		resp, err := http.Get(api + path)
		if err != nil {
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	w.Inject(forgetest.Fault{Path: "/issues/", Skip: 1, Every: 2, Times: 2, Status: 500})
	w.Inject(forgetest.Fault{Path: "/labels", Cut: true})
	var got []int
	for range 7 {
		got = append(got, get("/repos/octo/hello/issues/1"))
	}
	if want := []int{200, 200, 500, 200, 500, 200, 200}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := get("/repos/octo/hello/labels"); got != 0 {
		t.Errorf("cut: got %d", got)
	}
	if all, _ := w.Count("GET", "/issues/{n}"); all != 7 {
		t.Errorf("%d requests counted", all)
	}
	if list := w.Requests(); list[2].Status != 500 || list[7].Status != 0 || list[0].URI != "/api/v1/repos/octo/hello/issues/1" {
		t.Errorf("%+v", list)
	}
}

// Lists lag, the counter does not, and what was seen once stays seen.
func TestLag(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := forgetest.New(forgetest.GitHub, func() time.Time { return now })
	w.AddRepo("octo/hello")
	at := w.AddIssue("octo/hello", "octo", "x", "")
	w.SetReads(forgetest.Reads{Of: func(c forgetest.Comment) time.Duration {
		return map[string]time.Duration{"lower": 9 * time.Second, "edited": 5 * time.Second}[c.Body]
	}})
	lower := w.AddComment(at, "a", "lower")
	higher := w.AddComment(at, "b", "higher")
	if lower.ID >= higher.ID {
		t.Fatal("ids do not grow")
	}
	w.EditComment(higher.ID, "edited")
	seen := func() string {
		var all []string
		for _, c := range w.Listed(at) {
			all = append(all, c.Body)
		}
		return strings.Join(all, " ")
	}
	for _, step := range []struct {
		after time.Duration
		want  string
	}{{0, "higher"}, {5 * time.Second, "edited"}, {4 * time.Second, "lower edited"}} {
		now = now.Add(step.after)
		if got := seen(); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
		if th, _ := w.Thread(at); th.Comments != 2 {
			t.Errorf("the counter is %d", th.Comments)
		}
	}
	w.SetReads(forgetest.Reads{Lag: forgetest.Range{Min: time.Second, Max: time.Second}})
	w.DeleteComment(lower.ID)
	if got := seen(); got != "lower edited" {
		t.Errorf("a deletion lags, too: %q", got)
	}
	now = now.Add(time.Second)
	if got := seen(); got != "edited" {
		t.Errorf("got %q", got)
	}
}

// Before its commit a comment has its id, and nobody sees it; a higher one is seen.
func TestLateCommit(t *testing.T) {
	w := forgetest.New(forgetest.Gitea, nil)
	w.AddRepo("octo/hello")
	at := w.AddIssue("octo/hello", "octo", "x", "")
	begun, done := make(chan struct{}), make(chan forgetest.Comment)
	w.SetReads(forgetest.Reads{
		Commit: forgetest.Range{Min: 300 * time.Millisecond, Max: 300 * time.Millisecond},
		Of:     func(forgetest.Comment) time.Duration { close(begun); return 0 },
	})
	go func() { done <- w.Post(at, "a", "lower") }()
	<-begun
	w.SetReads(forgetest.Reads{})
	higher := w.Post(at, "b", "higher")
	if list := w.Listed(at); len(list) != 1 || list[0].ID != higher.ID {
		t.Errorf("before the commit: %+v", list)
	}
	lower := <-done
	if list := w.Listed(at); len(list) != 2 || list[0].ID != lower.ID || lower.ID > higher.ID {
		t.Errorf("after it: %+v", list)
	}
}
