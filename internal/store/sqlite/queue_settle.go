package sqlite

import (
	"context"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Settle implements queue.Store. It is for runs that the store does not close
// itself: their claims are elsewhere, or a program without a queue closed them.
func (q *Queue) Settle(ctx context.Context, run string, out slot.Outcome) (settled bool, err error) {
	err = q.s.do(ctx, "settle", func(t *tx) error {
		settled = false
		started := true // as far as we know
		if _, err := t.one("SELECT started_at <> 0 FROM run WHERE id = ?", []any{run}, &started); err != nil {
			return err
		}
		settled, err = t.settle(run, out, started)
		return err
	})
	return settled && err == nil, err
}

// settle ends the run of the item whose present run it is.
func (t *tx) settle(run string, out slot.Outcome, started bool) (bool, error) {
	w, err := t.work("i.run = ? AND i.run <> ''", run)
	if err != nil || w == nil {
		return false, err
	}
	told := w.Told
	mark := w.Settle(out, started, t.now())
	if err := t.markEvents(w, told, mark, out); err != nil {
		return false, err
	}
	if err := t.save(w); err != nil || mark != queue.MarkDead {
		return true, err
	}
	path := ""
	_, err = t.one("SELECT path FROM run WHERE id = ?", []any{run}, &path)
	if err != nil {
		return false, err
	}
	return true, t.givenUp(w, path, run)
}

// givenUp puts on record that an item is dead now.
func (t *tx) givenUp(w *work, path, run string) error {
	r, err := t.find(w.Ref.Slug())
	if err != nil || r == nil {
		return err
	}
	return t.note(r, w.GivenUp(path, run))
}

// markEvents has the events that a run was told of end, as its end says.
func (t *tx) markEvents(w *work, told int64, mark queue.Mark, out slot.Outcome) error {
	cond := "item = ? AND state = 'waiting' AND n <= ?"
	switch mark {
	case queue.MarkSkip:
		return t.endEvents("skipped", because(string(out.Result), out.Reason), cond, w.ID, told)
	case queue.MarkDead:
		return t.endEvents("dead", because(w.Reason, w.Detail), cond, w.ID, told)
	case queue.MarkDone:
		var newest int64
		if _, err := t.one("SELECT coalesce(max(n), 0) FROM event WHERE "+cond, []any{w.ID, told}, &newest); err != nil {
			return err
		}
		if err := t.exec("UPDATE event SET state = 'done', ended_at = ? WHERE n = ?", t.ms(), newest); err != nil {
			return err
		}
		return t.exec("UPDATE event SET state = 'superseded', by = ?, reason = ?, ended_at = ? WHERE "+cond,
			newest, "superseded by "+queue.EventID(newest), t.ms(), w.ID, told)
	}
	return nil
}

// Revive implements queue.Store.
func (q *Queue) Revive(ctx context.Context, ref slot.Ref, rule *string) (revived []queue.Item, err error) {
	err = q.s.do(ctx, "revive", func(t *tx) error {
		list, err := t.meant(ref, rule)
		if err != nil {
			return err
		}
		revived = nil
		for _, w := range list {
			if !w.Revive(t.now()) {
				continue
			}
			if err := t.reviveEvents(w.ID); err != nil {
				return err
			}
			some, err := t.one("SELECT 1 FROM event WHERE item = ? AND state = 'waiting' LIMIT 1", []any{w.ID}, new(int))
			if err != nil {
				return err
			}
			if !some {
				if err := t.rest(w); err != nil {
					return err
				}
				continue
			}
			if err := t.save(w); err != nil {
				return err
			}
			revived = append(revived, w.Item)
		}
		t.woke = t.woke || len(revived) > 0
		return nil
	})
	if err != nil {
		return nil, err
	}
	return revived, nil
}

// meant are the items of a ref and a rule (nil: of each); of all refs, the dead ones.
func (t *tx) meant(ref slot.Ref, rule *string) (list []*work, err error) {
	cond, args := "i.state = 'dead'", []any(nil)
	if !ref.IsZero() {
		cond, args = "s.slug = ?", []any{ref.Slug()}
	}
	if rule != nil {
		cond, args = cond+" AND i.rule = ?", append(args, *rule)
	}
	err = t.all("SELECT "+workColumns+workTables+"WHERE "+cond+" ORDER BY i.id", args, func(sc scanner) error {
		w, err := scanWork(sc)
		list = append(list, w)
		return err
	})
	return list, err
}

// Drop implements queue.Store.
func (q *Queue) Drop(ctx context.Context, d queue.Drop) (dropped []queue.Dropped, err error) {
	err = q.s.do(ctx, "drop", func(t *tx) error {
		dropped = nil
		list, err := t.meant(d.Ref, d.Rule)
		if err != nil {
			return err
		}
		noted := map[slot.Ref]bool{}
		for _, w := range list {
			dec := d.Decision(w.Ref)
			one, err := t.drop(w, dec)
			if err != nil {
				return err
			}
			if one.Events > 0 || w.State == queue.Running {
				dropped = append(dropped, one)
			}
			if one.Events == 0 || noted[w.Ref] {
				continue
			}
			r, err := t.find(w.Ref.Slug())
			if err == nil && r != nil {
				err = t.note(r, dec)
			}
			if err != nil {
				return err
			}
			noted[w.Ref], t.woke = true, true // who waits for the end of an event looks again
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return dropped, nil
}

// drop ends the events of an item that its present run, if any, was not told of.
func (t *tx) drop(w *work, d slot.Decision) (one queue.Dropped, err error) {
	if w.Item.Drop(d.Detail, t.now()) {
		for _, state := range []string{"waiting", "dead"} { // each in the words of its index
			n, err := t.count("UPDATE event SET state = 'skipped', reason = ?, ended_at = ? WHERE item = ? AND n > ? AND state = '"+state+"'",
				because(d.Reason, d.Detail), t.ms(), w.ID, w.Told)
			if err != nil {
				return one, err
			}
			one.Events += int(n)
		}
		if err := t.save(w); err != nil {
			return one, err
		}
	}
	one.Item = w.Item
	_, err = t.one("SELECT count(*) FROM event WHERE item = ? AND state = 'waiting'", []any{w.ID}, &one.Item.Waiting)
	return one, err
}

// Wake implements queue.Store.
func (q *Queue) Wake(ctx context.Context, ref slot.Ref, reason string) (n int, err error) {
	cond, args := "reason >= ? AND reason < ?", []any{reason, reason + "\U0010ffff"}
	if !ref.IsZero() {
		cond, args = cond+" AND slot = (SELECT id FROM slot WHERE slug = ?)", append(args, ref.Slug())
	}
	err = q.s.do(ctx, "wake", func(t *tx) (err error) {
		n, err = t.wakeDeferred(cond, args...)
		return err
	})
	return n, err
}

// wakeDeferred has items that were put off looked at now.
func (t *tx) wakeDeferred(cond string, args ...any) (int, error) {
	n, err := t.count("UPDATE item SET due = ? WHERE deferred <> 0 AND lane <> 0 AND due > ? AND "+cond,
		append([]any{t.ms(), t.ms()}, args...)...)
	t.woke = t.woke || n > 0
	return int(n), err
}

// wakeSlot is for a slot that somebody gave up, or whose tree is gone: it has what
// was in the way of its items looked at, and what waits for room.
func (t *tx) wakeSlot(slotID int64) error {
	t.woke = true
	_, err := t.wakeDeferred("slot = ? AND reason IN (?, ?, ?, ?, ?)", slotID,
		slot.ReasonHeld, slot.ReasonLine, slot.ReasonUnseen, slot.ReasonUnstopped, slot.ReasonInside)
	return err
}

// wakeScope is for a pause that ended.
func (t *tx) wakeScope(scope string) error {
	cond, name := "lane IN (SELECT id FROM lane WHERE repo = ?)", scope
	if scope == slot.Everything {
		cond = "? <> ''"
	} else if ref, err := slot.ParseCanonical(scope); err == nil {
		cond, name = "slot = (SELECT id FROM slot WHERE slug = ?)", ref.Slug()
	}
	t.woke = true
	_, err := t.wakeDeferred(cond+" AND reason GLOB ?", name, slot.ReasonHold+"*")
	return err
}

// Shift implements queue.Store.
func (q *Queue) Shift(ctx context.Context, d time.Duration) error {
	if d > -time.Millisecond {
		return nil
	}
	return q.s.do(ctx, "shift", func(t *tx) error {
		t.woke = true
		return t.exec("UPDATE item SET due = due + ?, burst = burst + ? WHERE lane <> 0 AND due > ?",
			d.Milliseconds(), d.Milliseconds(), t.ms())
	})
}

// Rewound implements queue.Store.
func (q *Queue) Rewound(ctx context.Context) (n int, err error) {
	err = q.s.do(ctx, "rewind", func(t *tx) error {
		k, err := t.count(`UPDATE item SET due = ?1 WHERE lane <> 0 AND due > ?1 AND (last > ?1 OR deferred > ?1
			OR reason = ?2 AND due > ?1 + json_extract(policy, '$.backoff_max') / 1000000)`, t.ms(), queue.ReasonRetry)
		n = int(k)
		t.woke = t.woke || n > 0
		return err
	})
	return n, err
}
