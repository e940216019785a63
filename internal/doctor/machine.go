package doctor

import (
	"context"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// clocks compares the wall clock with the newest fence, which never lies before
// the moment it was given, and looks whether the boot clock is one.
func clocks(ctx context.Context, s *Subject, r *report) {
	if s.Clock == nil {
		if s.ClockErr != nil {
			r.bad("clock-broken", "%v", s.ClockErr)
		}
		return
	}
	first, awake := s.Clock.Boot(), s.Clock.Awake()
	if again := s.Clock.Boot(); first <= 0 || again < first || awake > again {
		r.bad("clock-broken", "boot time goes %v, %v, and %v of it awake", first, again, awake)
		return
	}
	newest, known := newestFence(ctx, s)
	behind := newest.Sub(s.Clock.Wall())
	if known && behind > s.Limits.Behind {
		r.bad("clock-behind", "the wall clock is %v behind the newest fence", behind.Round(time.Millisecond))
		return
	}
	r.good("up %v, wall clock not behind the newest fence", first.Round(time.Second))
}

// newestFence is the time that the newest fences on record stand for.
func newestFence(ctx context.Context, s *Subject) (time.Time, bool) {
	if s.Store == nil {
		return time.Time{}, false
	}
	var fence int64
	live, err := s.Store.Live(ctx)
	if err != nil {
		return time.Time{}, false // the store's own line tells
	}
	for _, c := range live {
		fence = max(fence, c.Fence)
	}
	last, err := s.Store.Runs(ctx, slot.Ref{}, 100)
	if err != nil {
		return time.Time{}, false
	}
	for _, run := range last {
		fence = max(fence, run.Fence)
	}
	return time.UnixMilli(fence), fence > 0
}

func processes(_ context.Context, s *Subject, r *report) {
	if err := s.Machine.Proc(); err != nil {
		r.bad("proc-blind", "processes cannot be seen: %v", err)
		return
	}
	before := len(r.lines)
	if err := s.Machine.Pidfd(); err != nil {
		r.bad("kernel-pidfd", "no pidfd: %v", err)
	}
	if err := s.Machine.Subreaper(); err != nil {
		r.bad("kernel-subreaper", "no subreaper: %v", err)
	}
	if len(r.lines) > before {
		return
	}
	if s.Machine.First {
		r.good("seen, held by pidfd; the machine's first pid namespace, so runs need no warden")
	} else {
		r.good("seen, held by pidfd; a pid namespace of its own, so each run has a warden")
	}
}
