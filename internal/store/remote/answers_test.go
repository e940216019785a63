package remote_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/remote"
)

func theRef(t testing.TB) slot.Ref {
	t.Helper()
	ref, err := slot.ParseCanonical("github.com/octo-org/octo-repo#12")
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func request(ref slot.Ref) claim.Request {
	return claim.Request{Ref: ref, Key: claim.NewKey(ref), Kind: slot.Detached, TTL: time.Minute, Grace: time.Second}
}

// everything asks each question there is, and hands each answer's error to judge.
func everything(t *testing.T, s *remote.Store, judge func(what string, err error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ref := theRef(t)
	req := request(ref)
	g, err := s.Acquire(ctx, req)
	if g.Claim.ID != "" {
		t.Errorf("claim: granted %+v", g)
	}
	judge("claim", err)
	_, err = s.Renew(ctx, req.Key)
	judge("renew", err)
	_, err = s.Start(ctx, req.Key)
	judge("start", err)
	_, err = s.Check(ctx, req.Key)
	judge("check", err)
	_, err = s.Release(ctx, req.Key, slot.Outcome{Result: slot.Done})
	judge("release", err)
	_, err = s.Park(ctx, req.Key, slot.Outcome{Result: slot.Waits})
	judge("park", err)
	_, err = s.AskStop(ctx, req.Key.Claim, "x")
	judge("stop", err)
	look, err := s.Look(ctx, ref)
	if err == nil {
		t.Errorf("look: %+v", look)
	}
	judge("look", err)
	_, err = s.Live(ctx)
	judge("live", err)
	_, err = s.Wake(ctx, ref, claim.Ticket{ID: "t"})
	judge("wake", err)
	judge("leave", s.Leave(ctx, ref, claim.Ticket{ID: "t"}))
	judge("gone", s.TreeGone(ctx, "r", slot.Outcome{}))
	_, err = s.OpenRuns(ctx, ref)
	judge("open runs", err)
	_, err = s.Run(ctx, "r")
	judge("run", err)
	_, err = s.Runs(ctx, ref, 1)
	judge("runs", err)
	judge("note", s.Note(ctx, slot.Decision{Ref: ref}))
	_, err = s.Decisions(ctx, ref)
	judge("decisions", err)
	judge("hold", s.Hold(ctx, slot.Hold{Scope: ref.String(), Reason: "x"}))
	_, err = s.Holds(ctx)
	judge("holds", err)
}

// C18: whatever is not an answer of the API is unknown: never free, never held,
// never lost, and nothing was released.
func TestC18_CouldNotAskIsNotNobodyThere(t *testing.T) {
	say := func(status int, media, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(status)
			io.WriteString(w, body) //nolint:errcheck // the client tells
		}
	}
	const js, problem = "application/json", "application/problem+json"
	for name, h := range map[string]http.HandlerFunc{
		"500":                      say(500, "text/plain", "oops"),
		"500 in JSON":              say(500, js, `{"claims":[]}`),
		"502 of a proxy":           say(502, "text/html", "<html>Bad Gateway"),
		"401":                      say(401, "text/plain", ""),
		"403 of a proxy":           say(403, "text/html", "<html>"),
		"404 of somebody else":     say(404, "text/plain", "404 page not found"),
		"409 of somebody else":     say(409, js, `{"type":"urn:oneslot:busy"}`),
		"broken JSON":              say(200, js, `{"claim":`),
		"nothing":                  say(200, js, ""),
		"an empty object":          say(200, js, "{}"),
		"null":                     say(200, js, "null"),
		"a list":                   say(200, js, "[]"),
		"a page":                   say(200, "text/html", "<html>Welcome</html>"),
		"JSON that says nothing":   say(200, "text/plain", `{"claims":[],"holds":[],"runs":[],"decisions":[]}`),
		"204":                      say(204, js, ""),
		"redirected":               func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) },
		"a busy that names none":   say(409, problem, `{"type":"urn:oneslot:busy","reason":"held","ref":"github.com/octo-org/octo-repo#12"}`),
		"a deferral of nothing":    say(409, problem, `{"type":"urn:oneslot:deferred"}`),
		"a kind that is not known": say(409, problem, `{"type":"urn:oneslot:later-version"}`),
		"a broken problem":         say(410, problem, `{"type":"urn:oneslot:lost"`),
		"a problem with 200":       say(200, problem, `{"type":"urn:oneslot:lost"}`),
		"another's claim": say(200, js, `{"claim":"x.y","ref":"github.com/octo-org/octo-repo#13","fence":7,"ended":true,"kind":"waiting",
			"left":"1m","run":"other","state":"running"}`),
		"cut off": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", js)
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, `{"claims":[]`) //nolint:errcheck // the client tells
		},
	} {
		t.Run(name, func(t *testing.T) {
			everything(t, serveHandler(t, "unix", h).dial(t, "boot"), func(what string, err error) {
				if !errors.Is(err, slot.ErrUnknown) || errors.Is(err, slot.ErrLost) {
					t.Errorf("%s: %v; want unknown", what, err)
				}
			})
		})
	}
	t.Run("unreachable", func(t *testing.T) {
		s, err := remote.Open("unix:"+t.TempDir()+"/none", remote.Options{})
		if err != nil {
			t.Fatal(err)
		}
		everything(t, s, func(what string, err error) {
			if !errors.Is(err, slot.ErrUnknown) || !strings.Contains(err.Error(), "oneslot serve") {
				t.Errorf("%s: %v; want unknown, and a hint", what, err)
			}
		})
	})
	t.Run("silent", func(t *testing.T) {
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer lis.Close()
		s, err := remote.Open("http://"+lis.Addr().String(), remote.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		if _, err := s.Acquire(ctx, request(theRef(t))); !errors.Is(err, slot.ErrUnknown) {
			t.Errorf("claim: %v; want unknown", err)
		}
	})
}

// The token goes to the server of the address and to nobody else.
func TestTheTokenFollowsNoRedirect(t *testing.T) {
	seen := make(chan string, 8)
	other := serveHandler(t, "tcp", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("Authorization")
	}))
	first := serveHandler(t, "tcp", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.address+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	if _, err := first.dial(t, "boot").Live(context.Background()); !errors.Is(err, slot.ErrUnknown) {
		t.Errorf("live: %v; want unknown", err)
	}
	select {
	case token := <-seen:
		t.Errorf("the request went on, with %q", token)
	default:
	}
}
