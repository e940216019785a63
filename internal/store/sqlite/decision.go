package sqlite

import (
	"context"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// keepDecisions bounds the decisions of one slot, whatever their age: the hot
// one of a fleet must not grow for ever.
const keepDecisions = 2000

// write adds a decision behind the slot's last one.
func (t *tx) write(id, seq int64, d slot.Decision) error {
	seq++
	if err := t.exec("UPDATE slot SET seq = ?, said = ? WHERE id = ?", seq, key(d), id); err != nil {
		return err
	}
	if seq%64 == 0 {
		if err := t.exec("DELETE FROM decision WHERE slot = ? AND (seq <= ? OR last_at < ?)", id, seq-keepDecisions,
			t.wall.Add(-t.w.s.opt.Retention).UnixMilli()); err != nil {
			return err
		}
	}
	return t.exec(`INSERT INTO decision (slot, seq, at, last_at, path, verdict, reason, detail, next, fence, run)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, id, seq, t.ms(), t.ms(), d.Path, string(d.Verdict), d.Reason, d.Detail,
		d.Next, d.Fence, d.Run)
}

// note records a decision, counting it if it is equal to the last one.
func (t *tx) note(r *row, d slot.Decision) error {
	if r.seq > 0 && r.said == key(d) {
		n, err := t.count("UPDATE decision SET count = count + 1, last_at = ?, fence = ? WHERE slot = ? AND seq = ?",
			t.ms(), d.Fence, r.id, r.seq)
		if err != nil || n > 0 {
			return err
		}
	}
	err := t.write(r.id, r.seq, d)
	r.seq, r.said = r.seq+1, key(d)
	return err
}

// Note implements claim.Journal.
func (s *Store) Note(ctx context.Context, d slot.Decision) error {
	return s.do(ctx, "note", func(t *tx) error {
		r, err := t.find(d.Ref.Slug())
		if err == nil && r == nil {
			r, err = t.empty(d.Ref)
		}
		if err != nil {
			return err
		}
		return t.note(r, d)
	})
}

// Decisions implements claim.Journal.
func (s *Store) Decisions(ctx context.Context, ref slot.Ref) ([]slot.Decision, error) {
	db, ok, err := s.reader(ctx)
	if err != nil || !ok {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT d.at, d.last_at, d.count, d.path, d.verdict, d.reason, d.detail, d.next, d.fence, d.run
		FROM decision d JOIN slot s ON s.id = d.slot WHERE s.slug = ? ORDER BY d.seq`, ref.Slug())
	if err != nil {
		return nil, s.unknown("read", err)
	}
	defer rows.Close()
	var list []slot.Decision
	for rows.Next() {
		d := slot.Decision{Ref: ref}
		var at, last int64
		if err := rows.Scan(&at, &last, &d.Count, &d.Path, &d.Verdict, &d.Reason, &d.Detail, &d.Next, &d.Fence, &d.Run); err != nil {
			return nil, s.unknown("read", err)
		}
		d.At, d.LastAt = wallTime(at), wallTime(last)
		list = append(list, d)
	}
	return list, s.unknown("read", rows.Err())
}

// Prune implements claim.Journal.
func (s *Store) Prune(ctx context.Context, before time.Time) (n int, err error) {
	err = s.do(ctx, "prune", func(t *tx) error {
		k, err := t.count("DELETE FROM decision WHERE last_at < ?", before.UnixMilli())
		if n = int(k); err != nil {
			return err
		}
		return t.exec("DELETE FROM run WHERE state = 'ended' AND tree_gone_at > 0 AND ended_at < ?", before.UnixMilli())
	})
	return n, err
}
