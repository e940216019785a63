package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

func manual(t *testing.T) (*Store, *clock.Manual) {
	t.Helper()
	clk := clock.NewManual(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC))
	s, err := Open(filepath.Join(t.TempDir(), "oneslot.db"), Options{Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // the test is over
	return s, clk
}

func ticket(clk *clock.Manual, pid int) *claim.Ticket {
	return &claim.Ticket{ID: claim.NewID(), Process: slot.Process{Boot: clk.BootID(), NS: 1, PID: pid, Ticks: 1}}
}

func acquire(t *testing.T, s *Store, req claim.Request) claim.Request {
	t.Helper()
	if _, err := s.Acquire(context.Background(), req); err != nil {
		t.Fatal(err)
	}
	return req
}

func busy(t *testing.T, s *Store, req claim.Request, reason string) *slot.BusyError {
	t.Helper()
	_, err := s.Acquire(context.Background(), req)
	var e *slot.BusyError
	if !errors.As(err, &e) || e.Reason != reason {
		t.Fatalf("got %v, want busy (%s)", err, reason)
	}
	return e
}

// A turn that a forced claim passed does not count against the head later: the
// newcomer that finds the forced one dead is still behind it.
func TestLine_ForceEndsATurn(t *testing.T) {
	s, clk := manual(t)
	first := acquire(t, s, detached(ref(1)))
	waits := detached(ref(1))
	waits.Ticket = ticket(clk, 10)
	busy(t, s, waits, slot.ReasonHeld)
	if _, err := s.Release(context.Background(), first.Key, slot.Outcome{Result: slot.Done}); err != nil {
		t.Fatal(err)
	}
	forced := detached(ref(1))
	forced.Head = true
	acquire(t, s, forced)
	clk.Advance(10 * time.Second)
	newcomer := detached(ref(1))
	newcomer.Displace = &claim.Displace{Claim: forced.Key.Claim, Why: claim.Dead}
	busy(t, s, newcomer, slot.ReasonLine)
	waits.Displace = newcomer.Displace
	acquire(t, s, waits)
}

// Who was told to wait by a pause looks again when it ends, also if the slot is
// not free: its holder may have died meanwhile.
func TestLine_UnholdWakesTheHeadOfAHeldSlot(t *testing.T) {
	s, clk := manual(t)
	acquire(t, s, detached(ref(1)))
	waits := detached(ref(1))
	waits.Ticket = ticket(clk, 10)
	wake, err := s.Wake(context.Background(), ref(1), *waits.Ticket)
	if err != nil {
		t.Fatal(err)
	}
	busy(t, s, waits, slot.ReasonHeld)
	if err := s.Hold(context.Background(), slot.Hold{Scope: ref(1).String()}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Unhold(context.Background(), ref(1).String()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-wake:
	case <-time.After(2 * time.Second):
		t.Error("nobody was woken")
	}
}

// A process that waits again and again keeps nothing of it.
func TestLine_GrantForgetsTheTicket(t *testing.T) {
	s, clk := manual(t)
	req := detached(ref(1))
	req.Ticket = ticket(clk, 10)
	if _, err := s.Wake(context.Background(), ref(1), *req.Ticket); err != nil {
		t.Fatal(err)
	}
	acquire(t, s, req)
	if n := len(s.line.wakes); n != 0 {
		t.Errorf("%d tickets are kept", n)
	}
}

// A container may see the folder of the store under another name.
func TestLine_WakesAcrossNamesOfTheFolder(t *testing.T) {
	s, clk := manual(t)
	held := acquire(t, s, detached(ref(1)))
	waits := detached(ref(1))
	waits.Ticket = ticket(clk, 10)
	wake, err := s.Wake(context.Background(), ref(1), *waits.Ticket)
	if err != nil {
		t.Fatal(err)
	}
	busy(t, s, waits, slot.ReasonHeld)
	moved := filepath.Join(t.TempDir(), "other")
	if err := os.Rename(s.Dir(), moved); err != nil {
		t.Fatal(err)
	}
	other, err := Open(filepath.Join(moved, "oneslot.db"), Options{Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // the test is over
	if _, err := other.Release(context.Background(), held.Key, slot.Outcome{Result: slot.Done}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-wake:
	case <-time.After(2 * time.Second):
		t.Error("the waiter was not woken")
	}
}
