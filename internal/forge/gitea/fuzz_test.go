package gitea_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/gitea"
)

// Whatever a server answers, a client neither breaks nor says what it did not read: a
// thread without an error has the number asked for and a state.
func FuzzAnswers(f *testing.F) {
	for _, name := range []string{"issue-get", "pr-get", "comments-list", "pr-reviews-list", "issue-timeline", "status-combined", "pulls-list", "404-issue"} {
		f.Add(recorded(f, name).body)
	}
	for _, body := range []string{"", "null", "[null]", "[{}]", "{}", `[{"id":1}]`, `{"number":1,"state":"closed"}`, `{"number":1,"state":"open","pull_request":{},"repository":{"full_name":"../.."}}`,
		`{"statuses":[null]}`, `[{"id":1,"user":null,"state":"APPROVED","comments_count":1}]`, `[{"sha":"x","commit":null}]`} {
		f.Add([]byte(body))
	}
	var body atomic.Pointer[[]byte]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(*body.Load()) }))
	f.Cleanup(server.Close)
	c := connect(f, gitea.Gitea, server.URL, "secret")
	c.NoWaits()
	f.Fuzz(func(t *testing.T, answer []byte) {
		body.Store(&answer)
		ctx, repo, ref := t.Context(), c.Host()+"/octo/hello", at(t, c, "octo/hello#1")
		th, err := c.Thread(ctx, ref)
		if err == nil && (th.Ref.Number() != 1 || th.State != forge.Open && th.State != forge.Closed && th.State != forge.Merged) {
			t.Errorf("%+v", th)
		}
		if list, err := c.Changed(ctx, repo, time.Time{}, forge.Seen{}); err == nil {
			for _, th := range list.Threads {
				if th.Ref.IsZero() || th.State == "" {
					t.Errorf("%+v", th)
				}
			}
		}
		_, _ = c.Comments(ctx, ref)
		_, _ = c.Checks(ctx, repo, "aa")
		_, _ = c.Reviews(ctx, ref)
		_, _ = c.Open(ctx, repo)
		_, _, _ = c.Commits(ctx, repo, time.Time{})
		_, _ = c.Reopened(ctx, ref)
		_, _ = c.Repos(ctx, nil)
		_, _ = c.Me(ctx)
		if made, err := c.Comment(ctx, ref, "x"); err == nil && made.ID == 0 {
			t.Error("a comment without an id")
		}
		_ = c.AddLabel(ctx, ref, "x")
		_ = c.RemoveLabel(ctx, ref, "x")
	})
}
