package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/oneslot/oneslot/internal/reserve"
	"github.com/oneslot/oneslot/internal/slot"
)

const (
	// mostSuspect is how many suspicious comments of a thread are told of by name, in
	// all: whoever may comment must not fill our store.
	mostSuspect = 5
	// mostSeen bounds what a process remembers to have told.
	mostSeen = 1 << 12

	reasonSuspect = "reservation: suspicious"
)

// seen is what was told already.
type seen struct {
	mu   sync.Mutex
	list map[string]bool
}

// first reports whether something was not told before.
func (s *seen) first(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list[what] {
		return false
	}
	if len(s.list) >= mostSeen {
		clear(s.list)
	}
	s.list[what] = true
	return true
}

// suspect reports comments that look like reservations and count for nothing: each
// once, whoever of this store sees it again.
func (r *Reservations) suspect(ctx context.Context, c slot.Claim, ref slot.Ref, list []reserve.Suspicion, err error) {
	if busy, ok := errors.AsType[*reserve.BusyError](err); ok {
		list = busy.Suspicious
	}
	list = slices.DeleteFunc(slices.Clone(list), func(s reserve.Suspicion) bool {
		return !r.seen.first(fmt.Sprintf("%s %d %s", ref, s.Comment, s.Why))
	})
	if len(list) == 0 {
		return
	}
	said, err := r.app.Store.Decisions(ctx, c.Ref)
	if err != nil {
		r.log.Warn("what is on record could not be read", "ref", c.Ref, "err", err)
		return
	}
	told := map[string]bool{}
	for _, d := range said {
		if d.Reason == reasonSuspect {
			told[d.Detail] = true
		}
	}
	for _, s := range list {
		r.log.Warn("a comment looks like a reservation and is none", "ref", ref, "comment", s.Comment, "by", s.Login, "why", s.Why)
		detail := fmt.Sprintf("comment %d by %s on %s: %s", s.Comment, s.Login, ref, s.Why)
		if len(told) >= mostSuspect {
			detail = fmt.Sprintf("there are more than %d on %s; they are not told of any more", mostSuspect, ref)
		}
		if told[detail] {
			continue
		}
		told[detail] = true
		r.note(ctx, slot.Decision{Ref: c.Ref, Path: c.Holder.Path, Run: c.Run, Reason: reasonSuspect, Detail: detail, Next: "it counts for nothing"})
	}
}

// report puts on record what became of a reservation, and tells whoever has the claim.
func (r *Reservations) report(ctx context.Context, rep reserve.Report) {
	id, thread, lead, ok := refsOf(rep.Claim)
	if !ok {
		return
	}
	r.log.Warn("a reservation: "+rep.What, "ref", thread, "claim", id, "comment", rep.Comment, "why", rep.Why)
	next := "nobody looks after it any more; see the thread"
	switch rep.What {
	case "lost":
		next = "the worker goes on; others may start beside it"
	case "not cleared":
		next = "it is tried again, more and more rarely, for seven days"
	}
	detail := fmt.Sprintf("comment %d on %s: %s", rep.Comment, thread, rep.Why)
	r.note(ctx, slot.Decision{Ref: lead, Path: rep.Path, Reason: "reservation: " + rep.What, Detail: detail, Next: next})
	if r.about != nil {
		r.about(id, rep.What+": "+detail+"; "+next)
	}
}

// note puts something on record that decides nothing.
func (r *Reservations) note(ctx context.Context, d slot.Decision) {
	d.Verdict = slot.Proceed
	if err := r.app.Store.Note(context.WithoutCancel(ctx), d); err != nil {
		r.log.Warn("that could not be put on record", "ref", d.Ref, "reason", d.Reason, "err", err)
	}
}
