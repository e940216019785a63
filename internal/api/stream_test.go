package api

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// listen opens a stream and gives its lines; the end of the test closes it.
func (s *testServer) listen(path string) <-chan string {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.tcp+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != eventStream {
		body, _ := io.ReadAll(res.Body)
		s.t.Fatalf("%s: %s %s", path, res.Status, body)
	}
	lines := make(chan string)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(lines)
		for scan := bufio.NewScanner(res.Body); scan.Scan(); {
			select {
			case lines <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	s.t.Cleanup(func() { cancel(); res.Body.Close(); <-done })
	return lines
}

// hears waits for a line.
func hears(t *testing.T, lines <-chan string, want string) {
	t.Helper()
	late := time.After(10 * time.Second)
	for {
		select {
		case line, ok := <-lines:
			if strings.HasPrefix(line, want) {
				return
			}
			if !ok {
				t.Fatalf("the stream ended before %q", want)
			}
		case <-late:
			t.Fatalf("%q was not heard", want)
		}
	}
}

func TestStream_Changes(t *testing.T) {
	s := startServer(t, nil)
	lines := s.listen("/api/v1/changes")
	hears(t, lines, "event: ready")
	s.want(200, "POST", "/api/v1/claims", `{"ref":"key:a"}`)
	hears(t, lines, `data: {"kind":"claim","ref":"key:a"`)
	s.want(200, "POST", "unix:/api/v1/holds", `{"scope":"octo-org/octo-repo","reason":"freeze"}`)
	hears(t, lines, `data: {"kind":"hold","ref":"github.com/octo-org/octo-repo"`)
	s.opt.Feed.Tell("work", "key:b")
	hears(t, lines, `data: {"kind":"work","ref":"key:b"`)
}

// Nobody waits for a reader; one that is slow is told that it missed something.
func TestFeed_SlowReader(t *testing.T) {
	var none *Feed
	none.Tell("work", "key:a") // nobody listens
	f := NewFeed(time.Now)
	words, stop := f.listen()
	for range 3 * feedRoom {
		f.Tell("work", "key:a")
	}
	for range feedRoom {
		if w := <-words; w.Kind != "work" {
			t.Fatalf("heard %+v", w)
		}
	}
	f.Tell("work", "key:b")
	if w := <-words; w.Kind != "missed" {
		t.Errorf("heard %+v; want that something was missed", w)
	}
	if w := <-words; w.Ref != "key:b" {
		t.Errorf("heard %+v", w)
	}
	stop()
	f.Tell("work", "key:c")
	if len(words) != 0 {
		t.Error("it still listens")
	}
}

func TestStream_Log(t *testing.T) {
	b := &broker{log: "first\nevent: forged\n\nsecond \x1b[31m"}
	s := startServer(t, func(o *Options) { o.Broker = b })
	s.want(200, "POST", "unix:/api/v1/claims", `{"ref":"key:a","kind":"supervised","run":"r1"}`)
	if a := s.want(200, "GET", "/api/v1/runs/r1/log", ""); a.body != b.log || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("%q: %q", a.Header.Get("Content-Type"), a.body)
	}
	lines := s.listen("/api/v1/runs/r1/log?follow=true")
	hears(t, lines, "event: log")
	hears(t, lines, `data: "first\nevent: forged\n\nsecond \u001b[31m"`)
	hears(t, lines, "event: end")
}

// P6: a ticket is told when its turn comes.
func TestStream_Line(t *testing.T) {
	s := startServer(t, nil)
	s.want(200, "POST", "/api/v1/claims", `{"ref":"key:a","token":"canary-canary-canary"}`)
	lines := s.listen("/api/v1/line?ref=key:a&ticket=t1")
	hears(t, lines, "event: ready")
	p := s.want(409, "POST", "/api/v1/claims", `{"ref":"key:a","ticket":{"id":"t1","process":{}}}`).problem(t)
	if p.Place == nil || p.Place.Ahead != 0 {
		t.Errorf("place %+v", p.Place)
	}
	s.want(200, "POST", "/api/v1/claims/"+p.Holder.Claim+"/release", `{"token":"canary-canary-canary"}`)
	hears(t, lines, "event: look")
	s.want(200, "POST", "/api/v1/claims", `{"ref":"key:a","ticket":{"id":"t1","process":{}}}`)
	s.want(400, "GET", "/api/v1/line?ref=key:a", "")
}

// Who went away and does not come back gives up the place in line; a break alone
// does not.
func TestLines_GoneAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lines
		left := 0
		leave := func() { left++ }
		pass := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		l.begin("t")
		l.begin("t")
		l.end("t", leave)
		pass(2 * goneAfter)
		l.end("t", leave)
		pass(goneAfter / 2)
		l.begin("t")
		pass(2 * goneAfter)
		if left != 0 {
			t.Error("it gave up a place that somebody listens for")
		}
		l.end("t", leave)
		pass(goneAfter + time.Second)
		if left != 1 || len(l.all) != 0 {
			t.Errorf("left %d times, %d remembered", left, len(l.all))
		}
		l.begin("u")
		l.forget("u")
		l.end("u", leave)
		l.begin("v")
		l.end("v", leave)
		l.forget("v")
		pass(2 * goneAfter)
		if left != 1 || len(l.all) != 0 {
			t.Errorf("one with the slot left the line: %d, %d", left, len(l.all))
		}
	})
}

// A request with the same token is the same claim, also without an id.
func TestClaims_AToken_IsAKey(t *testing.T) {
	s := startServer(t, nil)
	body := `{"ref":"key:a","token":"canary-canary-canary"}`
	first := s.want(200, "POST", "/api/v1/claims", body).body
	if again := s.want(200, "POST", "/api/v1/claims", body).body; again != first {
		t.Errorf("again gave\n%safter\n%s", again, first)
	}
	s.want(409, "POST", "/api/v1/claims", `{"ref":"key:a","token":"another-token-of-it"}`)
	s.want(400, "POST", "/api/v1/claims", `{"ref":"key:b","token":"short"}`)
	s.want(400, "POST", "/api/v1/claims", `{"ref":"key:b","claim":"x.y"}`)
	s.want(400, "POST", "/api/v1/claims", `{"ref":"not a ref"}`)
	s.want(410, "POST", "/api/v1/claims/x.y/renew", `{"token":"canary-canary-canary"}`)
	ref, _ := slot.ParseCanonical("key:a")
	if got, err := s.opt.Claims.Look(t.Context(), ref); err != nil || got.Newest.Holder.Path != slot.PathAPI || got.Newest.TTL != slot.DetachedTTL {
		t.Errorf("claimed %+v, %v", got.Newest, err)
	}
}

// The end of the server does not wait for those who listen.
func TestStream_EndsWithTheServer(t *testing.T) {
	m, clk := newMemory()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: New(Options{Claims: m, Open: true, Feed: NewFeed(clk.Wall)}), ReadHeaderTimeout: time.Second}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(lis) }()
	s := &testServer{t: t, tcp: "http://" + lis.Addr().String()}
	lines := s.listen("/api/v1/changes")
	hears(t, lines, "event: ready")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	<-done
}
