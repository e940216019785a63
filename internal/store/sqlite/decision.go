package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// keepDecisions bounds the decisions of one slot, whatever their age: the hot
// one of a fleet must not grow for ever.
const keepDecisions = 2000

// insert adds a decision at seq, which its caller has made the slot's last.
func (t *tx) insert(id, seq int64, d slot.Decision) error {
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
	if r.seq > 0 && r.said == saying(d) {
		n, err := t.count("UPDATE decision SET count = count + 1, last_at = ?, fence = ? WHERE slot = ? AND seq = ?",
			t.ms(), d.Fence, r.id, r.seq)
		if err != nil || n > 0 {
			return err
		}
	}
	r.seq, r.said = r.seq+1, saying(d)
	if err := t.exec("UPDATE slot SET seq = ?, said = ? WHERE id = ?", r.seq, r.said, r.id); err != nil {
		return err
	}
	return t.insert(r.id, r.seq, d)
}

// unsay takes back the refusal that the caller got a moment ago, before it saw
// that the holder in its way can be set aside: it was not refused after all.
func (t *tx) unsay(r *row, req claim.Request) error {
	if req.Displace == nil || r.asked != req.Key.Claim || r.seq == 0 {
		return nil
	}
	n, err := t.count("UPDATE decision SET count = count - 1 WHERE slot = ? AND seq = ? AND count > 1", r.id, r.seq)
	if err != nil || n > 0 {
		return err
	}
	if err := t.exec("DELETE FROM decision WHERE slot = ? AND seq = ?", r.id, r.seq); err != nil {
		return err
	}
	r.seq, r.said = r.seq-1, ""
	return t.exec("UPDATE slot SET seq = ?, said = '' WHERE id = ?", r.seq, r.id)
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
		return errors.Join(
			t.exec("DELETE FROM run WHERE state = 'ended' AND tree_gone_at > 0 AND ended_at < ?", before.UnixMilli()),
			t.exec(`DELETE FROM cover WHERE NOT EXISTS (SELECT 1 FROM slot l WHERE l.id = cover.lead AND l.live = 1 AND l.claim = cover.claim)
				AND NOT EXISTS (SELECT 1 FROM run r WHERE r.id = cover.run)`),
			t.exec("DELETE FROM want WHERE asker NOT IN (SELECT slot FROM waiter) AND asker NOT IN (SELECT slot FROM item WHERE deferred <> 0)"))
	})
	return n, err
}
