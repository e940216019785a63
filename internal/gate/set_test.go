package gate_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

func TestSetStopsAtTheFirstThatDoesNotLetPass(t *testing.T) {
	asked := ""
	note := func(name string, v slot.Verdict) gate.Entry {
		return gate.Entry{Gate: fake{name, func(context.Context, gate.Ask) gate.Answer {
			asked += name
			return gate.Answer{Verdict: v, Reason: name + ": so"}
		}}}
	}
	for _, c := range []struct {
		second  slot.Verdict
		verdict slot.Verdict
		asked   string
		reason  string
	}{
		{slot.Proceed, slot.Proceed, "abc", ""}, // P9
		{slot.Defer, slot.Defer, "ab", "b: so"},
		{slot.Skip, slot.Skip, "ab", "b: so"},
		{slot.Unknown, slot.Proceed, "abc", ""},
		{"", slot.Proceed, "abc", ""},
	} {
		asked = ""
		clk := newClock()
		s := gate.NewSet(clk, nil, note("a", slot.Proceed), note("b", c.second), note("c", slot.Proceed))
		d := s.Decide(t.Context(), gate.Ask{Ref: ref(t, "key:x")})
		if d.Verdict != c.verdict || asked != c.asked || d.Reason != c.reason || len(d.Evidence) != len(c.asked) {
			t.Errorf("%q: %+v, asked %q", c.second, d, asked)
		}
		if c.verdict == slot.Defer && d.Until != clk.Wall().Add(gate.DefaultEvery) {
			t.Errorf("deferred until %v", d.Until)
		}
	}
}

// P8: each rule for what could not be found out, and it is on record which applied.
func TestSetOnError(t *testing.T) {
	closedFor := gate.OnError{Closed: true, For: 10 * time.Minute}
	for _, c := range []struct {
		name    string
		rule    gate.OnError
		fails   time.Duration // since then
		memory  *memory
		verdict slot.Verdict
		words   string
	}{
		{"open", gate.OnError{}, 0, nil, slot.Proceed, "no bus; on_error = open: went on"},
		{"closed", gate.OnError{Closed: true}, 0, nil, slot.Defer, "no bus; on_error = closed: deferred"},
		{"closed-for, new", closedFor, 0, &memory{}, slot.Defer, "on_error = closed-for 10m, failing since "},
		{"closed-for, young", closedFor, 9 * time.Minute, &memory{}, slot.Defer, ": deferred"},
		{"closed-for, over", closedFor, 10 * time.Minute, &memory{}, slot.Proceed, ": went on"},
		{"closed-for, forgetful", closedFor, time.Hour, &memory{err: errNoMemory}, slot.Defer, "the memory is gone"},
		{"closed-for, no memory", closedFor, time.Hour, nil, slot.Defer, "nobody remembers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			clk := newClock()
			var m gate.Memory
			if c.memory != nil {
				m = c.memory
			}
			s := gate.NewSet(clk, m, gate.Entry{Gate: says("systemd", slot.Unknown, "no bus"), OnError: c.rule})
			ask := gate.Ask{Ref: ref(t, "key:x")}
			d := s.Decide(t.Context(), ask)
			if c.fails > 0 {
				clk.Advance(c.fails)
				d = s.Decide(t.Context(), ask)
			}
			ev := d.Evidence[0]
			if d.Verdict != c.verdict || ev.Verdict != slot.Unknown || ev.Reason != "systemd: unknown" || !strings.Contains(ev.Detail, c.words) {
				t.Errorf("%+v", d)
			}
			if c.verdict == slot.Defer && (d.Reason != ev.Reason || d.Detail != ev.Detail || d.Until.IsZero()) {
				t.Errorf("%+v", d)
			}
		})
	}
}

// One good answer starts the count anew, for its own ref and gate alone.
func TestSetClosedForCountsAnUnbrokenRow(t *testing.T) {
	clk, m := newClock(), &memory{}
	verdict := slot.Unknown
	g := fake{"http", func(context.Context, gate.Ask) gate.Answer { return gate.Answer{Verdict: verdict} }}
	s := gate.NewSet(clk, m, gate.Entry{Gate: g, Name: "http 2", OnError: gate.OnError{Closed: true, For: time.Minute}})
	ask := func(r string) slot.Verdict { return s.Decide(t.Context(), gate.Ask{Ref: ref(t, r)}).Verdict }
	ask("key:a")
	ask("key:b")
	clk.Advance(50 * time.Second)
	verdict = slot.Proceed
	ask("key:a")
	verdict = slot.Unknown
	clk.Advance(20 * time.Second)
	if a, b := ask("key:a"), ask("key:b"); a != slot.Defer || b != slot.Proceed {
		t.Errorf("a: %s, b: %s", a, b)
	}
}

// Two gates of a type have names, and failures, of their own.
func TestSetNamesItsGates(t *testing.T) {
	m := &memory{}
	rule := gate.OnError{Closed: true, For: time.Minute}
	first, second := says("http", slot.Proceed, ""), says("http", slot.Unknown, "down")
	d := gate.NewSet(newClock(), m, gate.Entry{Gate: first, OnError: rule}, gate.Entry{Gate: second, OnError: rule}).
		Decide(t.Context(), gate.Ask{Ref: ref(t, "key:x")})
	if d.Verdict != slot.Defer || d.Evidence[0].Gate != "http" || d.Evidence[1].Gate != "http 2" || len(m.since) != 1 {
		t.Errorf("%+v, %v", d, m.since)
	}
}

func TestSetSkipsSomeEvents(t *testing.T) {
	events := []slot.Event{{ID: "1"}, {ID: "2"}, {ID: "3"}}
	skip := func(ids ...string) gate.Entry {
		return gate.Entry{Gate: fake{"trust", func(context.Context, gate.Ask) gate.Answer {
			return gate.Answer{Verdict: slot.Skip, Reason: "trust: not trusted", Events: ids}
		}}}
	}
	left := -1
	last := gate.Entry{Gate: fake{"last", func(_ context.Context, a gate.Ask) gate.Answer {
		left = len(a.Events)
		return gate.Answer{Verdict: slot.Proceed}
	}}}
	d := gate.NewSet(newClock(), nil, skip("1", "3"), last).Decide(t.Context(), gate.Ask{Events: events})
	if d.Verdict != slot.Proceed || left != 1 || len(d.Skipped) != 2 || d.Skipped["3"].Reason != "trust: not trusted" {
		t.Errorf("%+v, %d left", d, left)
	}
	d = gate.NewSet(newClock(), nil, skip("1"), skip("2", "3"), last).Decide(t.Context(), gate.Ask{Events: events})
	if d.Verdict != slot.Skip || len(d.Skipped) != 3 || d.Reason != "trust: not trusted" {
		t.Errorf("%+v", d)
	}
	if len(events) != 3 || events[0].ID != "1" {
		t.Error("the caller's events were changed")
	}
}

// A gate that does not come back is Unknown in time, is not asked again and again,
// and its late answer changes nothing.
func TestSetDoesNotWaitForAHangingGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var asked atomic.Int32
		g := fake{"command", func(context.Context, gate.Ask) gate.Answer {
			asked.Add(1)
			<-release
			return gate.Answer{Verdict: slot.Defer, Reason: "command: busy"}
		}}
		s := gate.NewSet(newClock(), nil, gate.Entry{Gate: g, Timeout: time.Second})
		for i := range 10 {
			began := time.Now()
			d := s.Decide(t.Context(), gate.Ask{})
			if d.Verdict != slot.Proceed || d.Evidence[0].Verdict != slot.Unknown {
				t.Errorf("%+v", d)
			}
			if took := time.Since(began); took > 1100*time.Millisecond {
				t.Errorf("ask %d took %v", i, took)
			}
		}
		if n := asked.Load(); n != 4 {
			t.Errorf("it was asked %d times at once", n)
		}
		close(release)
		synctest.Wait()
		if d := s.Decide(t.Context(), gate.Ask{}); d.Verdict != slot.Defer {
			t.Errorf("once it answers: %+v", d)
		}
	})
}

func TestSetStartsNothingWhenCutOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g := fake{"http", func(context.Context, gate.Ask) gate.Answer {
		cancel()
		return gate.Answer{Verdict: slot.Unknown}
	}}
	m := &memory{}
	d := gate.NewSet(newClock(), m, gate.Entry{Gate: g, OnError: gate.OnError{Closed: true, For: time.Hour}}).Decide(ctx, gate.Ask{})
	if d.Verdict != slot.Defer || len(m.since) != 0 {
		t.Errorf("%+v; counted as a failure of the gate: %v", d, m.since)
	}
}

type holder struct {
	fake
	ans  gate.Answer
	held *int
	wait <-chan struct{}
}

func (h holder) Hold(context.Context, gate.Ask, gate.Run) (gate.Answer, func(context.Context)) {
	if h.wait != nil {
		<-h.wait
	}
	if h.ans.Verdict != slot.Proceed {
		return h.ans, nil
	}
	*h.held++
	return h.ans, func(context.Context) { *h.held-- }
}

func TestSetHold(t *testing.T) {
	held := 0
	yes := holder{held: &held, ans: gate.Answer{Verdict: slot.Proceed}}
	no := holder{held: &held, ans: gate.Answer{Verdict: slot.Defer, Reason: "systemd: u is active"}}
	d, undo := gate.NewSet(newClock(), nil, gate.Entry{Gate: yes}, gate.Entry{Gate: yes}).Hold(t.Context(), gate.Ask{}, gate.Run{})
	if d.Verdict != slot.Proceed || held != 2 {
		t.Errorf("%+v, %d held", d, held)
	}
	if undo(t.Context()); held != 0 {
		t.Errorf("%d still held", held)
	}
	d, undo = gate.NewSet(newClock(), nil, gate.Entry{Gate: yes}, gate.Entry{Gate: no}).Hold(t.Context(), gate.Ask{}, gate.Run{})
	if undo(t.Context()); d.Verdict != slot.Defer || d.Reason != "systemd: u is active" || held != 0 {
		t.Errorf("%+v, %d held", d, held)
	}
}

// What is taken after the time limit is given back.
func TestSetHoldTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held, wait := 0, make(chan struct{})
		h := holder{held: &held, ans: gate.Answer{Verdict: slot.Proceed}, wait: wait}
		d, _ := gate.NewSet(newClock(), nil, gate.Entry{Gate: h, OnError: gate.OnError{Closed: true}}).Hold(t.Context(), gate.Ask{}, gate.Run{})
		if d.Verdict != slot.Defer || d.Reason == "" {
			t.Errorf("%+v", d)
		}
		close(wait)
		synctest.Wait()
		if held != 0 {
			t.Errorf("%d still held", held)
		}
	})
}
