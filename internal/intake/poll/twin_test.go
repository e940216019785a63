package poll

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/intake/hook"
	"github.com/oneslot/oneslot/internal/slot"
)

// payload reads a recorded delivery of the hooks' tests.
func payload(t *testing.T, file string) (body []byte, v map[string]any) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("..", "hook", "testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	return body, v
}

func at(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

func str(v any, path ...string) string { s, _ := at(v, path...).(string); return s }

func num(v any, path ...string) int64 { n, _ := at(v, path...).(float64); return int64(n) }

func when(t *testing.T, s string) time.Time {
	t.Helper()
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05 UTC"} {
		if at, err := time.Parse(layout, s); err == nil {
			return at
		}
	}
	t.Fatalf("%q is no time", s)
	return time.Time{}
}

// C01, C04: a webhook and a poll that see one occurrence make one event of it. Each
// row is a recorded delivery, and the forge's answer that tells the same.
func TestC01_APollMakesTheHooksFingerprint(t *testing.T) {
	for file, tt := range map[string]struct {
		forge, event string
		twin         func(f *fake, v map[string]any, th *forge.Thread)
	}{
		"github/26-check_run.completed.json": {"github", "check_run", func(f *fake, v map[string]any, th *forge.Thread) {
			sha := str(v, "check_run", "head_sha")
			th.Pull, th.Head = true, forge.End{Repo: th.Ref.Repo(), Branch: "changes", Sha: sha}
			f.checks[sha] = []forge.Check{{
				Name: str(v, "check_run", "name"), State: forge.Failure, Result: str(v, "check_run", "conclusion"),
				App: "some-app", ID: strconv.FormatInt(num(v, "check_run", "id"), 10), Again: str(v, "check_run", "completed_at"),
			}}
		}},
		"gitea-recorded/0049-status.json": {"gitea", "status", func(f *fake, v map[string]any, th *forge.Thread) {
			sha := str(v, "sha")
			th.Pull, th.Head = true, forge.End{Repo: th.Ref.Repo(), Sha: sha}
			f.checks[sha] = []forge.Check{{
				Name: str(v, "context"), State: forge.Failure, Result: str(v, "state"),
				ID: strconv.FormatInt(num(v, "id"), 10), Again: str(v, "updated_at"),
			}}
		}},
		"github/12-issue_comment.created.json":           {"github", "issue_comment", commented},
		"gitea-recorded/0017-issue_comment-created.json": {"gitea", "issue_comment", commented},
		"gitea-recorded/0032-pull_request_comment-created.json": {"gitea", "issue_comment", func(f *fake, v map[string]any, th *forge.Thread) {
			th.Pull, th.Head = true, forge.End{Repo: th.Ref.Repo(), Sha: sha(1)}
			commented(f, v, th)
		}},
		"gitlab/05-note.json": {"gitlab", "Note Hook", func(f *fake, v map[string]any, th *forge.Thread) {
			// The API writes the time in another way than the webhook.
			updated := strings.Replace(strings.Replace(str(v, "object_attributes", "updated_at"), " UTC", ".123Z", 1), " ", "T", 1)
			th.Comments = 1
			f.comments[th.Ref] = []forge.Comment{{
				ID: num(v, "object_attributes", "id"), Body: str(v, "object_attributes", "note"), Author: forge.Person{Login: "ann"},
				Created: mustTime(updated), Updated: mustTime(updated), UpdatedText: updated,
			}}
		}},
		"github/07-issues.labeled.json": {"github", "issues", func(f *fake, v map[string]any, th *forge.Thread) {
			th.Labels = []string{str(v, "label", "name")}
		}},
		"github/18-pull_request.labeled.json": {"github", "pull_request", func(f *fake, v map[string]any, th *forge.Thread) {
			th.Labels = []string{str(v, "label", "name")}
		}},
		"github/06-issues.assigned.json": {"github", "issues", func(f *fake, v map[string]any, th *forge.Thread) {
			th.Assignees = []string{str(v, "assignee", "login")}
		}},
		"github/01-issues.opened.json":                 {"github", "issues", func(*fake, map[string]any, *forge.Thread) {}},
		"gitea-recorded/0002-issues-opened.json":       {"gitea", "issues", func(*fake, map[string]any, *forge.Thread) {}},
		"gitea-recorded/0031-pull_request-opened.json": {"gitea", "pull_request", func(*fake, map[string]any, *forge.Thread) {}},
		"gitea-recorded/0015-issues-closed.json":       {"gitea", "issues", closedNow},
		"gitea-recorded/0053-pull_request-closed.json": {"gitea", "pull_request", closedNow},
		"github/21-pull_request.closed.json":           {"github", "pull_request", closedNow},
		"github/17-pull_request.synchronize.json": {"github", "pull_request", func(f *fake, v map[string]any, th *forge.Thread) {
			th.Head = forge.End{Repo: th.Ref.Repo(), Sha: str(v, "pull_request", "head", "sha")}
		}},
		"github/20-pull_request.ready_for_review.json": {"github", "pull_request", func(f *fake, v map[string]any, th *forge.Thread) {
			th.Draft = false
		}},
		"github/24-pull_request_review.submitted.json": {"github", "pull_request_review", func(f *fake, v map[string]any, th *forge.Thread) {
			review(f, v, th, "approved", str(v, "review", "user", "login"), str(v, "review", "body"), num(v, "review", "id"), str(v, "review", "submitted_at"))
		}},
		// The delivery has no id; the API has. See testdata/README.md of the hooks.
		"gitea-recorded/0045-pull_request_review_rejected-reviewed.json": {"gitea", "pull_request_rejected", func(f *fake, v map[string]any, th *forge.Thread) {
			th.Head = forge.End{Repo: th.Ref.Repo(), Sha: str(v, "pull_request", "head", "sha")}
			review(f, v, th, "changes_requested", "bot-b", "please change", 2, "2026-11-29T11:58:20Z")
		}},
		"gitea-recorded/0047-pull_request_review_approved-reviewed.json": {"gitea", "pull_request_approved", func(f *fake, v map[string]any, th *forge.Thread) {
			th.Head = forge.End{Repo: th.Ref.Repo(), Sha: str(v, "pull_request", "head", "sha")}
			review(f, v, th, "approved", "bot-b", "lgtm", 4, "2026-11-29T11:58:25Z")
		}},
		"github/25-pull_request_review_comment.created.json": {"github", "pull_request_review_comment", func(f *fake, v map[string]any, th *forge.Thread) {
			made := str(v, "comment", "updated_at")
			f.reviews[th.Ref] = forge.Reviews{Known: true, Unresolved: []forge.Talk{{ID: "x", Last: forge.Comment{
				ID: num(v, "comment", "id"), Author: forge.Person{Login: "ann"}, Body: str(v, "comment", "body"),
				Created: mustTime(str(v, "comment", "created_at")), Updated: mustTime(made), UpdatedText: made,
			}}}}
		}},
	} {
		t.Run(file, func(t *testing.T) {
			body, v := payload(t, file)
			header := http.Header{map[string]string{"github": "X-Github-Event", "gitea": "X-Gitea-Event", "gitlab": "X-Gitlab-Event"}[tt.forge]: {tt.event}}
			parsed, err := hook.Parse(hook.Hook{Forge: tt.forge, Host: host}, header, body)
			if err != nil || len(parsed.Events) == 0 {
				t.Fatal(parsed.Ignored, err)
			}
			want := parsed.Events[0]
			found := polled(t, tt.forge, want, v, tt.twin)
			for _, f := range found {
				if f.Kind == want.Kind && f.Fingerprint == want.Fingerprint {
					return
				}
				t.Logf("found %s %q", f.Kind, f.Fingerprint)
			}
			t.Errorf("no twin of %s %q", want.Kind, want.Fingerprint)
		})
	}
}

// polled is what a poll finds of the thread that an event is about, when it is the twin
// of what the delivery says.
func polled(t *testing.T, kind string, e slot.Event, v map[string]any, twin func(*fake, map[string]any, *forge.Thread)) (found []Found) {
	thread := at(v, "pull_request")
	if thread == nil {
		thread = at(v, "issue")
	}
	ref := e.Ref
	if ref.IsZero() {
		ref = refIn("octo/hello", 2)
	}
	th := forge.Thread{Ref: ref, State: forge.Open, Pull: e.Facts.Pull, Author: author, Draft: e.Facts.Draft}
	th.Created = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)
	th.Updated = th.Created
	if s := str(thread, "updated_at"); s != "" {
		th.Updated, th.UpdatedText = when(t, s), s
	}
	if e.Kind == slot.Opened {
		th.Created = when(t, str(thread, "created_at"))
	}
	before := th
	if e.Kind == slot.Ready {
		before.Draft = true
	}
	if th.Pull {
		before.Head = forge.End{Repo: ref.Repo(), Sha: sha(77)}
		th.Head = before.Head
	}
	synctest.Test(t, func(t *testing.T) {
		f, d := newFake(), newDesk()
		f.repos = []forge.Repo{{ID: "1", Name: ref.Repo()}}
		twin(f, v, &th)
		src := New(Options{Sink: d, Sources: []Source{{Host: host, Type: kind, Client: f}}}).sources[0]
		p := &pass{repo: newRepo(src, f.repos[0]), ctx: t.Context(), o: src.o, now: time.Now(), done: map[slot.Ref]bool{}}
		p.ready = true
		p.aim()
		p.place, _ = readPlace("", "")
		p.since = th.Created
		if e.Kind != slot.Opened {
			p.since = th.Created.Add(time.Second)
			p.threads[ref] = note(nil, before, 1, p.now)
		}
		f.threads[ref] = th
		if err := p.changed(th, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := p.flush(); err != nil {
			t.Fatal(err)
		}
		found = d.events()
	})
	return found
}

func commented(f *fake, v map[string]any, th *forge.Thread) {
	th.Comments = 1
	f.comments[th.Ref] = []forge.Comment{{
		ID: num(v, "comment", "id"), Body: str(v, "comment", "body"), Author: forge.Person{Login: str(v, "comment", "user", "login")},
		Created: mustTime(str(v, "comment", "created_at")), Updated: mustTime(str(v, "comment", "updated_at")), UpdatedText: str(v, "comment", "updated_at"),
	}}
}

func closedNow(f *fake, v map[string]any, th *forge.Thread) {
	th.State = forge.Closed
	thread := v["issue"]
	if thread == nil {
		thread = v["pull_request"]
	}
	if merged, _ := at(thread, "merged").(bool); merged {
		th.State = forge.Merged
	}
	th.Closed = mustTime(str(thread, "closed_at"))
}

func review(f *fake, v map[string]any, th *forge.Thread, state, login, body string, id int64, made string) {
	f.reviews[th.Ref] = forge.Reviews{Reviews: []forge.Review{{
		ID: id, Author: forge.Person{Login: login}, State: state, Body: body, Sha: th.Head.Sha, At: mustTime(made), UpdatedText: made,
	}}}
}

func mustTime(s string) time.Time {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return at
}
