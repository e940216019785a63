package gate_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

// C47: no XDG_RUNTIME_DIR, a bus that is gone, one that says something else.
func TestC47_NoBus(t *testing.T) {
	dir := t.TempDir()
	garbage := serveUnix(t, "garbage", func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n") })
	closed := serveUnix(t, "closed", func(net.Conn) {})
	hangs := serveUnix(t, "hangs", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	for name, env := range map[string]map[string]string{
		"no XDG_RUNTIME_DIR": {},
		"an empty folder":    {"XDG_RUNTIME_DIR": dir},
		"garbage":            {"XDG_RUNTIME_DIR": dir, "DBUS_SESSION_BUS_ADDRESS": "unix:path=" + garbage},
		"no answer":          {"XDG_RUNTIME_DIR": dir, "DBUS_SESSION_BUS_ADDRESS": "unix:path=" + closed},
		"a timeout":          {"XDG_RUNTIME_DIR": dir, "DBUS_SESSION_BUS_ADDRESS": "unix:path=" + hangs},
		"no address":         {"XDG_RUNTIME_DIR": dir, "DBUS_SESSION_BUS_ADDRESS": "autolaunch:"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat("/run/user/0"); err == nil && len(env) == 0 {
				t.Skip("there is a /run/user folder to be tried")
			}
			g := must(t)(gate.NewSystemd(gate.Systemd{User: true, Units: []string{"u-{number}"}, Getenv: func(k string) string { return env[k] }}))
			ask := gate.Ask{Ref: ref(t, "github.com/o/r#1")}
			for rule, verdict := range map[gate.OnError]slot.Verdict{{}: slot.Proceed, {Closed: true}: slot.Defer} {
				began := time.Now()
				d := gate.NewSet(newClock(), nil, gate.Entry{Gate: g, OnError: rule, Timeout: 200 * time.Millisecond}).Decide(t.Context(), ask)
				if ev := d.Evidence[0]; d.Verdict != verdict || ev.Verdict != slot.Unknown || !strings.Contains(ev.Detail, "on_error = "+rule.String()) {
					t.Errorf("%+v", d)
				}
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("it took %v", took)
				}
			}
		})
	}
}

func serveUnix(t *testing.T, name string, serve func(net.Conn)) string {
	dir, err := os.MkdirTemp("", "g-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); serve(c) }()
		}
	}()
	return l.Addr().String()
}

// C50: answers that are errors are no empty list.
func TestC50_EngineErrors(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for name, answer := range map[string]string{
		"garbage":         "hello",
		"an error":        "HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\nsick",
		"not a list":      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
		"null":            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull",
		"half a list":     "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n[{\"Names\"",
		"no states":       "HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n[{\"Names\":[\"/a1\"]}]",
		"a state unknown": "HTTP/1.1 200 OK\r\n\r\n" + `[{"Names":["/a-1"],"State":"levitating"}]`,
		"a redirect":      "HTTP/1.1 302 Found\r\nLocation: http://docker" + long + "\r\n\r\n",
		"nothing":         "",
	} {
		t.Run(name, func(t *testing.T) {
			socket := serveUnix(t, "s", func(c net.Conn) {
				_, _ = c.Read(make([]byte, 4096))
				_, _ = io.WriteString(c, answer)
			})
			g := must(t)(gate.NewDocker(gate.Containers{Name: "a-{number}", Getenv: func(string) string { return "unix://" + socket }}))
			d := gate.NewSet(newClock(), nil, gate.Entry{Gate: g, Timeout: time.Second, OnError: gate.OnError{Closed: true}}).
				Decide(t.Context(), gate.Ask{Ref: ref(t, "github.com/o/r#1")})
			if d.Verdict != slot.Defer || d.Evidence[0].Verdict != slot.Unknown || len(d.Detail) > 600 {
				t.Errorf("%+v", d)
			}
		})
	}
	g := must(t)(gate.NewPodman(gate.Containers{Label: "x=1", Getenv: func(string) string { return "tcp://127.0.0.1:1" }}))
	wants(t, g.Ask(t.Context(), gate.Ask{}), slot.Unknown, "CONTAINER_HOST is no unix socket")
}

func TestHTTPGate(t *testing.T) {
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	var asked atomic.Value
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.RequestURI)
		switch r.URL.Query().Get("n") {
		case "2":
			w.WriteHeader(http.StatusNoContent)
		case "3":
			http.Error(w, "taken by \x1b[31mann\nsecond line", http.StatusConflict)
		case "4":
			w.WriteHeader(http.StatusLocked)
		case "5":
			w.WriteHeader(http.StatusInternalServerError)
		case "6":
			w.WriteHeader(http.StatusNotFound)
		case "7":
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		case "8":
			http.Redirect(w, r, "/x?n=1", http.StatusFound)
		case "9":
			<-r.Context().Done()
		}
	}))
	defer s.Close()
	g := must(t)(gate.NewHTTP(s.URL + "/slots/{ref}?n={number}"))
	for n, c := range map[string]struct {
		verdict slot.Verdict
		words   string
	}{
		"1": {slot.Proceed, "http: free | 200"}, // P9
		"2": {slot.Proceed, "204"},
		"3": {slot.Defer, "http: busy | 409 Conflict: taken by  [31mann"},
		"4": {slot.Defer, "423"},
		"5": {slot.Unknown, "500"},
		"6": {slot.Unknown, "404"},
		"7": {slot.Unknown, "another host"},
		"8": {slot.Proceed, "200"},
		"9": {slot.Unknown, "deadline"},
	} {
		d := gate.NewSet(newClock(), nil, gate.Entry{Gate: g, Timeout: 300 * time.Millisecond}).Decide(t.Context(), gate.Ask{Ref: ref(t, "github.com/o/r#"+n)})
		ev := d.Evidence[0]
		wants(t, gate.Answer{Verdict: ev.Verdict, Reason: ev.Reason, Detail: ev.Detail}, c.verdict, c.words)
		if n != "8" && asked.Load() != "/slots/github.com%2Fo%2Fr%23"+n+"?n="+n {
			t.Errorf("asked for %s", asked.Load())
		}
	}
	for _, bad := range []string{"", "ftp://x/", "http://{owner}.example.com/", "http://example.com{ref}", "http://x/{nope}", "/x"} {
		if _, err := gate.NewHTTP(bad); !errors.Is(err, slot.ErrUsage) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
