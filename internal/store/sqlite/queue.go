package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Queue is the store's work items and events. It implements queue.Store, in the
// transactions of the store that it is part of.
type Queue struct{ s *Store }

var _ queue.Store = (*Queue)(nil)

// Queue gives the store's queue.
func (s *Store) Queue() *Queue { return &Queue{s} }

var errNoItem = fmt.Errorf("%w: there is no such work item", slot.ErrUsage)

// now is the wall clock as it is written down.
func (t *tx) now() time.Time { return wallTime(t.ms()) }

// change loads an item, which run (or nobody, if it is empty) must have in hand,
// and has fn change it; then it is written, with the decision d about it.
func (q *Queue) change(ctx context.Context, what string, item int64, run string, d slot.Decision, fn func(*tx, *work) error) error {
	return q.s.step(ctx, what, func(t *tx) (error, error) {
		w, err := t.work("i.id = ?", item)
		switch {
		case err != nil:
			return nil, err
		case w == nil, run == "" && w.State != queue.Pending, run != "" && (w.State != queue.Running || w.Run != run):
			return queue.ErrStale, nil
		}
		r, err := t.find(w.Ref.Slug())
		if err != nil {
			return nil, err
		}
		if w.free, err = t.vacant(r); err != nil {
			return nil, err
		}
		if err := fn(t, w); err != nil {
			return nil, err
		}
		if err := t.save(w); err != nil || r == nil || d.Verdict == "" {
			return nil, err
		}
		d.Ref = w.Ref
		return nil, t.note(r, d)
	})
}

// Begin implements queue.Store.
func (q *Queue) Begin(ctx context.Context, b queue.Begin) (l queue.Look, err error) {
	err = q.s.step(ctx, "begin", func(t *tx) (refused, err error) {
		l = queue.Look{}
		over, err := t.one("SELECT 1 FROM run WHERE id = ? AND state = 'ended'", []any{b.Run}, new(int))
		if err != nil {
			return nil, err
		}
		if over { // nobody would settle the item
			return queue.ErrStale, nil
		}
		w, look, err := t.startable(b.Item)
		if err != nil || w == nil {
			return queue.ErrStale, err
		}
		l, err = t.give(w, look, b)
		return nil, err
	})
	if err != nil {
		return queue.Look{}, err
	}
	return l, nil
}

// AcquireFor takes the slot of a work item and begins the item, or does neither:
// claim.Store's Acquire and queue.Store's Begin in one transaction.
func (q *Queue) AcquireFor(ctx context.Context, req claim.Request, b queue.Begin) (g claim.Grant, l queue.Look, err error) {
	if err := req.Validate(); err != nil {
		return g, l, err
	}
	err = q.s.step(ctx, "claim", func(t *tx) (refused, err error) {
		g, l = claim.Grant{}, queue.Look{}
		w, look, err := t.startable(b.Item)
		if err != nil || w == nil {
			return queue.ErrStale, err
		}
		if g, refused, err = t.acquire(req); err != nil || refused != nil {
			return refused, err
		}
		l, err = t.give(w, look, b)
		return nil, err
	})
	if err != nil {
		return claim.Grant{}, queue.Look{}, err
	}
	return g, l, nil
}

// startable reads a pending item with what waits for it; nil if it is not pending,
// or nothing waits: then it is put to rest, or it would be picked for ever.
func (t *tx) startable(item int64) (*work, queue.Look, error) {
	w, err := t.work("i.id = ?", item)
	if err != nil || w == nil || w.State != queue.Pending {
		return nil, queue.Look{}, err
	}
	l, err := t.look(w)
	if err == nil && len(l.Events) == 0 {
		err = t.rest(w)
		w = nil
	}
	return w, l, err
}

// rest is for an item that nothing waits for.
func (t *tx) rest(w *work) error {
	w.Item.Skip("", "", time.Time{}, t.now())
	return t.save(w)
}

// give gives a startable item to a run.
func (t *tx) give(w *work, l queue.Look, b queue.Begin) (queue.Look, error) {
	w.Begin(b.Run, b.Policy, l.Last)
	w.served = true
	if err := t.exec("UPDATE event SET run = ? WHERE item = ? AND state = 'waiting'", b.Run, w.ID); err != nil {
		return l, err
	}
	for i := range l.Events {
		l.Events[i].Run = b.Run
	}
	err := t.save(w)
	l.Item = w.Item
	return l, err
}

// freed says that a reason to defer is gone once nobody has the slot.
func freed(reason string) bool {
	return reason == slot.ReasonHeld || reason == slot.ReasonLine || reason == slot.ReasonUnseen
}

// Defer implements queue.Store.
func (q *Queue) Defer(ctx context.Context, item int64, run string, until time.Time, d slot.Decision) error {
	return q.change(ctx, "defer", item, run, d, func(t *tx, w *work) error {
		if w.State == queue.Running {
			w.PutBack(t.now())
		}
		if w.free && freed(d.Reason) { // since the caller was refused
			until = t.now()
			t.woke = true
		}
		w.Item.Defer(d.Reason, d.Detail, until, t.now())
		return nil
	})
}

// Skip implements queue.Store.
func (q *Queue) Skip(ctx context.Context, item int64, run string, last int64, only []string, d slot.Decision) error {
	return q.change(ctx, "skip", item, run, d, func(t *tx, w *work) error {
		cond, args := "item = ? AND state = 'waiting' AND n <= ?", []any{w.ID, last}
		reason := because(d.Reason, d.Detail)
		if len(only) == 0 {
			if err := t.endEvents("skipped", reason, cond, args...); err != nil {
				return err
			}
		}
		for _, id := range only {
			if err := t.endEvents("skipped", reason, cond+" AND n = ?", append(args, queue.Number(id))...); err != nil {
				return err
			}
		}
		// What is left of those looked at, and of all.
		var looked, oldest int64
		_, err := t.one(`SELECT coalesce(min(at) FILTER (WHERE n <= ?), 0), coalesce(min(at), 0)
			FROM event WHERE item = ? AND state = 'waiting'`, []any{last, w.ID}, &looked, &oldest)
		if err != nil {
			return err
		}
		if looked != 0 {
			w.Thin(wallTime(looked))
			return nil
		}
		w.Item.Skip(d.Reason, d.Detail, wallTime(oldest), t.now())
		t.woke = t.woke || oldest != 0
		return nil
	})
}

// Kill implements queue.Store.
func (q *Queue) Kill(ctx context.Context, item int64, run string, d slot.Decision) error {
	return q.change(ctx, "kill", item, run, d, func(t *tx, w *work) error {
		w.Item.Kill(d.Reason, d.Detail)
		return t.endEvents("dead", because(d.Reason, d.Detail), "item = ? AND state = 'waiting'", w.ID)
	})
}

// because is a reason with its detail, for the record of an event.
func because(reason, detail string) string {
	if detail == "" {
		return reason
	}
	return reason + ": " + detail
}

// endEvents ends the events for which cond holds.
func (t *tx) endEvents(state, reason, cond string, args ...any) error {
	return t.exec("UPDATE event SET state = '"+state+"', reason = ?, ended_at = ? WHERE "+cond,
		append([]any{reason, t.ms()}, args...)...)
}

// reviveEvents has the dead letters of an item wait again.
func (t *tx) reviveEvents(item int64) error {
	return t.exec("UPDATE event SET state = 'waiting', reason = '', ended_at = 0 WHERE item = ? AND state = 'dead'", item)
}
