package remote_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/api"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/store/remote"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

const secret = "the-admin-token-of-a-test"

func morning() *clock.Manual { return clock.NewManual(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)) }

// served is a server over a SQLite store, as `oneslot serve` is one.
type served struct {
	address string // for remote.Open
}

// serve starts a server on a unix socket (network "unix") or on loopback.
func serve(t testing.TB, network, db string, clk clock.Clock, waiting time.Duration) served {
	t.Helper()
	return serveHandler(t, network, handler(t, db, clk, waiting))
}

// handler is the API over a store, which the first request of each boot opens: as a
// server that starts then.
func handler(t testing.TB, db string, clk clock.Clock, waiting time.Duration) http.Handler {
	return reopening(t, clk, func() (http.Handler, func()) {
		s, err := sqlite.Open(db, sqlite.Options{Clock: clk, WaitingMax: waiting})
		if err != nil {
			t.Error(err)
			return http.NotFoundHandler(), func() {}
		}
		return api.New(api.Options{
			Claims: s, Boot: clk.BootID(), UID: os.Getuid(), Open: true,
			Tokens: func() []api.Token { return []api.Token{api.NewToken("admin", api.Admin, []byte(secret))} },
		}), func() { s.Close() }
	})
}

func serveHandler(t testing.TB, network string, h http.Handler) served {
	t.Helper()
	at := "127.0.0.1:0"
	if network == "unix" {
		dir, err := os.MkdirTemp("", "api")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		at = filepath.Join(dir, "s")
	}
	lis, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(h)
	srv.Listener.Close()
	srv.Listener = lis
	srv.Config.ConnContext = api.ConnContext
	srv.Start()
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	s := served{address: "http://" + lis.Addr().String()}
	if network == "unix" {
		s.address = "unix:" + at
	}
	return s
}

// dial opens a client of the server on a host of the given boot.
func (s served) dial(t testing.TB, boot string) *remote.Store {
	t.Helper()
	c, err := remote.Open(s.address, remote.Options{Dir: t.TempDir(), Boot: boot, Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
