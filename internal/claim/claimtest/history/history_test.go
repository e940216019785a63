package history

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/claim/claimtest"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

const ttl = 10 * time.Second

// at makes one call from second a to second z; z < 0 leaves it without a return.
func at(a, z float64, call Event, outcome Outcome, ret Event) []Event {
	sec := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	call.Op = fmt.Sprintf("%v-%v-%s-%s", a, z, call.Kind, call.Claim)
	call.Ref, call.At, call.Ends = "r", sec(a), true
	if call.Kind == CallAcquire || call.Kind == CallTakeover {
		call.TTL, ret.TTL = ttl, ttl
	}
	if call.Kind == CallRenew {
		ret.TTL = ttl
	}
	if z < 0 {
		return []Event{call}
	}
	ret.Op, ret.At, ret.Outcome = call.Op, sec(z), outcome
	return []Event{call, ret}
}

func get(a, z float64, id string, fence int64) []Event {
	return at(a, z, Event{Kind: CallAcquire, Claim: id}, OK, Event{Fence: fence})
}

func over(a, z float64, id, old string, why claim.Why, fence int64) []Event {
	return at(a, z, Event{Kind: CallTakeover, Claim: id, Displace: old, Why: why}, OK, Event{Fence: fence})
}

func act(a, z float64, kind Kind, id string, outcome Outcome) []Event {
	return at(a, z, Event{Kind: kind, Claim: id}, outcome, Event{})
}

func busy(a, z float64, id, by string) []Event {
	return at(a, z, Event{Kind: CallAcquire, Claim: id}, Busy, Event{Holder: by})
}

func look(a, z float64, id string, fence int64, ended, expired bool) []Event {
	return at(a, z, Event{Kind: CallLook}, OK, Event{Holder: id, Fence: fence, Ended: ended, Expired: expired})
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name  string
		good  bool
		calls [][]Event
	}{
		{"P1 one after the other", true, [][]Event{
			get(0, 1, "a", 5), act(2, 3, CallRelease, "a", OK), get(4, 5, "b", 6)}},
		{"P1 double grant", false, [][]Event{get(0, 1, "a", 5), get(2, 3, "b", 6)}},
		{"P1 double grant at once", false, [][]Event{get(0, 3, "a", 5), get(1, 2, "b", 6)}},
		{"P1 one granted, one busy, at once", true, [][]Event{get(0, 3, "a", 5), busy(1, 2, "b", "a")}},
		{"P1 busy by a claim that was never granted", false, [][]Event{busy(0, 1, "b", "a")}},
		{"P9 busy although it was given back", false, [][]Event{
			get(0, 1, "a", 5), act(2, 3, CallRelease, "a", OK), busy(4, 5, "b", "a")}},
		{"P2 fence goes back", false, [][]Event{
			get(0, 1, "a", 5), act(2, 3, CallRelease, "a", OK), get(4, 5, "b", 4)}},
		{"P2 fence stays", false, [][]Event{
			get(0, 1, "a", 5), act(2, 3, CallRelease, "a", OK), get(4, 5, "b", 5)}},
		{"P2 fence forgotten by expiry", false, [][]Event{get(0, 1, "a", 5), get(20, 21, "b", 1)}},
		{"P3 release by a stranger that worked", false, [][]Event{
			get(0, 1, "a", 5), act(2, 3, CallRelease, "x", OK), get(4, 5, "b", 6)}},
		{"P3 release by an old owner that worked", false, [][]Event{
			get(0, 1, "a", 5), act(2, 3, CallRelease, "a", OK), get(4, 5, "b", 6), act(6, 7, CallRelease, "a", OK)}},
		{"P3 release twice", true, [][]Event{
			get(0, 1, "a", 5), act(2, 3, CallRelease, "a", OK), act(4, 5, CallRelease, "a", OK)}},
		{"P3 renewed after a takeover", false, [][]Event{
			get(0, 1, "a", 5), over(2, 3, "b", "a", claim.Forced, 6), act(4, 5, CallRenew, "a", OK)}},
		{"P3 lost after a takeover", true, [][]Event{
			get(0, 1, "a", 5), over(2, 3, "b", "a", claim.Forced, 6), act(4, 5, CallRenew, "a", Lost), act(4, 5, CallCheck, "a", Lost)}},
		{"P3 lost while it was its own", false, [][]Event{get(0, 1, "a", 5), act(2, 3, CallRenew, "a", Lost)}},
		{"a takeover of what is not the newest", false, [][]Event{
			get(0, 1, "a", 5), over(2, 3, "b", "a", claim.Dead, 6), over(4, 5, "c", "a", claim.Dead, 7)}},
		{"sent again", true, [][]Event{get(0, 1, "a", 5), get(2, 3, "a", 5)}},
		{"sent again, another fence", false, [][]Event{get(0, 1, "a", 5), get(2, 3, "a", 6)}},
		{"an ended claim revived", false, [][]Event{
			get(0, 1, "a", 5), act(2, 3, CallRelease, "a", OK), get(4, 5, "a", 6)}},

		{"expired when it can be", true, [][]Event{get(0, 1, "a", 5), get(9, 10.5, "b", 6)}},
		{"expired too early", false, [][]Event{get(0, 1, "a", 5), get(8, 9.5, "b", 6)}},
		{"seen expired too early", false, [][]Event{get(0, 1, "a", 5), look(8, 9, "a", 5, false, true)}},
		{"seen expired", true, [][]Event{get(0, 1, "a", 5), look(10.2, 10.3, "a", 5, false, true)}},
		{"not seen expired in time", false, [][]Event{get(0, 1, "a", 5), look(11.5, 12, "a", 5, false, false)}},
		{"busy long after the deadline", false, [][]Event{get(0, 1, "a", 5), busy(12, 13, "b", "a")}},
		{"checked long after the deadline", false, [][]Event{
			get(0, 1, "a", 5), at(12, 13, Event{Kind: CallCheck, Claim: "a"}, OK, Event{Fence: 5})}},
		{"renewed, so not expired", false, [][]Event{
			get(0, 1, "a", 5), act(8, 9, CallRenew, "a", OK), get(12, 13, "b", 6)}},
		{"an expired newest claim is renewed", true, [][]Event{
			get(0, 1, "a", 5), act(15, 16, CallRenew, "a", OK), busy(17, 18, "b", "a")}},
		{"overdue too early", false, [][]Event{get(0, 1, "a", 5), over(5, 6, "b", "a", claim.Overdue, 6)}},

		{"killed in the middle, it was granted", true, [][]Event{
			at(0, -1, Event{Kind: CallAcquire, Claim: "a"}, "", Event{}), busy(1, 2, "b", "a"), look(3, 4, "a", 77, false, false)}},
		{"killed in the middle, it was not", true, [][]Event{
			at(0, -1, Event{Kind: CallAcquire, Claim: "a"}, "", Event{}), get(1, 2, "b", 5)}},
		{"killed in the middle, it took effect later", true, [][]Event{
			at(0, -1, Event{Kind: CallAcquire, Claim: "a"}, "", Event{}), get(1, 2, "b", 5), act(3, 4, CallRelease, "b", OK), busy(5, 6, "c", "a")}},
		{"killed in the middle, both", false, [][]Event{
			at(0, -1, Event{Kind: CallAcquire, Claim: "a"}, "", Event{}), busy(1, 2, "b", "a"), get(3, 4, "c", 6)}},
		{"killed in the middle of a release", true, [][]Event{
			get(0, 1, "a", 5), at(2, -1, Event{Kind: CallRelease, Claim: "a"}, "", Event{}), busy(3, 4, "b", "a"), get(5, 6, "c", 6)}},
		{"a fence below a guessed one", false, [][]Event{
			get(0, 1, "a", 5), act(2, 3, CallRelease, "a", OK), at(4, -1, Event{Kind: CallAcquire, Claim: "b"}, "", Event{}),
			busy(5, 6, "c", "b"), over(7, 8, "c2", "b", claim.Forced, 6)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var events []Event
			for _, c := range tt.calls {
				events = append(events, c...)
			}
			picture := filepath.Join(t.TempDir(), "history.html")
			err := Check(events, time.Millisecond, picture)
			if (err == nil) != tt.good {
				t.Errorf("judged %v; want good: %v", err, tt.good)
			}
			if _, statErr := os.Stat(picture); (statErr == nil) == tt.good {
				t.Errorf("the picture: %v; want one exactly of a failure", statErr)
			}
		})
	}
}

// A whole record: goroutines, real answers, the lines as a process writes them.
func TestMemoryHistory(t *testing.T) {
	events := record(t, func(s claimtest.Store) claimtest.Store { return s })
	if err := Check(events, time.Millisecond, filepath.Join(t.TempDir(), "history.html")); err != nil {
		t.Error(err)
	}
	outcomes := map[Outcome]int{}
	for _, e := range events {
		outcomes[e.Outcome]++
	}
	for _, o := range []Outcome{OK, Busy, Lost} {
		if outcomes[o] < 10 {
			t.Errorf("only %d calls ended %s; the load shows nothing", outcomes[o], o)
		}
	}
}

// The same load on a store that lets everybody release is found out.
func TestMemoryHistory_OfAWrongStore(t *testing.T) {
	events := record(t, func(s claimtest.Store) claimtest.Store { return anybody{s} })
	if err := Check(events, time.Millisecond, ""); err == nil {
		t.Error("a store that answers ok to any release passes")
	}
}

type anybody struct{ claimtest.Store }

func (a anybody) Release(ctx context.Context, key claim.Key, out slot.Outcome) (slot.Claim, error) {
	c, err := a.Store.Release(ctx, key, out)
	if err != nil {
		return c, nil
	}
	return c, err
}

// ticking gives every line of a record a moment of its own.
type ticking struct{ *clock.Manual }

func (c ticking) Boot() time.Duration {
	c.Advance(time.Microsecond)
	return c.Manual.Boot()
}

func record(t *testing.T, change func(claimtest.Store) claimtest.Store) []Event {
	t.Helper()
	c := clock.NewManual(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC))
	m := claimtest.NewMemory(c, claimtest.Options{})
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "record"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var refs []slot.Ref
	for i := range 3 {
		ref, err := slot.ParseCanonical(fmt.Sprintf("github.com/octo-org/octo-repo#%d", i+1))
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	r := NewRecorder(f, ticking{c})
	load := Load{Refs: refs, Workers: 4, Steps: 100, TTL: time.Second, Seed: 1, Pass: c.Advance}
	err = load.Run(context.Background(), func() (claim.Store, error) { return Wrap(change(m.Open()), r), nil })
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	events, err := Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func TestRead(t *testing.T) {
	whole := `{"op":"a-1","kind":"acquire","at":5}`
	for i := 1; i < len(whole); i++ { // a process was killed there
		events, err := Read(strings.NewReader("\n" + whole[:i] + "\n{\"op\":\"b-1\"}\n"))
		if err != nil || len(events) != 1 || events[0].Op != "b-1" {
			t.Errorf("%s: %v, %v; want it dropped", whole[:i], events, err)
		}
	}
	if _, err := Read(strings.NewReader("\n{\"op\":\"a-1\"}\n\n{\"op\":x}\n")); err == nil || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("a wrong line: %v; want an error that names it", err)
	}
	for name, events := range map[string][]Event{
		"return without call": {{Op: "a", Outcome: OK}},
		"two returns":         {{Op: "a", Kind: CallLook}, {Op: "a", Outcome: OK}, {Op: "a", Outcome: OK}},
	} {
		if err := Check(events, 0, ""); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}
