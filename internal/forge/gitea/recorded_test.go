package gitea_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/forge/gitea"
	"github.com/oneslot/oneslot/internal/slot"
)

// answer is a recorded answer.
type answer struct {
	route  string // "GET /api/v1/user", without a query
	status int
	header http.Header
	body   []byte
}

func recorded(t testing.TB, name string) answer {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".http"))
	if err != nil {
		t.Fatal(err)
	}
	request, rest, ok := bytes.Cut(text, []byte("\n\nHTTP/1.1 "))
	if !ok {
		t.Fatalf("%s has no answer", name)
	}
	head, body, _ := bytes.Cut(rest, []byte("\n\n"))
	line, _, _ := strings.Cut(strings.TrimPrefix(string(request), "> "), "\n")
	route, _, _ := strings.Cut(line, "?")
	// The layout of the body is new: its length is not that of the header.
	lines := slices.DeleteFunc(strings.Split("HTTP/1.1 "+string(head), "\n"), func(l string) bool {
		return strings.HasPrefix(l, "Content-Length:") || strings.HasPrefix(l, "Transfer-Encoding:")
	})
	resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(strings.Join(lines, "\r\n")+"\r\n\r\n")), nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	_ = resp.Body.Close()
	return answer{route: route, status: resp.StatusCode, header: resp.Header, body: body}
}

// replay serves answers by their routes, the last of a route for good.
func replay(t testing.TB, answers ...answer) *gitea.Client {
	t.Helper()
	byRoute := map[string]answer{}
	for _, a := range answers {
		byRoute[a.route] = a
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		a, ok := byRoute[r.Method+" "+r.URL.Path]
		if !ok {
			t.Errorf("%s %s is not recorded", r.Method, r.URL)
			http.NotFound(w, r)
			return
		}
		for k, v := range a.header {
			w.Header()[k] = v
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body)
	}))
	t.Cleanup(server.Close)
	return connect(t, gitea.Gitea, server.URL+"/api/v1", "secret")
}

// at is a ref on the replaying server, whose host the client knows.
func at(t testing.TB, c *gitea.Client, rest string) slot.Ref {
	t.Helper()
	ref, err := slot.ParseCanonical(c.Host() + "/" + rest)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// asIssue is the issue's answer about a pull request. It was not recorded: it has the
// pull request's own fields, and these two.
func asIssue(t testing.TB, pull answer) answer {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(pull.body, &fields); err != nil {
		t.Fatal(err)
	}
	fields["pull_request"] = map[string]any{"merged": fields["merged"], "merged_at": fields["merged_at"]}
	fields["repository"] = map[string]any{"id": 1, "name": "hello", "owner": "octo", "full_name": "octo/hello"}
	body, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	pull.route, pull.body = strings.Replace(pull.route, "/pulls/", "/issues/", 1), body
	return pull
}

func TestRecordedThreads(t *testing.T) {
	for _, tt := range []struct {
		file, ref string
		want      func(forge.Thread) bool
	}{
		{"issue-get", "octo/hello#1", func(th forge.Thread) bool {
			return !th.Pull && th.State == forge.Open && th.Title == "first issue, edited" && th.Body == "body two" && th.Comments == 8 &&
				!th.Locked && th.Author.Login == "octo" && th.RepoID == "1" && th.UpdatedText == "2026-11-29T11:57:42Z" && th.Closed.IsZero()
		}},
		{"issue-get-locked", "octo/hello#1", func(th forge.Thread) bool { return th.Locked && th.State == forge.Open }},
		{"issue-get-after-merge", "octo/hello#1", func(th forge.Thread) bool {
			return th.State == forge.Closed && th.Closed.Equal(time.Date(2026, 11, 29, 11, 58, 40, 0, time.UTC)) && th.Comments == 9
		}},
		{"pr-get", "octo/hello#2", func(th forge.Thread) bool {
			return th.Pull && th.State == forge.Open && th.Mergeable == "clean" && !th.Draft && !th.Fork() && th.Head.Branch == "feature" &&
				th.Head.Sha == "3c65f1bdf3488c182b3deda0ce3ae99dca6c21eb" && th.Base.Branch == "main" && strings.HasSuffix(th.Head.Repo, "/octo/hello")
		}},
		{"pr-get-draft", "octo/hello#2", func(th forge.Thread) bool { return th.Draft && th.Mergeable == "" && th.State == forge.Open }},
		{"pr-get-merged", "octo/hello#2", func(th forge.Thread) bool {
			return th.State == forge.Merged && th.MergeSha == "203bd11c113600fd8344041d532220ed48ad6138" && th.Mergeable == "" &&
				th.Head.Branch == "feature" && slices.Equal(th.Labels, []string{"oneslot/claimed"}) &&
				slices.Equal(th.Assignees, []string{"bot-a"}) && slices.Equal(th.Reviewers, []string{"bot-b"})
		}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			a := recorded(t, tt.file)
			answers := []answer{a}
			if strings.Contains(a.route, "/pulls/") {
				answers = append(answers, asIssue(t, a))
			}
			c := replay(t, answers...)
			got, err := c.Thread(t.Context(), at(t, c, tt.ref))
			if err != nil || !tt.want(got) {
				t.Errorf("%+v, %v", got, err)
			}
			if got.Ref != at(t, c, tt.ref) {
				t.Errorf("ref %s", got.Ref)
			}
		})
	}
}

func TestRecordedLists(t *testing.T) {
	c := replay(t, recorded(t, "issue-get"), recorded(t, "comments-list"), recorded(t, "pr-reviews-list"), recorded(t, "issue-timeline"),
		recorded(t, "status-combined"), recorded(t, "pulls-list"),
		answer{route: "GET /api/v1/repos/octo/hello/pulls/2/reviews/3/comments", status: 200, body: []byte("[]")}) // not recorded
	comments, err := c.Comments(t.Context(), at(t, c, "octo/hello#1"))
	if err != nil || len(comments.List) != 8 || comments.List[0].ID != 14 || comments.List[0].Author.Login != "bot-b" ||
		!comments.At.Equal(time.Date(2026, 11, 29, 11, 57, 44, 0, time.UTC)) {
		t.Errorf("comments: %+v, %v", comments, err)
	}
	reviews, err := c.Reviews(t.Context(), at(t, c, "octo/hello#2"))
	if err != nil || len(reviews.Reviews) != 1 || reviews.Reviews[0].State != "approved" || reviews.Reviews[0].ID != 4 || !reviews.Known {
		t.Errorf("reviews (the first was dismissed, the last never given): %+v, %v", reviews, err)
	}
	reopened, err := c.Reopened(t.Context(), at(t, c, "octo/hello#1"))
	if err != nil || reopened.UTC().Format(time.TimeOnly) != "11:57:35" {
		t.Errorf("reopened %v, %v", reopened, err)
	}
	acts, err := c.Acts(t.Context(), at(t, c, "octo/hello#1"))
	var said []string
	for _, a := range acts {
		said = append(said, string(a.Kind)+" "+a.What+" by "+a.By.Login)
	}
	if got := strings.Join(said[:min(len(said), 4)], ", "); err != nil || got != "labeled oneslot/claimed by octo, labeled bug by octo, assigned bot-a by octo, assigned bot-b by octo" {
		t.Errorf("acts %q, %v", said, err)
	}
	checks, err := c.Checks(t.Context(), c.Host()+"/octo/hello", "2f8be3c8c3d002fd07c3f3cea8492bf23d4eff05")
	if err != nil || len(checks) != 2 || checks[0].Name != "ci/test" || checks[0].State != forge.Success || checks[0].ID != "3" ||
		checks[0].Again != "2026-11-29T11:58:31Z" || checks[1].State != forge.Neutral || checks[1].Result != "bogus" {
		t.Errorf("checks: %+v, %v", checks, err)
	}
	pulls, err := c.PullsByHead(t.Context(), c.Host()+"/octo/hello", "2f8be3c8c3d002fd07c3f3cea8492bf23d4eff05")
	if err != nil || len(pulls) != 0 { // it is merged
		t.Errorf("pulls: %+v, %v", pulls, err)
	}
}

// A list that says it has more, of which nothing more comes, is not the whole list.
func TestRecordedListBreaksOff(t *testing.T) {
	c := replay(t, recorded(t, "issues-list-paged-link"))
	if got, err := c.Changed(t.Context(), c.Host()+"/octo/cmt", time.Time{}, forge.Seen{}); !errors.Is(err, forge.ErrShort) {
		t.Errorf("%d threads, %v: want ErrShort: 3 of 10 came", len(got.Threads), err)
	}
}

func TestRecordedWrites(t *testing.T) {
	c := replay(t, recorded(t, "comment-create"), recorded(t, "comment-edit"), recorded(t, "comment-delete"),
		recorded(t, "issue-lock"), recorded(t, "issue-unlock-again"))
	ref := at(t, c, "octo/hello#1")
	made, err := c.Comment(t.Context(), ref, "x")
	if err != nil || made.ID != 13 {
		t.Errorf("%+v, %v", made, err)
	}
	edited, err := c.EditComment(t.Context(), ref, made.ID, "y")
	if err != nil || edited.ID != 13 || edited.Updated.Before(made.Updated) {
		t.Errorf("%+v, %v", edited, err)
	}
	if err := c.DeleteComment(t.Context(), ref, made.ID); err != nil {
		t.Error(err)
	}
	if err := c.Lock(t.Context(), ref); err != nil {
		t.Error(err)
	}
	if err := c.Unlock(t.Context(), at(t, c, "octo/ro#1")); err != nil {
		t.Error(err)
	}
}

// C46: each recorded error answer is an error of its kind, and says why.
func TestC46_RecordedErrors(t *testing.T) {
	for _, tt := range []struct {
		file string
		kind error // nil: the forge itself failed
		says string
	}{
		{"401-bad-token", forge.ErrUnauthorized, "invalid username, password or token"},
		{"401-bad-token-public-repo", forge.ErrUnauthorized, ""},
		{"403-comment-on-locked-by-reader", forge.ErrForbidden, "locked"},
		{"403-label-by-reader", forge.ErrForbidden, ""},
		{"403-lock-by-reader", forge.ErrForbidden, ""},
		{"404-issue", forge.ErrNotFound, "not found"},
		{"404-repo", forge.ErrNotFound, "not found"},
		{"404-no-route", forge.ErrNotFound, "404 page not found"},
		{"405-merge-again", forge.ErrRefused, ""},
		{"409-pr-exists", forge.ErrRefused, "already exists"},
		{"422-empty-comment", forge.ErrRefused, ""},
		{"500-unknown-assignee", nil, ""},
	} {
		a := recorded(t, tt.file)
		a.route = "GET /api/v1/user" // what it is about does not matter
		_, err := replay(t, a).Me(t.Context())
		e := new(forge.Error)
		if !errors.As(err, &e) || !errors.Is(err, slot.ErrUnknown) || e.Status != a.status || e.Kind != tt.kind || errors.Is(err, forge.ErrLimited) {
			t.Errorf("%s: %v", tt.file, err)
			continue
		}
		if !strings.Contains(e.Detail, tt.says) {
			t.Errorf("%s says %q, not %q", tt.file, e.Detail, tt.says)
		}
	}
}

// What the conflict check says is believed only if it says so twice.
func TestMergeableWhileItIsChecked(t *testing.T) {
	w, api := forgetest.NewGitea(t, nil)
	w.AddUser(forgetest.User{Login: "octo", Token: "secret", Writer: true})
	w.AddRepo("octo/hello")
	pull := w.AddPull("octo/hello", "octo", "x", "f")
	w.Edit(pull, func(th *forgetest.Thread) { th.Mergeable = "" })
	c := connect(t, gitea.Gitea, api, "secret")
	done := make(chan forge.Thread, 1)
	go func() {
		got, err := c.Thread(t.Context(), w.Ref(forgetest.Host(api), pull))
		if err != nil {
			t.Error(err)
		}
		done <- got
	}()
	for asked := 0; asked == 0; asked, _ = w.Count("GET", "/pulls/{n}") {
		time.Sleep(time.Millisecond)
	}
	w.Edit(pull, func(th *forgetest.Thread) { th.Mergeable = "clean" })
	if got := <-done; got.Mergeable != "clean" {
		t.Errorf("mergeable %q", got.Mergeable)
	}
}

// What changed has its heads, for one request more.
func TestChangedHasHeads(t *testing.T) {
	w, api := forgetest.NewGitea(t, nil)
	w.AddUser(forgetest.User{Login: "octo", Token: "secret", Writer: true})
	w.AddRepo("octo/hello")
	pull := w.AddPull("octo/hello", "octo", "x", "f")
	c := connect(t, gitea.Gitea, api, "secret")
	got, err := c.Changed(t.Context(), c.Host()+"/octo/hello", time.Time{}, forge.Seen{})
	want, _ := w.Thread(pull)
	if err != nil || len(got.Threads) != 1 || got.Threads[0].Head.Sha != want.Head.Sha || got.Threads[0].Mergeable != "clean" {
		t.Errorf("%+v, %v", got, err)
	}
	if n, _ := w.Count("", ""); n != 2 {
		t.Errorf("%d requests", n)
	}
}
