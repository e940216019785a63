package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

func testApp(t *testing.T) *app.App {
	t.Helper()
	clk, err := clock.System()
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "oneslot.db"), sqlite.Options{Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	return &app.App{Config: &config.Config{}, Store: store, Clock: clk, Self: self}
}

func testRef(t *testing.T, s string) slot.Ref {
	t.Helper()
	r, err := slot.ParseRef(s, slot.Grammar{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The field names and what is null are fixed: other programs read them.
func TestSlotViewFields(t *testing.T) {
	ref := testRef(t, "octo-org/octo-repo#12")
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.FixedZone("X", -7*3600))
	busy := &slot.BusyError{Ref: ref, Reason: slot.ReasonHeld, Store: "sqlite:/x", Claim: slot.Claim{
		ID: "c.1", Ref: ref, Run: "r", Fence: 7, Since: at, RenewedAt: at, ExpiresAt: at.Add(time.Minute),
		Holder: slot.Holder{Host: "host-a", Process: slot.Process{PID: 42}, Path: "manual", Command: "sh"},
	}}
	got, err := json.Marshal(refusalView(ref, fmt.Errorf("wrapped: %w", busy)))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"ref":"github.com/octo-org/octo-repo#12","state":"held","reason":"held",` +
		`"holder":{"host":"host-a","pid":42,"path":"manual","command":"sh"},"claim":"c.1","fence":7,` +
		`"since":"2026-01-02T10:04:05.006Z","renewed_at":"2026-01-02T10:04:05.006Z","expires_at":"2026-01-02T10:05:05.006Z",` +
		`"evidence":[{"gate":"claim","verdict":"defer","reason":"held","detail":"github.com/octo-org/octo-repo#12 is held by sh (supervisor pid 42) on host-a, path manual"}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	got, err = json.Marshal(refusalView(ref, &slot.UnknownError{Op: "claim", Store: "s", Err: fmt.Errorf("gone")}))
	if err != nil {
		t.Fatal(err)
	}
	want = `{"ref":"github.com/octo-org/octo-repo#12","state":"unknown","reason":"unknown","holder":null,"claim":null,"fence":null,` +
		`"since":null,"renewed_at":null,"expires_at":null,"evidence":[{"gate":"claim","verdict":"unknown","reason":"unknown","detail":"s: claim: gone"}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// leftBy is the folder of a run with an outcome, and with this worker.
func leftBy(t *testing.T, a *app.App, worker slot.Process) rundir.Dir {
	t.Helper()
	d, err := rundir.In(t.TempDir()).Create("run")
	if err != nil {
		t.Fatal(err)
	}
	id := rundir.Identity{Boot: a.Clock.BootID(), Supervisor: a.Self, Worker: worker}
	if err := errors.Join(d.WriteIdentity(id), d.WriteOutcome(slot.Outcome{Result: slot.Done})); err != nil {
		t.Fatal(err)
	}
	return d
}

// A peek judges as a claim would.
func TestViewOf(t *testing.T) {
	a := testApp(t)
	a.Inside = []string{"outer"}
	ref := testRef(t, "octo-org/octo-repo#12")
	dead := a.Self
	dead.Ticks += 1 << 40                                           // whoever had our number before
	other := slot.Process{Boot: a.Clock.BootID(), PID: 4, Ticks: 5} // in a namespace not known
	rebooted := slot.Process{Boot: "earlier", NS: a.Self.NS, PID: 4, Ticks: 5}
	finished, forged, garbled, piped := leftBy(t, a, dead), leftBy(t, a, a.Self), leftBy(t, a, dead), leftBy(t, a, dead)
	if err := os.WriteFile(filepath.Join(garbled.Path(), "outcome.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(piped.Path(), "outcome.json")
	if err := errors.Join(os.Remove(pipe), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	held := func(p slot.Process, left time.Duration, more ...func(*slot.Claim)) claim.Slot {
		c := &slot.Claim{ID: "c.1", Ref: ref, Kind: slot.Supervised, Run: "r", Fence: 1, Holder: slot.Holder{Process: p}, Left: left}
		for _, f := range more {
			f(c)
		}
		return claim.Slot{Ref: ref, Newest: c}
	}
	kind := func(k slot.Kind) func(*slot.Claim) { return func(c *slot.Claim) { c.Kind = k } }
	in := func(d rundir.Dir) func(*slot.Claim) { return func(c *slot.Claim) { c.Dir = d.Path() } }
	on := func(s claim.Slot) claim.Slot {
		s.Hold = &slot.Hold{Scope: ref.String(), By: "me", Reason: "wait"}
		return s
	}
	for name, tt := range map[string]struct {
		slot          claim.Slot
		state, reason string
	}{
		"never used":         {claim.Slot{Ref: ref}, stateFree, slot.ReasonFree},
		"ended":              {held(a.Self, time.Minute, func(c *slot.Claim) { c.Ended = true }), stateFree, slot.ReasonFree},
		"alive":              {held(a.Self, time.Minute), stateHeld, slot.ReasonHeld},
		"alive, overdue":     {held(a.Self, -time.Minute), stateFree, slot.ReasonExpired},
		"dead":               {held(dead, time.Minute), stateFree, slot.ReasonDead},
		"before the restart": {held(rebooted, 0), stateFree, slot.ReasonDead},
		"unseen":             {held(other, time.Minute), stateHeld, slot.ReasonHeld},
		"unseen, overdue":    {held(other, -time.Minute), stateHeld, slot.ReasonUnseen},
		"warden, overdue":    {held(other, -time.Minute, func(c *slot.Claim) { c.Warden = true }), stateFree, slot.ReasonExpired},
		"detached":           {held(slot.Process{}, time.Minute, kind(slot.Detached)), stateHeld, slot.ReasonHeld},
		"detached, overdue":  {held(slot.Process{}, 0, kind(slot.Detached)), stateFree, slot.ReasonExpired},
		"bound, overdue": {held(a.Self, 0, kind(slot.Detached), func(c *slot.Claim) { c.Bound = true }),
			stateHeld, slot.ReasonHeld},
		"waiting":                {held(slot.Process{}, time.Hour, kind(slot.Waiting)), stateHeld, slot.ReasonHeld},
		"waited too long":        {held(slot.Process{}, 0, kind(slot.Waiting)), stateFree, slot.ReasonExpired},
		"inside":                 {held(a.Self, time.Minute, func(c *slot.Claim) { c.Run = "outer" }), stateHeld, slot.ReasonInside},
		"release pending":        {held(a.Self, time.Minute, in(finished)), stateHeld, reasonPending},
		"outcome by the worker":  {held(a.Self, time.Minute, in(forged)), stateHeld, slot.ReasonHeld},
		"outcome that is none":   {held(a.Self, time.Minute, in(garbled)), stateHeld, slot.ReasonHeld},
		"outcome that is a pipe": {held(a.Self, time.Minute, in(piped)), stateHeld, slot.ReasonHeld},
		"waiting, its run over":  {held(slot.Process{}, time.Hour, kind(slot.Waiting), func(c *slot.Claim) { c.Dir = finished.Path() }), stateHeld, slot.ReasonHeld},
		"line":                   {claim.Slot{Ref: ref, Waiting: 2, Line: []slot.Process{dead, a.Self}}, stateHeld, slot.ReasonLine},
		"line of the dead":       {claim.Slot{Ref: ref, Waiting: 1, Line: []slot.Process{dead}}, stateFree, slot.ReasonFree},
		"on hold":                {on(claim.Slot{Ref: ref}), stateDeferred, slot.ReasonHold},
		"on hold, alive":         {on(held(a.Self, time.Minute)), stateDeferred, slot.ReasonHold},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewOf(a, tt.slot)
			if v.State != tt.state || v.Reason != tt.reason {
				t.Errorf("%s (%s), want %s (%s); %+v", v.State, v.Reason, tt.state, tt.reason, v.Evidence)
			}
			if v.Evidence == nil {
				t.Error("evidence is null, not a list")
			}
		})
	}
}

// A refusal names holder, host, path, since when, last renewal, fence, until
// when, the store asked, and what the caller can do.
func TestExplain(t *testing.T) {
	ref := testRef(t, "octo-org/octo-repo#12")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	busy := &slot.BusyError{Ref: ref, Reason: slot.ReasonHeld, Store: "sqlite:/x", Claim: slot.Claim{
		ID: "c.1", Ref: ref, Run: "r", Fence: 7, Since: now.Add(-2 * time.Hour), RenewedAt: now.Add(-5 * time.Second), Left: 55 * time.Second,
		Holder: slot.Holder{Host: "host-a", Process: slot.Process{PID: 42}, Path: "poll", Command: "evil\x1b[2J"},
	}}
	var b strings.Builder
	explain(&b, busy, inquiry{}, now)
	for _, want := range []string{
		"github.com/octo-org/octo-repo#12 is held by evil[2J (supervisor pid 42) on host-a, path poll\n", "(2h ago)", "(5s ago)", "(in 55s)",
		"fence    7", "sqlite:/x", "oneslot stop github.com/octo-org/octo-repo#12",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	for reason, want := range map[string]string{
		slot.ReasonLine: "others wait in line", slot.ReasonInside: "would never end", slot.ReasonUnstopped: "cannot be stopped",
	} {
		var b strings.Builder
		explain(&b, &slot.BusyError{Ref: ref, Reason: reason}, inquiry{}, now)
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s: %q is not in\n%s", reason, want, b.String())
		}
	}
}
