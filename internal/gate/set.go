package gate

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// Defaults of an Entry.
const (
	DefaultTimeout = 5 * time.Second
	DefaultEvery   = 10 * time.Second
)

// Entry is a gate with what the configuration says of it.
type Entry struct {
	Gate
	// Name tells it from others of its type, also to the Memory; empty: its type.
	Name    string
	OnError OnError
	// Timeout is how long it may take to answer; zero: DefaultTimeout.
	Timeout time.Duration
	// Every is how soon a deferral is looked at again if the gate does not say;
	// zero: DefaultEvery.
	Every time.Duration
}

// Set is an ordered list of gates. Any number of goroutines may ask it.
type Set struct {
	clock   clock.Clock
	memory  Memory
	entries []*entry
}

type entry struct {
	Entry
	late atomic.Int32 // asks that were given up and have not returned yet
}

// NewSet puts gates in order, cheap first. memory may be nil if no entry has an
// OnError.For.
func NewSet(c clock.Clock, memory Memory, entries ...Entry) *Set {
	s := &Set{clock: c, memory: memory}
	for _, e := range entries {
		if e.Name == "" {
			e.Name = e.Type()
		}
		if e.Timeout <= 0 {
			e.Timeout = DefaultTimeout
		}
		if e.Every <= 0 {
			e.Every = DefaultEvery
		}
		s.entries = append(s.entries, &entry{Entry: e})
	}
	return s
}

// Decide asks the gates in order and stops at the first that does not let pass.
func (s *Set) Decide(ctx context.Context, a Ask) Decision {
	d := Decision{Verdict: slot.Proceed, Skipped: map[string]Answer{}}
	for _, e := range s.entries {
		ans := e.ask(ctx, a)
		if ctx.Err() != nil {
			return s.cutOff(d, e)
		}
		if !s.weigh(ctx, &d, e, &a, ans) {
			break
		}
	}
	return d
}

func (s *Set) cutOff(d Decision, e *entry) Decision {
	d.Verdict, d.Reason = slot.Defer, e.Type()+": not asked"
	d.Detail, d.Until = "the ask was cut off", s.clock.Wall()
	return d
}

// weigh adds one answer to a decision, takes the events that it ends out of the
// ask, and reports whether the next gate is to be asked.
func (s *Set) weigh(ctx context.Context, d *Decision, e *entry, a *Ask, ans Answer) bool {
	ev := Evidence{Gate: e.Name, Verdict: ans.Verdict, Reason: ans.Reason, Detail: clip(ans.Detail)}
	on := true
	switch ans.Verdict {
	case "":
		ev.Detail = "not asked" + after(": ", ev.Detail)
	case slot.Proceed:
		s.answered(ctx, e, a.Ref, &ev)
	case slot.Skip:
		s.answered(ctx, e, a.Ref, &ev)
		on = d.skip(a, ans)
	case slot.Defer:
		s.answered(ctx, e, a.Ref, &ev)
		on = false
		d.Verdict, d.Until = slot.Defer, ans.Until
	default: // an answer of no known kind is none
		ev.Verdict, ev.Reason = slot.Unknown, e.Type()+": unknown"
		var came string
		on, came = s.onError(ctx, e, a.Ref)
		ev.Detail += after("; ", came)
		if !on {
			d.Verdict = slot.Defer
		}
	}
	if !on {
		d.Reason, d.Detail = ev.Reason, ev.Detail
	}
	if d.Verdict == slot.Defer && d.Until.IsZero() {
		d.Until = s.clock.Wall().Add(e.Every)
	}
	d.Evidence = append(d.Evidence, ev)
	return on
}

// skip ends the events that an answer names, or all. It reports whether any is
// left to be asked for.
func (d *Decision) skip(a *Ask, ans Answer) bool {
	left := slices.Clone(a.Events)
	left = slices.DeleteFunc(left, func(e slot.Event) bool {
		over := len(ans.Events) == 0 || slices.Contains(ans.Events, e.ID)
		if over {
			d.Skipped[e.ID] = ans
		}
		return over
	})
	a.Events = left
	if len(left) == 0 {
		d.Verdict = slot.Skip
	}
	return len(left) > 0
}

// onError says what an Unknown comes to: whether the work goes on, and in words.
func (s *Set) onError(ctx context.Context, e *entry, ref slot.Ref) (bool, string) {
	rule := "on_error = " + e.OnError.String()
	switch {
	case !e.OnError.Closed:
		return true, rule + ": went on"
	case e.OnError.For <= 0:
		return false, rule + ": deferred"
	case s.memory == nil:
		return false, rule + ": deferred, since nobody remembers for how long"
	}
	now := s.clock.Wall()
	since, err := s.memory.Failed(ctx, e.Name, ref, now)
	if err != nil {
		return false, fmt.Sprintf("%s: deferred, since it cannot be told for how long (%v)", rule, err)
	}
	row := now.Sub(since)
	if row < e.OnError.For {
		return false, fmt.Sprintf("%s, failing for %s: deferred", rule, short(row))
	}
	return true, fmt.Sprintf("%s, failing for %s: went on", rule, short(row))
}

// answered ends the row of failures. If that cannot be noted, the evidence says so:
// the row then seems longer than it is.
func (s *Set) answered(ctx context.Context, e *entry, ref slot.Ref, ev *Evidence) {
	if e.OnError.For <= 0 || s.memory == nil {
		return
	}
	if err := s.memory.Answered(ctx, e.Name, ref); err != nil {
		ev.Detail += after("; ", fmt.Sprintf("the end of its failures could not be noted (%v)", err))
	}
}

// String writes o as the configuration does.
func (o OnError) String() string {
	switch {
	case !o.Closed:
		return "open"
	case o.For <= 0:
		return "closed"
	}
	return "closed-for " + short(o.For)
}
