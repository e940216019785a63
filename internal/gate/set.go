package gate

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// Defaults of an Entry.
const (
	defaultTimeout = 5 * time.Second
	DefaultEvery   = 10 * time.Second
)

// Entry is a gate with what the configuration says of it.
type Entry struct {
	Gate
	// Name tells it from others of its type, also to the Memory; empty: its type,
	// with a number from the second on.
	Name    string
	OnError OnError
	// Timeout is how long it may take to answer; zero: defaultTimeout.
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
	count := map[string]int{}
	for _, e := range entries {
		if count[e.Type()]++; e.Name == "" {
			e.Name = e.Type()
			if n := count[e.Type()]; n > 1 {
				e.Name += " " + strconv.Itoa(n)
			}
		}
		if e.Timeout <= 0 {
			e.Timeout = defaultTimeout
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
	a.look = &look{}
	for _, e := range s.entries {
		ans := e.ask(ctx, a)
		if ctx.Err() != nil {
			return s.cutOff(d, e)
		}
		if !s.weigh(ctx, &d, e, &a, ans) {
			break
		}
	}
	d.Head = a.look.head()
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
		on, came = s.onError(ctx, e, a.Ref, ans.Lasting, &ev)
		ev.Detail += after("; ", came)
		if !on {
			d.Verdict, d.Until = slot.Defer, ans.Until
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
