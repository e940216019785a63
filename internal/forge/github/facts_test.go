package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/slot"
)

func TestChecks(t *testing.T) {
	r := newRig(t)
	sha := r.NewSha()
	r.SetCheck(sha, forgetest.Check{Name: "test", State: forge.Failure, App: "github-actions"})
	r.clock.Advance(time.Minute)
	run := r.SetCheck(sha, forgetest.Check{Name: "test", State: forge.Success, App: "github-actions"})
	r.SetCheck(sha, forgetest.Check{Name: "lint", State: forge.Pending, App: "github-actions"})
	status := r.SetCheck(sha, forgetest.Check{Name: "ci/x", State: forge.Failure})
	for i := range 150 {
		r.SetCheck(sha, forgetest.Check{Name: fmt.Sprint("many ", i), State: forge.Success, App: "github-actions"})
	}
	got := must[[]forge.Check](t)(r.gh.Checks(t.Context(), r.repo, sha))
	if len(got) != 153 {
		t.Fatalf("%d checks", len(got))
	}
	by := map[string]forge.Check{}
	for _, c := range got {
		by[c.Name] = c
	}
	for name, want := range map[string]forge.Check{
		"test": {Name: "test", State: forge.Success, Result: "success", App: "github-actions", ID: fmt.Sprint(run.ID), Again: "2026-03-01T12:01:00Z"},
		"lint": {Name: "lint", State: forge.Pending, Result: "in_progress", App: "github-actions", ID: by["lint"].ID},
		"ci/x": {Name: "ci/x", State: forge.Failure, Result: "failure", ID: fmt.Sprint(status.ID), Again: "2026-03-01T12:01:00+00:00"},
	} {
		if by[name] != want {
			t.Errorf("%s: %+v, want %+v", name, by[name], want)
		}
	}
}

// A check is told apart by the same words as in GitHub's own webhook.
func TestChecks_AsTheWebhook(t *testing.T) {
	var event struct {
		CheckRun  *github.CheckRun `json:"check_run"`
		ID        int64            `json:"id"`
		UpdatedAt string           `json:"updated_at"`
	}
	var raw struct {
		CheckRun struct {
			CompletedAt string `json:"completed_at"`
		} `json:"check_run"`
	}
	read(t, "26-check_run.completed.json", &event, &raw)
	got := checkRun(event.CheckRun)
	if got.Again != raw.CheckRun.CompletedAt || got.ID != fmt.Sprint(event.CheckRun.GetID()) || got.State != forge.Failure {
		t.Errorf("%+v, webhook: %+v", got, raw)
	}
	var state github.RepoStatus
	event.UpdatedAt = ""
	read(t, "36-status.json", &event, &state)
	if got := commitStatus(&state); got.Again != event.UpdatedAt || got.ID != fmt.Sprint(event.ID) {
		t.Errorf("%+v, webhook: %d %s", got, event.ID, event.UpdatedAt)
	}
}

func read(t *testing.T, name string, into ...any) {
	t.Helper()
	body, err := os.ReadFile("../../intake/hook/testdata/github/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range into {
		if err := json.Unmarshal(body, v); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOutcome(t *testing.T) {
	for result, want := range map[string]string{
		"success": forge.Success, "failure": forge.Failure, "error": forge.Failure, "timed_out": forge.Failure, "startup_failure": forge.Failure,
		"action_required": forge.Failure, "pending": forge.Pending, "cancelled": forge.Neutral, "skipped": forge.Neutral, "neutral": forge.Neutral,
		"stale": forge.Neutral, "": forge.Neutral, "something new": forge.Neutral,
	} {
		if got := outcome(result); got != want {
			t.Errorf("%q: %s, want %s", result, got, want)
		}
	}
}

// A list that is shorter than GitHub's own count is no list.
func TestChecks_Short(t *testing.T) {
	for _, body := range []string{
		`{"total_count":2,"check_runs":[{"id":1}],"statuses":[]}`, `{"total_count":1,"check_runs":[{"id":1}],"statuses":[]}`,
		`{"total_count":0}`, ``, `{"total_count":0,"check_runs":[]}`,
	} {
		c := served(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
		if got, err := c.Checks(t.Context(), c.host+"/octo/hello", "abc"); !errors.Is(err, slot.ErrUnknown) {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}

func TestReviews(t *testing.T) {
	r := newRig(t)
	at := r.AddPull(repoPath, "octo", "A", "topic")
	for _, v := range [][2]string{
		{"ann", "commented"}, {"ann", "changes_requested"}, {"ann", "commented"}, // her request stands
		{"bob", "changes_requested"}, {"bob", "approved"}, // his does not
		{"cem", "approved"}, {"cem", "dismissed"}, {"dee", "commented"}, {"dee", "pending"},
	} {
		r.AddReview(at, v[0], v[1], "text")
		r.clock.Advance(time.Second)
	}
	r.AddUser(forgetest.User{Login: "dependabot[bot]", Bot: true})
	for i := range 101 {
		if talk := r.AddTalk(at, "ann", "first"); i > 0 {
			r.Resolve(at, talk)
		}
	}
	open := r.AddTalk(at, "ann", "why?")
	r.Answer(at, open, "dependabot[bot]", "because")
	got := must[forge.Reviews](t)(r.gh.Reviews(t.Context(), r.Ref(r.host, at)))
	var words []string
	for _, v := range got.Reviews {
		words = append(words, v.Author.Login+" "+v.State+" "+v.UpdatedText)
	}
	want := []string{"ann changes_requested 2026-03-01T12:00:01Z", "bob approved 2026-03-01T12:00:04Z", "cem dismissed 2026-03-01T12:00:06Z", "dee commented 2026-03-01T12:00:07Z"}
	if !slices.Equal(words, want) {
		t.Errorf("%v, want %v", words, want)
	}
	if len(got.Unresolved) != 2 || !got.Known {
		t.Fatalf("%+v", got.Unresolved)
	}
	last := got.Unresolved[1].Last
	if last.Body != "because" || !last.Author.Bot || last.Author.Login != "dependabot[bot]" || last.ID == 0 {
		t.Errorf("%+v", last)
	}
}

// C28, C29: the open pull requests of the base repository with exactly that head.
func TestC28_C29_PullsByHead(t *testing.T) {
	for _, others := range []int{0, 250} {
		r := newRig(t)
		r.AddRepo("octo/other")
		sha := r.NewSha()
		set := func(at forgetest.At, repo string) forgetest.At {
			r.Edit(at, func(x *forgetest.Thread) { x.Head.Sha, x.Head.Repo = sha, repo })
			return at
		}
		fork := set(r.AddPull(repoPath, "octo", "from a fork", "topic"), "somebody/hello")
		closed := set(r.AddPull(repoPath, "octo", "closed", "topic"), repoPath)
		r.Close(closed, "octo")
		set(r.AddPull("octo/other", "octo", "into another", "topic"), repoPath)
		for range others { // newer than the fork's
			r.clock.Advance(time.Second)
			r.AddPull(repoPath, "octo", "x", "y")
		}
		got := must[[]forge.Thread](t)(r.gh.PullsByHead(t.Context(), r.repo, sha))
		if len(got) != 1 || got[0].Ref != r.Ref(r.host, fork) {
			t.Errorf("beside %d others: %+v", others, got)
		}
		own := set(r.AddPull(repoPath, "octo", "the same head", "topic"), repoPath)
		set(fork, "somebody/hello")
		got = must[[]forge.Thread](t)(r.gh.PullsByHead(t.Context(), r.repo, sha))
		if len(got) != 2 || got[0].Ref == got[1].Ref || got[0].Head.Sha != sha || own == fork {
			t.Errorf("two with one head, beside %d others: %+v", others, got)
		}
		if got := must[[]forge.Thread](t)(r.gh.PullsByHead(t.Context(), r.repo, r.NewSha())); len(got) != 0 {
			t.Errorf("a head of nothing: %+v", got)
		}
	}
}

// C28: a look-up that failed is no "none".
func TestC28_Failed(t *testing.T) {
	r := newRig(t)
	r.Inject(forgetest.Fault{Path: "/pulls", Status: http.StatusBadGateway})
	if got, err := r.gh.PullsByHead(t.Context(), r.repo, r.NewSha()); !errors.Is(err, slot.ErrUnknown) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestClosing(t *testing.T) {
	r := newRig(t)
	r.AddRepo("octo/other")
	issue := r.AddIssue(repoPath, "octo", "A", "")
	for i := range 60 {
		r.Link(r.AddPull("octo/other", "octo", fmt.Sprint(i), "topic"), issue)
	}
	merged := r.AddPull(repoPath, "octo", "B", "topic")
	r.Link(merged, issue)
	r.Merge(merged, "octo")
	got := must[[]forge.Thread](t)(r.gh.Closing(t.Context(), r.Ref(r.host, issue)))
	i := slices.IndexFunc(got, func(x forge.Thread) bool { return x.Ref == r.Ref(r.host, merged) })
	if len(got) != 61 || i < 0 || got[i].State != forge.Merged || got[i].MergeSha == "" || got[i].Base.Branch != "main" || got[i].Head.Repo != r.repo {
		t.Fatalf("%d pull requests, %d: %+v", len(got), i, got)
	}
	got = must[[]forge.Thread](t)(r.gh.Closing(t.Context(), r.Ref(r.host, merged)))
	if len(got) != 1 || got[0].Ref != r.Ref(r.host, issue) || got[0].Pull || got[0].State != forge.Closed {
		t.Errorf("%+v", got)
	}
	missing, err := slot.ParseCanonical(r.repo + "#999")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.gh.Closing(t.Context(), missing); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a missing one: %v", err)
	}
}

// Data that comes with errors is not read: what is missing would count as none.
func TestClosing_HalfAnAnswer(t *testing.T) {
	for body, want := range map[string]error{
		`{"data":{"repository":{"issueOrPullRequest":{"pulls":{"pageInfo":{},"nodes":[]}}}},"errors":[{"type":"FORBIDDEN","message":"x"}]}`: forge.ErrForbidden,
		`{"data":{"repository":{"issueOrPullRequest":{"pulls":{"pageInfo":{},"nodes":[null]}}}}}`:                                           forge.ErrForbidden,
		`{"data":{"repository":{"issueOrPullRequest":null}}}`:                                                                               forge.ErrNotFound,
		`{"data":{"repository":{"issueOrPullRequest":{}}}}`:                                                                                 slot.ErrUnknown,
		`{"data":null}`: slot.ErrUnknown, `{}`: slot.ErrUnknown, ``: slot.ErrUnknown, `{"errors":[{"message":"timeout"}]}`: slot.ErrUnknown,
	} {
		c := served(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
		ref, err := slot.ParseCanonical(c.host + "/octo/hello#1")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Closing(t.Context(), ref); !errors.Is(err, want) || !errors.Is(err, slot.ErrUnknown) {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}

func TestReopened(t *testing.T) {
	r := newRig(t)
	at := r.AddIssue(repoPath, "octo", "A", "")
	ref := r.Ref(r.host, at)
	if got := must[time.Time](t)(r.gh.Reopened(t.Context(), ref)); !got.IsZero() {
		t.Errorf("never: %v", got)
	}
	for range 60 {
		r.clock.Advance(time.Minute)
		r.Close(at, "octo")
		r.Reopen(at, "octo")
	}
	if got := must[time.Time](t)(r.gh.Reopened(t.Context(), ref)); !got.Equal(r.clock.Wall()) {
		t.Errorf("%v, want %v", got, r.clock.Wall())
	}
}

func TestCommits(t *testing.T) {
	r := newRig(t)
	list, more, err := r.gh.Commits(t.Context(), r.repo, time.Time{})
	if len(list) != 0 || more || err != nil {
		t.Errorf("an empty repository: %v, %v, %v", list, more, err)
	}
	for i := range 400 {
		r.AddCommit(repoPath, fmt.Sprintf("Fix (#%d)\n\nbody", i))
		r.clock.Advance(time.Minute)
	}
	list, more, err = r.gh.Commits(t.Context(), r.repo, time.Time{})
	if len(list) != 300 || !more || err != nil || list[0].Message != "Fix (#399)\n\nbody" || list[0].At.IsZero() {
		t.Errorf("%d, %v, %v", len(list), more, err)
	}
	list, more, err = r.gh.Commits(t.Context(), r.repo, r.clock.Wall().Add(-10*time.Minute))
	if len(list) != 10 || more || err != nil {
		t.Errorf("since: %d, %v, %v", len(list), more, err)
	}
}
