package gitea_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/forge/gitea"
)

// served is a client of a server that answers with pages, and how often it was asked.
func served(t *testing.T, page func(w http.ResponseWriter, number string) string) (*gitea.Client, *atomic.Int64) {
	t.Helper()
	asked := new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = fmt.Fprint(w, page(w, r.URL.Query().Get("page")))
	}))
	t.Cleanup(server.Close)
	return connect(t, gitea.Forgejo, server.URL, "secret"), asked
}

// A list is short if fewer came than were counted at first, or if it promises more and
// does not bring it: it is unknown then, and not asked for ever.
func TestShortLists(t *testing.T) {
	issue := func(n int) string { return fmt.Sprintf(`{"id":%d,"number":%d,"state":"open"}`, n, n) }
	for name, page := range map[string]func(w http.ResponseWriter, number string) string{
		"fewer than counted": func(w http.ResponseWriter, number string) string {
			w.Header().Set("X-Total-Count", "3")
			if number == "1" {
				return "[" + issue(1) + "," + issue(2) + "]"
			}
			return "[]"
		},
		"one was closed meanwhile, and another moved up": func(w http.ResponseWriter, number string) string {
			if number == "1" {
				w.Header().Set("X-Total-Count", "3")
				w.Header().Set("Link", `<http://x/?page=2>; rel="next"`)
				return "[" + issue(3) + "," + issue(2) + "]"
			}
			w.Header().Set("X-Total-Count", "2")
			w.Header().Set("Link", `<http://x/?page=1>; rel="first"`)
			return "[]"
		},
		"more for ever": func(w http.ResponseWriter, number string) string {
			w.Header().Set("Link", `<http://x/?page=999>; rel="next"`)
			return "[" + issue(1) + "]"
		},
	} {
		c, asked := served(t, page)
		open, err := c.Open(t.Context(), c.Host()+"/octo/hello")
		if !errors.Is(err, forge.ErrShort) {
			t.Errorf("%s: %+v, %v: want ErrShort", name, open, err)
		}
		if n := asked.Load(); n > 3 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

// Pages of which nothing may be seen are no end, also in a list without Link.
func TestHiddenPages(t *testing.T) {
	c, _ := served(t, func(w http.ResponseWriter, number string) string {
		w.Header().Set("X-Total-Count", "101")
		if number == "3" {
			return `[{"id":101,"user":{"login":"ann"},"state":"APPROVED"}]`
		}
		return "[]"
	})
	got, err := c.Reviews(t.Context(), at(t, c, "octo/hello#2"))
	if err != nil || len(got.Reviews) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// That a review was dismissed moves its updated_at, and is no review.
func TestWhenAReviewWasGiven(t *testing.T) {
	c, _ := served(t, func(w http.ResponseWriter, number string) string {
		w.Header().Set("X-Total-Count", "3")
		return `[
			{"id":1,"user":{"login":"ann"},"state":"APPROVED","submitted_at":"2026-01-02T10:00:00Z","updated_at":"2026-01-02T10:20:00Z"},
			{"id":2,"user":{"login":"bob"},"state":"REQUEST_CHANGES","dismissed":true,"submitted_at":"2026-01-02T10:10:00Z","updated_at":"2026-01-02T12:00:00Z"},
			{"id":3,"user":{"login":"eve"},"state":"COMMENT","submitted_at":"2026-01-02T10:15:00Z"}]`
	})
	got, err := c.Reviews(t.Context(), at(t, c, "octo/hello#2"))
	var said string
	for _, r := range got.Reviews {
		said += fmt.Sprintf("%s %s %s, ", r.Author.Login, r.State, r.At.Format(time.TimeOnly))
	}
	if want := "bob dismissed 10:10:00, eve commented 10:15:00, ann approved 10:20:00, "; err != nil || said != want {
		t.Errorf("%s, %v: want %s", said, err, want)
	}
}

// One owner that cannot be read hides nothing of the others.
func TestReposOfOthers(t *testing.T) {
	w, api := forgetest.NewGitea(t, nil)
	w.AddUser(forgetest.User{Login: "octo", Token: "secret", Writer: true})
	w.AddRepo("octo/hello")
	w.AddRepo("other/hello")
	w.AddRepo("third/hello")
	w.Inject(forgetest.Fault{Path: "/users/other/", Status: http.StatusForbidden})
	c := connect(t, gitea.Gitea, api, "secret")
	got, err := c.Repos(t.Context(), []string{"octo/*", "other/*", "none/*", "third/hello"})
	if len(got) != 2 || !errors.Is(err, forge.ErrForbidden) {
		t.Errorf("%+v, %v", got, err)
	}
	w.Inject(forgetest.Fault{Path: "/user/repos", Status: http.StatusNotFound})
	if got, err := c.Repos(t.Context(), nil); err == nil {
		t.Errorf("%+v: a list that is not there is not empty", got)
	}
}
