package github

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/forge/transport"
)

const repoPath = "octo/hello"

// rig is a GitHub in this process, and a client that writes there as bot-a.
type rig struct {
	*forgetest.World
	gh    *Client
	clock *clock.Manual
	host  string
	repo  string // canonical
	waits []time.Duration
}

type static string

func (s static) Token(context.Context) (string, error)         { return string(s), nil }
func (s static) Renew(context.Context, string) (string, error) { return string(s), nil }

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{clock: clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
	world, api := forgetest.NewGitHub(t, r.clock.Wall)
	world.AddRepo(repoPath)
	world.AddUser(forgetest.User{Login: "bot-a[bot]", Token: "token-a", Bot: true, App: "bot-a", Writer: true, Association: "member"})
	r.World = world
	r.gh = newClient(t, api, "token-a", r.clock)
	r.gh.pause = func(ctx context.Context, d time.Duration) error {
		r.waits = append(r.waits, d)
		r.clock.Advance(d)
		return ctx.Err()
	}
	r.gh.Hook = func(address string) bool { return address == forgetest.GitHubHook }
	r.host = r.gh.host
	r.repo = r.host + "/" + repoPath
	return r
}

func newClient(t testing.TB, api, token string, now clock.Clock) *Client {
	t.Helper()
	carrier, err := transport.New(transport.Options{API: api, Token: static(token), Clock: now})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(forgetest.Host(api), "", carrier)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// served is a client of a server that answers as it likes.
func served(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	c := newClient(t, server.URL, "token-a", clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)))
	c.pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return c
}

// requests are those that were answered, as "GET /repos/octo/hello 200".
func (r *rig) requests() []string {
	var list []string
	for _, q := range r.Requests() {
		path, _, _ := strings.Cut(q.URI, "?")
		list = append(list, q.Method+" "+strings.TrimPrefix(path, "/api/v3"))
	}
	return list
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
