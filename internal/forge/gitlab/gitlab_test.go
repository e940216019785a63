package gitlab_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/slot"
)

const (
	canary = "glpat-canary-51d0"
	deep   = "group/sub/deep/Project"
)

// world is a GitLab with one project three groups deep, and a client of it.
func world(t *testing.T) (*forgetest.World, string, forge.Client) {
	t.Helper()
	w, api := forgetest.NewGitLab(t, nil)
	w.AddUser(forgetest.User{Login: "octo", Token: canary, Writer: true})
	w.AddRepo(deep)
	return w, forgetest.Host(api), connect(t, api, canary)
}

// script is a GitLab that answers what it is told to, by "METHOD path".
func script(t *testing.T, answers map[string]string) (string, forge.Client) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.Method+" "+strings.TrimPrefix(r.URL.EscapedPath(), "/api/v4")]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			answer = `{"message":"404 Not found"}`
		}
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(server.Close)
	api := server.URL + "/api/v4"
	return forgetest.Host(api), connect(t, api, canary)
}

func ref(t *testing.T, text string) slot.Ref {
	t.Helper()
	r, err := slot.ParseCanonical(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// C44: issue 1 and merge request 1 of a project three groups deep are two slots.
func TestC44_OneNumberTwoSlots(t *testing.T) {
	w, host, c := world(t)
	w.AddIssue(deep, "alice", "an issue", "")
	w.AddPull(deep, "alice", "a change", "f")
	issue, merge := host+"/group/sub/deep/project#1", host+"/group/sub/deep/project!1"
	for text, title := range map[string]string{issue: "an issue", merge: "a change"} {
		got, err := c.Thread(t.Context(), ref(t, text))
		if err != nil || got.Title != title || got.Ref.String() != text {
			t.Errorf("%s: %s %q, %v", text, got.Ref, got.Title, err)
		}
	}
	list, err := c.Open(t.Context(), host+"/group/sub/deep/project")
	if err != nil || len(list) != 2 || list[0].Ref == list[1].Ref {
		t.Errorf("%v, %v", list, err)
	}
}

// C40: an issue that was moved out of sight is unknown, not closed.
func TestC40_MovedOutOfSight(t *testing.T) {
	host, c := script(t, map[string]string{
		"GET /projects/a%2Fb/issues/1": `{"id":5,"iid":1,"state":"closed","moved_to_id":9,"references":{"full":"a/b#1"}}`,
		"POST /api/graphql":            `{"data":{"issue":null}}`,
	})
	_, err := c.Thread(t.Context(), ref(t, host+"/a/b#1"))
	if !errors.Is(err, forge.ErrNotFound) || !errors.Is(err, slot.ErrUnknown) {
		t.Error(err)
	}
}

// An answer that is about another thread than it should be is no answer.
func TestAnswersThatDoNotSayWhich(t *testing.T) {
	for _, answer := range []string{`{}`, `{"iid":1,"state":"opened"}`, `{"iid":1,"references":{"full":"a/b#2"}}`, `{"iid":1,"references":{"full":"a/b!1"}}`, `[]`, ``} {
		host, c := script(t, map[string]string{"GET /projects/a%2Fb/issues/1": answer})
		if got, err := c.Thread(t.Context(), ref(t, host+"/a/b#1")); !errors.Is(err, slot.ErrUnknown) {
			t.Errorf("%s: %+v, %v", answer, got, err)
		}
	}
}

func TestMergeStates(t *testing.T) {
	for words, want := range map[string]string{
		`"state":"opened","detailed_merge_status":"mergeable"`:                         "open clean",
		`"state":"opened","detailed_merge_status":"ci_must_pass"`:                      "open clean",
		`"state":"opened","detailed_merge_status":"draft_status","has_conflicts":true`: "open conflict",
		`"state":"opened","detailed_merge_status":"conflict"`:                          "open conflict",
		`"state":"opened","detailed_merge_status":"checking","has_conflicts":true`:     "open ",
		`"state":"opened"`: "open ",
		`"state":"locked","detailed_merge_status":"unchecked"`:                               "open ",
		`"state":"closed","detailed_merge_status":"not_open","merge_commit_sha":"aa"`:        "closed ",
		`"state":"merged","sha":"cc","merged_at":"2026-01-04T15:31:51.080Z"`:                 "merged cc",
		`"state":"merged","sha":"cc","squash_commit_sha":"bb"`:                               "merged bb",
		`"state":"merged","sha":"cc","squash_commit_sha":"bb","merge_commit_sha":"aa"`:       "merged aa",
		`"state":"opened","source_project_id":null,"detailed_merge_status":"commits_status"`: "open clean",
	} {
		host, c := script(t, map[string]string{
			"GET /projects/a%2Fb/merge_requests/1": `{"iid":1,"project_id":3,"references":{"full":"a/b!1"},` + words + `}`})
		got, err := c.Thread(t.Context(), ref(t, host+"/a/b!1"))
		if err != nil || got.State+" "+got.Mergeable+got.MergeSha != want {
			t.Errorf("%s: %s %s%s, %v", words, got.State, got.Mergeable, got.MergeSha, err)
		}
	}
}

// The pipeline is a check of its own, as it is in webhooks; a job that may fail says
// nothing; of a name the newest counts.
func TestChecks(t *testing.T) {
	sha := strings.Repeat("ab", 20)
	host, c := script(t, map[string]string{
		"GET /projects/a%2Fb/repository/commits/" + sha + "/statuses": `[
			{"id":4,"name":"test","status":"success","finished_at":"2026-01-04T15:31:51.080Z"},
			{"id":3,"name":"test","status":"failed"},
			{"id":5,"name":"lint","status":"failed","allow_failure":true},
			{"id":6,"name":"deploy","status":"manual"},
			{"id":7,"name":"docs","status":"waiting_for_resource"}]`,
		"GET /projects/a%2Fb/pipelines":    `[{"id":20,"status":"success"},{"id":21,"status":"failed"}]`,
		"GET /projects/a%2Fb/pipelines/21": `{"id":21,"status":"failed","finished_at":"2026-01-04T15:32:00.000Z"}`,
	})
	got, err := c.Checks(t.Context(), host+"/a/b", sha)
	var said []string
	for _, v := range got {
		said = append(said, fmt.Sprintf("%s %s %s %s", v.Name, v.State, v.ID, v.Again))
	}
	want := "deploy neutral 6 |docs pending 7 |lint neutral 5 |test success 4 2026-01-04T15:31:51.080Z|pipeline failure 21 2026-01-04T15:32:00.000Z"
	if err != nil || strings.Join(said, "|") != want {
		t.Errorf("%s, %v", strings.Join(said, "|"), err)
	}
}

// C02: what tells two verdicts of a reviewer apart is when GitLab noted them, not when he
// was made a reviewer. A verdict that it noted nowhere has no time.
func TestReviews_WhenTheyWereGiven(t *testing.T) {
	note := func(system bool, by, body, at string) string {
		return fmt.Sprintf(`{"id":"x","notes":[{"id":9,"system":%v,"author":{"username":%q},"body":%q,"created_at":%q}]}`, system, by, body, at)
	}
	host, c := script(t, map[string]string{
		"GET /projects/a%2Fb/merge_requests/1/approvals": `{"approved_by":[
			{"user":{"username":"cat"},"approved_at":"2026-01-05T10:00:00.500Z"},{"user":{"username":"dan"}}]}`,
		"GET /projects/a%2Fb/merge_requests/1/reviewers": `[
			{"user":{"username":"ann"},"state":"requested_changes","created_at":"2026-01-02T03:04:05.000Z"},
			{"user":{"username":"bob"},"state":"requested_changes","created_at":"2026-01-02T03:04:05.000Z"},
			{"user":{"username":"eve"},"state":"requested_changes","created_at":"2026-01-02T03:04:05.000Z"},
			{"user":{"username":"fay"},"state":"reviewed","created_at":"2026-01-02T03:04:05.000Z"}]`,
		"GET /projects/a%2Fb/merge_requests/1/discussions": "[" + strings.Join([]string{
			note(true, "ann", "requested changes", "2026-01-03T10:00:00.000Z"),
			note(true, "bob", "requested changes", "2026-01-03T10:00:00.000Z"),
			note(true, "ann", "requested changes", "2026-01-04T10:00:00.000Z"),
			note(false, "ann", "requested changes", "2026-01-09T10:00:00.000Z"),
			note(true, "dan", "approved this merge request", "2026-01-06T10:00:00.000Z"),
			note(true, "eve", "approved this merge request", "2026-01-06T10:00:00.000Z"),
		}, ",") + "]",
	})
	got, err := c.Reviews(t.Context(), ref(t, host+"/a/b!1"))
	var said []string
	for _, r := range got.Reviews {
		said = append(said, strings.TrimSpace(r.Author.Login+" "+r.State+" "+r.UpdatedText))
	}
	want := "eve changes_requested|fay commented|bob changes_requested 2026-01-03T10:00:00.000Z|ann changes_requested 2026-01-04T10:00:00.000Z|" +
		"cat approved 2026-01-05T10:00:00.500Z|dan approved 2026-01-06T10:00:00.000Z"
	if err != nil || strings.Join(said, "|") != want {
		t.Errorf("%s, %v", strings.Join(said, "|"), err)
	}
}

// A comment that repeats texts of others is no command of ours; edits are the same.
func TestP12_NoQuickActions(t *testing.T) {
	w, host, c := world(t)
	at := w.AddIssue(deep, "alice", "x", "")
	body := "it said:\n/close\n  /label ~bug\n/2 of it, a/b and </p>\n<!-- marker -->"
	want := "it said:\n\\/close\n  \\/label ~bug\n/2 of it, a/b and </p>\n<!-- marker -->"
	made, err := c.Comment(t.Context(), w.Ref(host, at), body)
	if err != nil || made.Body != want {
		t.Fatalf("%q, %v", made.Body, err)
	}
	if made, err = c.EditComment(t.Context(), w.Ref(host, at), made.ID, "/merge"); err != nil || made.Body != `\/merge` {
		t.Fatalf("%q, %v", made.Body, err)
	}
}

func TestLabels(t *testing.T) {
	w, host, c := world(t)
	at := w.AddIssue(deep, "alice", "x", "")
	for _, label := range []string{"", "a,b", " a"} {
		if err := c.AddLabel(t.Context(), w.Ref(host, at), label); !errors.Is(err, forge.ErrRefused) {
			t.Errorf("%q: %v", label, err)
		}
	}
	// GitLab leaves out what the token may not do, and answers 200.
	w.AddUser(forgetest.User{Login: "octo", Token: canary})
	for what, err := range map[string]error{
		"label": c.AddLabel(t.Context(), w.Ref(host, at), "a"), "lock": c.Lock(t.Context(), w.Ref(host, at)),
	} {
		if !errors.Is(err, forge.ErrForbidden) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What changes while a list is read moves to its end; what then slips forward, from a
// page that was not read yet to one that was, is not missed.
func TestChangesWhilePagesAreRead(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	w, api := forgetest.NewGitLab(t, func() time.Time { return now })
	w.AddUser(forgetest.User{Login: "octo", Token: canary})
	w.AddRepo(deep)
	var all []forgetest.At
	for i := range 250 {
		if i < 50 || i >= 200 { // between them, more than a page of one second
			now = now.Add(time.Second)
		}
		all = append(all, w.AddIssue(deep, "alice", fmt.Sprint(i), ""))
	}
	target, err := url.Parse(strings.TrimSuffix(api, "/api/v4"))
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(r *http.Response) error {
			if strings.HasSuffix(r.Request.URL.Path, "/issues") {
				now = now.Add(time.Second)
				w.Edit(all[pages], func(th *forgetest.Thread) { th.Body += "." })
				pages++
			}
			return nil
		},
	})
	t.Cleanup(proxy.Close)
	c := connect(t, proxy.URL+"/api/v4", canary)
	got, err := c.Changed(t.Context(), forgetest.Host(proxy.URL)+"/"+strings.ToLower(deep), time.Time{}, forge.Seen{})
	if err != nil || len(got.Threads) != len(all) || pages < 3 {
		t.Fatalf("%d of %d in %d pages, %v", len(got.Threads), len(all), pages, err)
	}
}

// Two changes in one second look the same to the quick question: it is not relied on
// before that second is over.
func TestQuietOnlyOnceItIsSure(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 100e6, time.UTC)
	w, api := forgetest.NewGitLab(t, func() time.Time { return now })
	w.AddUser(forgetest.User{Login: "octo", Token: canary})
	w.AddRepo(deep)
	at := w.AddIssue(deep, "alice", "x", "")
	c, since := connect(t, api, canary), now.Add(-time.Hour)
	poll := func(seen forge.Seen) forge.Changes {
		t.Helper()
		got, err := c.Changed(t.Context(), forgetest.Host(api)+"/"+strings.ToLower(deep), since, seen)
		if err != nil || got.At.IsZero() {
			t.Fatal(err)
		}
		return got
	}
	first := poll(forge.Seen{})
	now = now.Add(500 * time.Millisecond)
	w.Edit(at, func(th *forgetest.Thread) { th.Body = "again" })
	if got := poll(first.Seen); got.Unchanged || len(got.Threads) != 1 {
		t.Errorf("%+v", got)
	}
	now = now.Add(time.Minute)
	sure := poll(first.Seen)
	if got := poll(sure.Seen); !got.Unchanged {
		t.Errorf("%+v", got)
	}
	since = since.Add(-time.Minute) // it was asked for less
	if got := poll(sure.Seen); got.Unchanged {
		t.Errorf("%+v", got)
	}
	w.Edit(at, func(th *forgetest.Thread) { th.Body = "and again" })
	if got := poll(sure.Seen); got.Unchanged || len(got.Threads) != 1 {
		t.Errorf("%+v", got)
	}
}

// Without GraphQL the lists are read each time.
func TestChangedWithoutGraphQL(t *testing.T) {
	w, host, c := world(t)
	w.AddIssue(deep, "alice", "x", "")
	w.Inject(forgetest.Fault{Path: "/graphql", Status: http.StatusNotFound})
	got, err := c.Changed(t.Context(), host+"/"+strings.ToLower(deep), time.Time{}, forge.Seen{})
	if err != nil || got.Unchanged || len(got.Threads) != 1 || got.Seen != (forge.Seen{}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A list that breaks off in the middle is unknown, not shorter.
func TestC14_BreaksOff(t *testing.T) {
	w, host, c := world(t)
	at := w.AddIssue(deep, "alice", "x", "")
	for range 250 {
		w.AddComment(at, "alice", "x")
	}
	w.Inject(forgetest.Fault{Path: "/notes", Skip: 2, Status: http.StatusBadGateway})
	if got, err := c.Comments(t.Context(), w.Ref(host, at)); !errors.Is(err, slot.ErrUnknown) || got.List != nil {
		t.Errorf("%d, %v", len(got.List), err)
	}
}

// C61: however a call fails, the token is in no error.
func TestC61_NoToken(t *testing.T) {
	w, host, c := world(t)
	at := w.AddIssue(deep, "alice", "x", "")
	for _, fault := range []forgetest.Fault{
		{Status: 401, Body: `{"message":"` + canary + ` is revoked"}`}, {Status: 403, Body: canary}, {Status: 404}, {Status: 500, Body: "<" + canary},
		{Status: 302, Header: http.Header{"Location": {"https://elsewhere.example/"}}}, {Cut: true}, {Status: 200, Body: "{"},
	} {
		remove := w.Inject(fault)
		_, err := c.Thread(t.Context(), w.Ref(host, at))
		_, err2 := c.Comment(t.Context(), w.Ref(host, at), "x")
		_, err3 := c.Changed(t.Context(), host+"/"+strings.ToLower(deep), time.Time{}, forge.Seen{})
		for _, err := range []error{err, err2, err3} {
			if text := spilled(err); err == nil || strings.Contains(text, canary) {
				t.Errorf("%+v: %s", fault, text)
			}
		}
		remove()
	}
}

// spilled is all that an error and those in it say.
func spilled(err error) string {
	text := fmt.Sprintf("%v %+v\n", err, err)
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		text += spilled(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			text += spilled(one)
		}
	}
	return text
}

func TestRepos_PlainNames(t *testing.T) {
	w, host, c := world(t)
	w.Forget()
	got, err := c.Repos(t.Context(), []string{deep})
	if n, _ := w.Count("", ""); err != nil || n != 1 || len(got) != 1 || got[0].Name != host+"/"+strings.ToLower(deep) {
		t.Errorf("%+v, %v, %d requests", got, err, n)
	}
	if got, err = c.Repos(t.Context(), []string{"group/none", deep}); err != nil || len(got) != 1 {
		t.Errorf("one that is not there hides the other: %+v, %v", got, err)
	}
	w.Inject(forgetest.Fault{Status: http.StatusForbidden})
	if got, err = c.Repos(t.Context(), []string{deep}); !errors.Is(err, forge.ErrForbidden) || got != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRedeliverIsUnsupported(t *testing.T) {
	_, host, c := world(t)
	if _, err := c.Redeliver(t.Context(), host+"/a/b", time.Time{}); !errors.Is(err, forge.ErrUnsupported) {
		t.Error(err)
	}
}
