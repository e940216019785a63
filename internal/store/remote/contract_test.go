package remote_test

import (
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim/claimtest"
	"github.com/oneslot/oneslot/internal/clock"
)

// The contract of claim.Store and claim.Journal over a unix socket: the server's
// host is the clients', so its boot is theirs.
func TestContract_OverAUnixSocket(t *testing.T) {
	claimtest.Run(t, func(t testing.TB, opt claimtest.Options) claimtest.Harness {
		clk := morning()
		s := serve(t, "unix", filepath.Join(t.TempDir(), "oneslot.db"), clk, opt.WaitingMax)
		return claimtest.Harness{
			Clock: clk,
			Open:  func() (claimtest.Store, error) { return s.dial(t, clk.BootID()), nil },
			Far:   func() (claimtest.Store, error) { return s.dial(t, "another-boot"), nil },
		}
	})
}

// The same over TCP: the server is another machine, whose boots are its own. Its
// clock never steps, so that to a client a step is time that passes there.
func TestContract_OverTCP(t *testing.T) {
	claimtest.Run(t, func(t testing.TB, opt claimtest.Options) claimtest.Harness {
		clk := &elsewhere{Manual: morning()}
		s := serve(t, "tcp", filepath.Join(t.TempDir(), "oneslot.db"), clk.Manual, opt.WaitingMax)
		return claimtest.Harness{
			Clock: clk,
			Open:  func() (claimtest.Store, error) { return s.dial(t, clk.BootID()), nil },
			Far:   func() (claimtest.Store, error) { return s.dial(t, "another-boot"), nil },
		}
	})
}

// elsewhere is the clock of another machine: a reboot of the client's leaves it be.
type elsewhere struct {
	*clock.Manual
	boot string
}

func (e *elsewhere) Reboot(id string) { e.boot = id }

func (e *elsewhere) BootID() string {
	if e.boot == "" {
		return "boot-of-the-client"
	}
	return e.boot
}

func (e *elsewhere) StepWall(d time.Duration) {
	if d < 0 {
		e.Manual.StepWall(d)
		return
	}
	e.Advance(d)
}

// reopening serves by a handler that is made anew after each boot.
func reopening(t testing.TB, clk clock.Clock, open func() (http.Handler, func())) http.Handler {
	var mu sync.Mutex
	var boot string
	var h http.Handler
	stop := func() {}
	t.Cleanup(func() { stop() })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if id := clk.BootID(); id != boot {
			stop()
			boot = id
			h, stop = open()
		}
		now := h
		mu.Unlock()
		now.ServeHTTP(w, r)
	})
}
