package api

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim/claimtest"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

// longSecret cannot be guessed.
const longSecret = "a-token-of-more-than-twenty-bytes"

// memory is a store of a test.
type memory struct{ *claimtest.MemoryHandle }

func (memory) Address() string { return "memory:" }

func newMemory() (memory, *clock.Manual) {
	clk := clock.NewManual(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC))
	return memory{claimtest.NewMemory(clk, claimtest.Options{}).Open()}, clk
}

// server is an API under test, with the ways to it.
type testServer struct {
	t    testing.TB
	opt  Options
	tcp  string // http://127.0.0.1:port
	unix *http.Client
}

func startServer(t testing.TB, change func(*Options)) *testServer {
	t.Helper()
	m, clk := newMemory()
	opt := Options{Claims: m, Boot: clk.BootID(), UID: os.Getuid(), Open: true, Feed: NewFeed(clk.Wall), Version: "test",
		Tokens: func() []Token {
			return []Token{
				NewToken("r", Read, []byte("read-token")), NewToken("d", Dispatch, []byte("dispatch-token")),
				NewToken("a", Admin, []byte("admin-token")), NewToken("long", Read, []byte(longSecret)),
			}
		},
	}
	if change != nil {
		change(&opt)
	}
	h := New(opt)
	s := &testServer{t: t, opt: opt}
	dir, err := os.MkdirTemp("", "api")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	for network, at := range map[string]string{"tcp": "127.0.0.1:0", "unix": path} {
		lis, err := net.Listen(network, at)
		if err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewUnstartedServer(h)
		srv.Listener.Close()
		srv.Listener, srv.Config.ConnContext = lis, ConnContext
		srv.Start()
		t.Cleanup(srv.Close)
		if network == "tcp" {
			s.tcp = "http://" + lis.Addr().String()
		}
	}
	s.unix = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		},
	}}
	t.Cleanup(s.unix.CloseIdleConnections)
	return s
}

// answered is an answer with its body read.
type answered struct {
	*http.Response
	body string
}

func (a answered) problem(t testing.TB) wire.Problem {
	t.Helper()
	var p wire.Problem
	if a.Header.Get("Content-Type") != wire.ProblemType {
		t.Fatalf("%s, %q: %s; want a problem", a.Status, a.Header.Get("Content-Type"), a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// ask sends one request: over TCP, or over the unix socket if the path begins with
// "unix:". Headers are "Name: value".
func (s *testServer) ask(method, path, body string, headers ...string) answered {
	s.t.Helper()
	client, base := http.DefaultClient, s.tcp
	if rest, ok := strings.CutPrefix(path, "unix:"); ok {
		client, base, path = s.unix, "http://oneslot", rest
	}
	req, err := http.NewRequest(method, base+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	res, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answered{res, string(data)}
}

// want asks, and checks the status.
func (s *testServer) want(status int, method, path, body string, headers ...string) answered {
	s.t.Helper()
	a := s.ask(method, path, body, headers...)
	if a.StatusCode != status {
		s.t.Errorf("%s %s %v %s: %s %s; want %d", method, path, headers, body, a.Status, a.body, status)
	}
	return a
}

// broker notes what it is asked.
type broker struct {
	wishes []Wish
	log    string
}

func (b *broker) Dispatch(_ context.Context, w Wish) ([]queue.Accepted, error) {
	b.wishes = append(b.wishes, w)
	return []queue.Accepted{{Event: slot.Event{ID: "e1"}, Intake: slot.Queued}}, nil
}
func (b *broker) Stop(context.Context, slot.Ref, string, bool) (bool, error) { return true, nil }
func (b *broker) Takeover(context.Context, slot.Ref, string) (bool, error)   { return true, nil }
func (b *broker) Log(slot.Run) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(b.log)), nil
}
func (b *broker) Ended(context.Context, slot.Run) (bool, error) { return true, nil }
