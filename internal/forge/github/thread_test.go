package github

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/slot"
)

func TestThread_Issue(t *testing.T) {
	r := newRig(t)
	r.AddUser(forgetest.User{Login: "octo", Association: "owner"})
	at := r.AddIssue(repoPath, "octo", "A title", "A body")
	r.Label(at, "bug/ui", true, "octo")
	r.AddComment(at, "octo", "hi")
	r.Edit(at, func(x *forgetest.Thread) { x.Assignees = []string{"bot-b"} })
	got := must[forge.Thread](t)(r.gh.Thread(t.Context(), r.Ref(r.host, at)))
	now := r.clock.Wall()
	want := forge.Thread{
		Ref: r.Ref(r.host, at), State: forge.Open, Title: "A title", Body: "A body",
		Author: forge.Person{Login: "octo", Association: "owner"}, Labels: []string{"bug/ui"}, Assignees: []string{"bot-b"},
		Comments: 1, Created: now, Updated: now, UpdatedText: "2026-03-01T12:00:00Z",
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b slot.Ref) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	// C30: for a plain issue no pull request call is made.
	if want := []string{"GET /repos/octo/hello/issues/1"}; !slices.Equal(r.requests(), want) {
		t.Errorf("requests: %v", r.requests())
	}
}

func TestThread_ClosedWithReason(t *testing.T) {
	r := newRig(t)
	at := r.AddIssue(repoPath, "octo", "A", "")
	r.Close(at, "octo")
	r.Edit(at, func(x *forgetest.Thread) { x.Reason = "not_planned" })
	got := must[forge.Thread](t)(r.gh.Thread(t.Context(), r.Ref(r.host, at)))
	if got.State != forge.Closed || got.Reason != "not_planned" || !got.Closed.Equal(r.clock.Wall()) {
		t.Errorf("%+v", got)
	}
}

// C30: what is a pull request is told by the issue, and its head is read with it.
func TestC30_PullRequest(t *testing.T) {
	r := newRig(t)
	at := r.AddPull(repoPath, "octo", "A", "topic")
	r.Edit(at, func(x *forgetest.Thread) {
		x.Draft, x.Mergeable, x.Reviewers = true, "conflict", []string{"bot-b"}
		x.Head.Repo = "Somebody/Hello"
	})
	head := r.Push(at)
	r.AddComment(at, "octo", "hi")
	got := must[forge.Thread](t)(r.gh.Thread(t.Context(), r.Ref(r.host, at)))
	switch {
	case !got.Pull || !got.Draft || got.Mergeable != "conflict" || got.Comments != 1 || got.RepoID == "" || got.MergeSha != "":
		t.Errorf("%+v", got)
	case got.Head != forge.End{Repo: r.host + "/somebody/hello", Branch: "topic", Sha: head} || !got.Fork():
		t.Errorf("head: %+v", got.Head)
	case got.Base.Repo != r.repo || got.Base.Branch != "main" || !slices.Equal(got.Reviewers, []string{"bot-b"}):
		t.Errorf("base: %+v, reviewers: %v", got.Base, got.Reviewers)
	}
	r.Edit(at, func(x *forgetest.Thread) { x.Mergeable, x.Head = "", forgetest.End{Branch: "topic", Sha: head} })
	if got := must[forge.Thread](t)(r.gh.Thread(t.Context(), got.Ref)); got.Mergeable != "" || got.Head.Repo != "" || !got.Fork() {
		t.Errorf("not known yet, and a fork that is gone: %+v", got)
	}
	r.Merge(at, "octo")
	if got := must[forge.Thread](t)(r.gh.Thread(t.Context(), got.Ref)); got.State != forge.Merged || got.MergeSha == "" || got.Closed.IsZero() {
		t.Errorf("merged: %+v", got)
	}
}

// Renames and transfers: the thread is read where it is now.
func TestThread_RenamedAndMoved(t *testing.T) {
	r := newRig(t)
	issue, pull := r.AddIssue(repoPath, "octo", "A", ""), r.AddPull(repoPath, "octo", "B", "topic")
	ref, pullRef := r.Ref(r.host, issue), r.Ref(r.host, pull)
	r.Rename(repoPath, "Octo/World")
	got := must[forge.Thread](t)(r.gh.Thread(t.Context(), ref))
	if repo, _ := r.Repo("octo/world"); got.Ref.String() != r.host+"/octo/world#1" || got.RepoID == "" || repo.ID == 0 {
		t.Errorf("renamed: %s, repository %q", got.Ref, got.RepoID)
	}
	if got := must[forge.Thread](t)(r.gh.Thread(t.Context(), pullRef)); got.Ref.String() != r.host+"/octo/world#2" || got.Head.Repo != r.host+"/octo/world" {
		t.Errorf("renamed pull request: %+v", got)
	}
	r.AddRepo("octo/elsewhere")
	r.AddIssue("octo/elsewhere", "octo", "first", "")
	r.MoveIssue(issue, "octo/elsewhere")
	if got := must[forge.Thread](t)(r.gh.Thread(t.Context(), ref)); got.Ref.String() != r.host+"/octo/elsewhere#2" || got.State != forge.Open {
		t.Errorf("moved: %+v", got)
	}
}

// C46, P8: what cannot be seen is neither closed nor free.
func TestC46_Unseen(t *testing.T) {
	for status, want := range map[int]error{
		http.StatusNotFound: forge.ErrNotFound, http.StatusGone: forge.ErrNotFound, http.StatusForbidden: forge.ErrForbidden,
		http.StatusUnauthorized: forge.ErrUnauthorized, http.StatusBadGateway: nil,
	} {
		r := newRig(t)
		ref := r.Ref(r.host, r.AddIssue(repoPath, "octo", "A", ""))
		remove := r.Inject(forgetest.Fault{Path: "/issues/", Status: status})
		got, err := r.gh.Thread(t.Context(), ref)
		if !errors.Is(err, slot.ErrUnknown) || want != nil && !errors.Is(err, want) || got.State != "" {
			t.Errorf("%d: %v, %+v", status, err, got)
		}
		if e := new(forge.Error); !errors.As(err, &e) || e.Status != status || !strings.Contains(e.Op, ref.String()) {
			t.Errorf("%d: %v", status, err)
		}
		remove()
		must[forge.Thread](t)(r.gh.Thread(t.Context(), ref)) // and it lets pass
	}
}

// An answer that is not what was asked for is an error.
func TestThread_OddAnswers(t *testing.T) {
	for _, body := range []string{"", "null", "{}", "[]", `{"id":1,"number":1}`, `{"id":1,"number":1,"state":"open","repository_url":"x"}`,
		`{"id":1,"number":1,"repository_url":"https://h/repos/octo/hello"}`, `{"id":1,"number":0,"state":"open","repository_url":"https://h/repos/octo/hello"}`,
		`<html>`, `{"id":1,"num`} {
		c := served(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
		ref, err := slot.ParseCanonical(c.host + "/octo/hello#1")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Thread(t.Context(), ref); !errors.Is(err, slot.ErrUnknown) {
			t.Errorf("%q: %v, %+v", body, err, got)
		}
	}
}

// C60: names come from payloads, addresses do not, and no redirect leads to another host.
func TestC60_OtherHosts(t *testing.T) {
	r := newRig(t)
	ref := r.Ref(r.host, r.AddPull(repoPath, "octo", "A", "topic"))
	r.Poison("http://127.0.0.1:1")
	if got := must[forge.Thread](t)(r.gh.Thread(t.Context(), ref)); got.Ref != ref {
		t.Errorf("%+v", got)
	}
	for range 120 {
		r.AddComment(forgetest.At{Repo: repoPath, Number: 1}, "octo", "x")
	}
	if got := must[forge.Comments](t)(r.gh.Comments(t.Context(), ref)); len(got.List) != 120 { // Link leads nowhere else either
		t.Errorf("%d comments", len(got.List))
	}
	for _, to := range []string{"http://127.0.0.1:1/x", "http://169.254.169.254/latest"} {
		remove := r.Inject(forgetest.Fault{Path: "/issues/", Status: http.StatusMovedPermanently, Header: http.Header{"Location": {to}}})
		if _, err := r.gh.Thread(t.Context(), ref); !errors.Is(err, slot.ErrUnknown) {
			t.Errorf("%s: %v", to, err)
		}
		remove()
	}
	foreign, err := slot.ParseCanonical("gitlab.com/octo/hello#1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.gh.Thread(t.Context(), foreign); !errors.Is(err, slot.ErrUnknown) {
		t.Errorf("another host: %v", err)
	}
}

// C45: every kind of limit stops the whole client for as long as it says; a plain 403
// does not.
func TestC45_Limits(t *testing.T) {
	r := newRig(t)
	at := r.AddPull(repoPath, "octo", "A", "topic")
	ref := r.Ref(r.host, at)
	phrase := forgetest.Limited(http.StatusForbidden, "")
	phrase.Header = nil
	for name, c := range map[string]struct {
		fault forgetest.Fault
		least time.Duration
	}{
		"retry-after": {forgetest.Limited(http.StatusForbidden, "90"), 90 * time.Second},
		"429":         {forgetest.Limited(http.StatusTooManyRequests, "45"), 45 * time.Second},
		"phrase":      {phrase, time.Minute},
		"graphql":     {forgetest.Fault{Status: http.StatusOK, Body: `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`}, time.Minute},
		"graphql, with a time": {forgetest.Fault{Status: http.StatusOK, Header: http.Header{"Retry-After": {"30"}},
			Body: `{"data":null,"errors":[{"type":"RATE_LIMIT","code":"graphql_rate_limit","message":"API rate limit already exceeded for user ID 1."}]}`}, 30 * time.Second},
	} {
		c.fault.Path = "/graphql"
		remove := r.Inject(c.fault)
		_, err := r.gh.Reviews(t.Context(), ref)
		remove()
		if !errors.Is(err, forge.ErrLimited) || !errors.Is(err, slot.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
		r.clock.Advance(c.least - time.Second)
		r.Forget()
		if _, err := r.gh.Thread(t.Context(), ref); !errors.Is(err, forge.ErrLimited) || len(r.Requests()) != 0 {
			t.Errorf("%s: a request left before the time named: %v, %v", name, err, r.requests())
		}
		r.clock.Advance(time.Hour)
		must[forge.Thread](t)(r.gh.Thread(t.Context(), ref))
	}
	remove := r.Inject(forgetest.Fault{Path: "/issues/", Status: http.StatusForbidden, Body: `{"message":"Resource not accessible by integration"}`})
	if _, err := r.gh.Thread(t.Context(), ref); !errors.Is(err, forge.ErrForbidden) || errors.Is(err, forge.ErrLimited) {
		t.Errorf("plain 403: %v", err)
	}
	remove()
	must[forge.Thread](t)(r.gh.Thread(t.Context(), ref))
}
