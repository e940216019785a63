package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Whatever keeps a ref from being started: people are told which ref, why, which store
// was asked, and what to do.
func TestExplain_EachRefusal(t *testing.T) {
	ref := testRef(t, "a/b#1")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	busy := &slot.DeferError{Ref: ref, Reason: "command: busy", Detail: "not today", Until: now.Add(10 * time.Second),
		Evidence: []slot.Finding{{Gate: "command", Verdict: slot.Defer}}}
	unsure := &slot.DeferError{Ref: ref, Reason: "command: unknown", Detail: "exit status 3; on_error = closed: deferred",
		Evidence: []slot.Finding{{Gate: "command", Verdict: slot.Unknown}}}
	held := &slot.DeferError{Ref: ref, Reason: slot.ReasonHold, Detail: "it is on hold", Hold: &slot.Hold{Scope: "github.com/a/b", At: now}}
	full := &slot.DeferError{Ref: ref, Reason: slot.ReasonCapacity, Detail: "2 of 2 run"}
	for name, c := range map[string]struct {
		err   error
		what  string
		wants []string
	}{
		"a gate": {busy, started, []string{"oneslot: github.com/a/b#1 is not started: command: busy: not today\n",
			"again  worth a try at", "(in 10s)", "store  sqlite:/x", "why github.com/a/b#1", "--force --reason TEXT"}},
		"a gate, of a claim": {busy, claimed, []string{"is not claimed: ", "next   ask again then, or see"}},
		"an unknown":         {unsure, started, []string{"is not started: the gate command could not find out: exit status 3; on_error = closed: deferred\n", "next"}},
		"a hold":             {held, started, []string{"is not started: it is on hold", "oneslot unhold github.com/a/b`", "sqlite:/x"}},
		"a limit":            {full, started, []string{"2 of 2 run", "next   ask again later"}},
		"nothing to do":      {&slot.SkipError{Ref: ref, Reason: "closed: closed"}, started, []string{"nothing to do for github.com/a/b#1", "sqlite:/x", "next"}},
		"a list": {&noneFree{[]error{busy, &slot.BusyError{Ref: ref, Claim: slot.Claim{ID: "c", Since: now, Left: time.Minute}}, held}}, started,
			[]string{"none of the 3 refs is free\n", "not today", "is held by somebody", "until ", "it is on hold", "store  sqlite:/x", "next   ask again"}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			explain(&b, fmt.Errorf("wrapped: %w", c.err), inquiry{"sqlite:/x", c.what}, now)
			for _, want := range c.wants {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%q is not in\n%s", want, b.String())
				}
			}
		})
	}
}

// P8: what could not be found out names the ref, and says that nothing was started.
func TestExplainUnknown(t *testing.T) {
	ref := testRef(t, "a/b#1")
	err := &slot.UnknownError{Op: "open", Store: "sqlite:/x", Err: errors.New("no\x1b[2J disk")}
	for what, want := range map[string]string{
		started: "oneslot: github.com/a/b#1 is not started: it could not be found out whether it is free\n  asked  sqlite:/x: open: no[2J disk\n" +
			"  next   nothing was started; mend that (`oneslot doctor`), or ask again\n",
		"": "oneslot: it could not be found out whether github.com/a/b#1 is free\n  asked  sqlite:/x: open: no[2J disk\n" +
			"  next   mend that (`oneslot doctor`), or ask again\n",
	} {
		var b strings.Builder
		if explainUnknown(&b, ref, err, what); b.String() != want {
			t.Errorf("got\n%s\nwant\n%s", b.String(), want)
		}
	}
}

// P10: an ended run whose slot is not given back yet: by its supervisor, or, if that
// is dead, by whoever asks next.
func TestNextFor_EndedRun(t *testing.T) {
	a := testApp(t)
	ref := testRef(t, "a/b#1")
	dead := a.Self
	dead.Ticks += 1 << 40
	for supervisor, want := range map[slot.Process]string{
		a.Self: "its supervisor gives the slot back",
		dead:   "the next one who asks clears what its run left on record, and gets the slot",
	} {
		c := &slot.Claim{ID: "c.1", Ref: ref, Kind: slot.Supervised, Run: "r", Fence: 1, Left: time.Minute,
			Holder: slot.Holder{Process: supervisor}, Dir: leftBy(t, a, dead).Path()}
		if got := nextFor(a, claim.Slot{Ref: ref, Newest: c}, nil, time.Time{}); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A time to live that no store takes is refused in the words of the flag.
func TestTermsBoundTheTimeToLive(t *testing.T) {
	for ttl, want := range map[time.Duration]string{time.Millisecond: "too short: at least 1s", 30 * 24 * time.Hour: "--ttl 30d is too long: at most 7d"} {
		if _, _, err := terms(ttl, 0, false); !errors.Is(err, slot.ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", ttl, err, want)
		}
	}
}
