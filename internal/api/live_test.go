package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

// Tokens and hosts are those of the moment of the request: a revoked token is none.
func TestLive_TokensAndGrammar(t *testing.T) {
	var tokens atomic.Pointer[[]Token]
	var host atomic.Pointer[string]
	set := func(h string, list ...Token) { tokens.Store(&list); host.Store(&h) }
	set("one.example", NewToken("old", Dispatch, []byte("old")))
	s := startServer(t, func(o *Options) {
		o.Open = false
		o.Tokens = func() []Token { return *tokens.Load() }
		o.Grammar = func() slot.Grammar { return slot.Grammar{DefaultHost: *host.Load()} }
	})
	where := func(token string) string {
		var l wire.Look
		if err := json.Unmarshal([]byte(s.want(200, "GET", "/api/v1/slot?ref=o/r%231", "", bearer+token).body), &l); err != nil {
			t.Fatal(err)
		}
		return l.Ref.String()
	}
	if got := where("old"); got != "one.example/o/r#1" {
		t.Errorf("read as %s", got)
	}
	set("two.example", NewToken("new", Dispatch, []byte("new")))
	if got := where("new"); got != "two.example/o/r#1" {
		t.Errorf("read as %s", got)
	}
	s.want(401, "GET", "/api/v1/claims", "", bearer+"old")
}

// Renewals are counted, alone and many at once, by how they went.
func TestRenewals_AreCounted(t *testing.T) {
	var mu sync.Mutex
	counts := map[string]int{}
	s := startServer(t, func(o *Options) {
		o.Renewed = func(result string, n int) { mu.Lock(); counts[result] += n; mu.Unlock() }
	})
	var g wire.Grant
	if err := json.Unmarshal([]byte(s.want(200, "POST", "/api/v1/claims", `{"ref":"key:a"}`).body), &g); err != nil {
		t.Fatal(err)
	}
	s.want(200, "POST", "/api/v1/claims/"+g.Claim.Claim+"/renew", fmt.Sprintf(`{"token":%q}`, g.Token))
	s.want(200, "POST", "/api/v1/claims/renew", fmt.Sprintf(`{"claims":[{"claim":%q,"token":%q},{"claim":"nobodys","token":"x"}]}`, g.Claim.Claim, g.Token))
	if counts["ok"] != 2 || counts["lost"] != 1 || len(counts) != 2 {
		t.Errorf("counted %v", counts)
	}
}

// many is a store that notes how many runs it is asked for.
type many struct {
	memory
	limit *int
}

func (m many) Runs(_ context.Context, _ slot.Ref, limit int) ([]slot.Run, error) {
	*m.limit = limit
	return nil, nil
}

// Nobody reads the whole table by leaving the limit out.
func TestRuns_AreBounded(t *testing.T) {
	var limit int
	s := startServer(t, func(o *Options) {
		m, _ := newMemory()
		o.Claims = many{m, &limit}
	})
	for path, want := range map[string]int{"/api/v1/runs": 1000, "/api/v1/runs?limit=7": 7} {
		if s.want(200, "GET", path, ""); limit != want {
			t.Errorf("%s asks for %d, want %d", path, limit, want)
		}
	}
}

// deadlines notes when a writer's time was set to end.
type deadlines struct {
	http.ResponseWriter
	set []time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error { d.set = append(d.set, at); return nil }
func (d *deadlines) SetReadDeadline(time.Time) error     { return nil }

// Whoever does not read the answer is cut off, also where the answer may take long.
func TestAnswer_HasATime(t *testing.T) {
	m, clk := newMemory()
	h := New(Options{Claims: m, Boot: clk.BootID(), Open: true, Broker: &broker{}, Tokens: func() []Token {
		return []Token{NewToken("a", Admin, []byte("admin-token"))}
	}})
	for _, path := range []string{"/api/v1/claims", "/api/v1/stop"} {
		method, body := "GET", ""
		if path == "/api/v1/stop" {
			method, body = "POST", aStop
		}
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer admin-token")
		r.Header.Set("Content-Type", "application/json")
		w := &deadlines{ResponseWriter: httptest.NewRecorder()}
		h.ServeHTTP(w, r)
		if n := len(w.set); n == 0 || time.Until(w.set[n-1]) > writeTime || time.Until(w.set[n-1]) <= 0 {
			t.Errorf("%s: the times of its writer: %v", path, w.set)
		}
	}
}
