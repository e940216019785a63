package remote_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// The server's machine is restarted, and its clients' are not: their claims, also
// supervised ones, get one full time to live from the first open after it, and those
// who wait keep their places.
func TestTheServersRebootIsNotItsClients(t *testing.T) {
	clk := morning()
	s := serve(t, "tcp", filepath.Join(t.TempDir(), "oneslot.db"), clk, 0)
	c := s.dial(t, "boot-of-the-client")
	ref := theRef(t)
	process := slot.Process{Boot: "boot-of-the-client", NS: 1, PID: 2, Ticks: 3}
	req := claim.Request{
		Ref: ref, Key: claim.NewKey(ref), Kind: slot.Supervised, Run: claim.NewID(), Warden: true, TTL: time.Minute, Grace: time.Second,
		Holder: slot.Holder{Host: "far", Process: process},
	}
	if _, err := c.Acquire(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Start(t.Context(), req.Key); err != nil {
		t.Fatal(err)
	}
	waiter := request(ref)
	waiter.Ticket = &claim.Ticket{ID: "t", Process: process}
	var busy *slot.BusyError
	if _, err := c.Acquire(t.Context(), waiter); !errors.As(err, &busy) {
		t.Fatalf("beside it: %v", err)
	}

	clk.Reboot("the-next-boot")
	if _, err := c.Check(t.Context(), req.Key); err != nil {
		t.Errorf("check after the server's reboot: %v", err)
	}
	stranger := request(ref)
	if _, err := c.Acquire(t.Context(), stranger); !errors.As(err, &busy) || busy.Claim.Left < 59*time.Second {
		t.Errorf("beside it: %v, %+v", err, busy)
	}
	if _, err := c.Renew(t.Context(), req.Key); err != nil {
		t.Errorf("renew after the server's reboot: %v", err)
	}
	if _, err := c.Release(t.Context(), req.Key, slot.Outcome{Result: slot.Done}); err != nil {
		t.Errorf("release: %v", err)
	}
	if _, err := c.Acquire(t.Context(), stranger); !errors.As(err, &busy) || busy.Reason != slot.ReasonLine {
		t.Errorf("a newcomer: %v; want that another waits", err)
	}
	if _, err := c.Acquire(t.Context(), waiter); err != nil {
		t.Errorf("the one in line: %v", err)
	}
}
