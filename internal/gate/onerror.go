package gate

import (
	"context"
	"fmt"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// String writes o as the configuration does.
func (o OnError) String() string {
	switch {
	case !o.Closed:
		return "open"
	case o.For <= 0:
		return "closed"
	}
	return "closed-for " + slot.Span(o.For)
}

// onError says what an Unknown comes to: whether the work goes on, and in words.
// Whoever answers with a limit, or with a no, is not down: that ends the row.
func (s *Set) onError(ctx context.Context, e *entry, ref slot.Ref, lasting bool, ev *Evidence) (bool, string) {
	rule := "on_error = " + e.OnError.String()
	switch {
	case !e.OnError.Closed:
		return true, rule + ": went on"
	case e.OnError.For <= 0:
		return false, rule + ": deferred"
	case lasting:
		s.answered(ctx, e, ref, ev)
		return false, rule + ": deferred for as long as that is so"
	case s.memory == nil:
		return false, rule + ": deferred, since nobody remembers for how long"
	}
	now := s.clock.Wall()
	since, err := s.memory.Failed(ctx, e.Name, ref, now)
	if err != nil {
		return false, fmt.Sprintf("%s: deferred, since it cannot be told for how long (%v)", rule, err)
	}
	// The time that stays the same, so that equal verdicts in a row are one record.
	rule += ", failing since " + since.UTC().Format(time.RFC3339)
	if now.Sub(since) < e.OnError.For {
		return false, rule + ": deferred"
	}
	return true, rule + ": went on"
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
