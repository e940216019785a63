package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/slot"
)

const canary = "canary-7f21"

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// tokens hands out one token after another.
type tokens struct {
	mu       sync.Mutex
	list     []string
	renewals int
	err      error
}

func (s *tokens) Token(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list[0], s.err
}

func (s *tokens) Renew(_ context.Context, rejected string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewals++
	if len(s.list) > 1 && s.list[0] == rejected {
		s.list = s.list[1:]
	}
	return s.list[0], s.err
}

type rig struct {
	*transport.Transport
	clock *clock.Manual
	forge *httptest.Server
	asked atomic.Int64 // requests that reached the forge
}

// newRig is a forge on loopback with a client of it.
func newRig(t *testing.T, src transport.TokenSource, answer http.HandlerFunc) *rig {
	t.Helper()
	r := &rig{clock: clock.NewManual(noon)}
	r.forge = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.asked.Add(1)
		w.Header().Set("Date", r.clock.Wall().Format(http.TimeFormat))
		answer(w, req)
	}))
	t.Cleanup(r.forge.Close)
	var err error
	r.Transport, err = transport.New(transport.Options{API: r.forge.URL + "/api", Token: src, Clock: r.clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Client().CloseIdleConnections)
	return r
}

// do sends a request as a library would, and translates what comes of it.
func (r *rig) do(t *testing.T, method, address, body string) (string, error) {
	t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, address, in)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := r.Client().Do(req)
	if err != nil {
		return "", transport.Error("ask", err, resp)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = errors.New(resp.Status)
	}
	return string(text), transport.Error("ask", err, resp)
}

func (r *rig) get(t *testing.T) (string, error) {
	t.Helper()
	return r.do(t, "GET", r.API()+"/thing", "")
}

func TestItSendsTheToken(t *testing.T) {
	r := newRig(t, &tokens{list: []string{canary}}, func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprint(w, req.URL.Path, " ", req.Header.Get("Authorization"))
	})
	if got, err := r.get(t); err != nil || got != "/api/thing Bearer "+canary {
		t.Fatalf("%q, %v", got, err)
	}
}

func TestAddressesThatAreNoAPI(t *testing.T) {
	for _, api := range []string{"", "forge.example", "http://forge.example", "ftp://localhost", "https://", "https://u:" + canary + "@forge.example",
		"https://forge.example?x=1", "https://forge.example/#x", "https://%zz" + canary, "http://127.0.0.1.evil.example"} {
		_, err := transport.New(transport.Options{API: api, Clock: clock.NewManual(noon)})
		if err == nil {
			t.Errorf("%q is taken", api)
		} else if strings.Contains(err.Error(), canary) {
			t.Errorf("a password in an error: %v", err)
		}
	}
	for _, api := range []string{"https://api.github.com", "https://forge.example:8443/api/v3/", "http://127.0.0.1:3000", "http://[::1]:3000/api/v1", "http://localhost"} {
		if _, err := transport.New(transport.Options{API: api, Clock: clock.NewManual(noon)}); err != nil {
			t.Errorf("%q: %v", api, err)
		}
	}
}

// C60: whatever address a payload or a redirect names, nothing leaves for another host.
func TestC60_NoOtherHost(t *testing.T) {
	var stolen atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	defer other.Close()
	r := newRig(t, &tokens{list: []string{canary}}, func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, other.URL+"/steal", http.StatusFound)
	})
	for _, address := range []string{other.URL, "http://169.254.169.254/latest", "https" + strings.TrimPrefix(r.forge.URL, "http"),
		strings.Replace(r.forge.URL, "http://", "http://user@", 1), r.API() + "/redirects"} {
		if _, err := r.do(t, "GET", address, ""); !errors.Is(err, slot.ErrUnknown) {
			t.Errorf("%s: %v", address, err)
		} else if strings.Contains(err.Error(), canary) {
			t.Errorf("the token is in %v", err)
		}
	}
	if n := r.asked.Load(); n != 1 || stolen.Load() != 0 {
		t.Errorf("the forge got %d requests (1 was for it), the other host %d", n, stolen.Load())
	}
}

// A renamed repository is followed, for reads alone and not for ever.
func TestRedirects(t *testing.T) {
	r := newRig(t, &tokens{list: []string{canary}}, func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/api/old":
			w.Header().Set("Location", "/api/repositories/1")
			w.WriteHeader(http.StatusTemporaryRedirect)
		case "/api/loop":
			http.Redirect(w, req, "/api/loop", http.StatusMovedPermanently)
		default:
			fmt.Fprint(w, req.URL.Path, " ", req.Header.Get("Authorization"))
		}
	})
	if got, err := r.do(t, "GET", r.API()+"/old", ""); err != nil || got != "/api/repositories/1 Bearer "+canary {
		t.Errorf("a rename: %q, %v", got, err)
	}
	for _, method := range []string{"POST", "PATCH", "DELETE"} {
		before := r.asked.Load()
		if _, err := r.do(t, method, r.API()+"/old", "body"); err == nil || !strings.Contains(err.Error(), "renamed") {
			t.Errorf("%s: %v", method, err)
		}
		if n := r.asked.Load() - before; n != 1 {
			t.Errorf("%s: %d requests", method, n)
		}
	}
	if _, err := r.do(t, "GET", r.API()+"/loop", ""); err == nil {
		t.Error("a loop has an end")
	}
}

// C46: a token that ended is made anew in the middle, and the body goes out again.
func TestC46_RenewedOn401(t *testing.T) {
	src := &tokens{list: []string{"old", "new"}}
	r := newRig(t, src, func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		if req.Header.Get("Authorization") != "Bearer new" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, string(body))
	})
	if got, err := r.do(t, "POST", r.API()+"/thing", "a comment"); err != nil || got != "a comment" {
		t.Fatalf("%q, %v", got, err)
	}
	if n := r.asked.Load(); n != 2 {
		t.Errorf("%d requests", n)
	}
}

func TestC46_A401ThatStays(t *testing.T) {
	src := &tokens{list: []string{canary}}
	r := newRig(t, src, func(w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"message":"bad credentials: %s"}`, req.Header.Get("Authorization"))
	})
	_, err := r.get(t)
	if !errors.Is(err, forge.ErrUnauthorized) || !errors.Is(err, slot.ErrUnknown) || src.renewals != 1 || r.asked.Load() != 1 {
		t.Errorf("%v after %d renewals, %d requests", err, src.renewals, r.asked.Load())
	}
	// C61: a forge that repeats the token does not get it into our logs.
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(fmt.Sprintf("%v %+v", e, e), canary) {
			t.Errorf("the token is in %v", e)
		}
	}
	src.err = errors.New("the key is gone")
	if _, err := r.get(t); !errors.Is(err, forge.ErrUnauthorized) || !strings.Contains(err.Error(), "the key is gone") {
		t.Errorf("no token: %v", err)
	}
	if n := r.asked.Load(); n != 1 {
		t.Error("it was sent without a token")
	}
}

// A body that can be read only once is not sent by halves.
func TestC46_NotReplayable(t *testing.T) {
	src := &tokens{list: []string{"old", "new"}}
	r := newRig(t, src, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	req, err := http.NewRequestWithContext(t.Context(), "POST", r.API(), io.MultiReader(strings.NewReader("x")))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := r.Client().Do(req)
	if err != nil || resp.StatusCode != http.StatusUnauthorized || r.asked.Load() != 1 {
		t.Fatalf("%v, %d requests", err, r.asked.Load())
	}
	_ = resp.Body.Close()
}

func TestTokensThatAreNone(t *testing.T) {
	for _, token := range []string{"", "two words", "line\nend", "\xff" + canary} {
		r := newRig(t, &tokens{list: []string{token}}, func(http.ResponseWriter, *http.Request) {})
		_, err := r.get(t)
		if !errors.Is(err, forge.ErrUnauthorized) || r.asked.Load() != 0 || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %v", token, err)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	r := newRig(t, nil, func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "" {
			t.Error("nobody has a token")
		}
		part := []byte(strings.Repeat("x", 1<<20))
		for range 33 {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	})
	if _, err := r.get(t); err == nil || !strings.Contains(err.Error(), "32 MiB") {
		t.Fatalf("%v", err)
	}
}

// A forge that stops in the middle of an answer holds nobody up.
func TestRequestsAreBounded(t *testing.T) {
	gone := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/half" {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
		}
		<-gone
	}))
	defer slow.Close()
	defer close(gone)
	tr, err := transport.New(transport.Options{API: slow.URL, Clock: clock.NewManual(noon), Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/nothing", "/half"} {
		resp, err := tr.Client().Get(slow.URL + path)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Libraries leave the bodies of failures and of 304s open: nothing waits for them.
func TestAnswersThatNobodyCloses(t *testing.T) {
	status := atomic.Int64{}
	r := newRig(t, nil, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) })
	ask := func(code int64) {
		status.Store(code)
		if _, err := r.Client().Get(r.API() + "/x"); err != nil {
			t.Fatal(err)
		}
	}
	ask(http.StatusNotModified)
	before := runtime.NumGoroutine()
	for range 50 {
		ask(http.StatusNotModified)
		ask(http.StatusNotFound)
	}
	if n := runtime.NumGoroutine() - before; n > 20 {
		t.Errorf("%d goroutines are left behind", n)
	}
}
