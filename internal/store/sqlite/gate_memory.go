package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// GateMemory keeps since when a gate has failed for a ref without a break, for all
// processes of the store.
type GateMemory struct{ s *Store }

// GateMemory gives the store's memory of gates that fail.
func (s *Store) GateMemory() GateMemory { return GateMemory{s} }

// Failed notes a failure now and returns when the unbroken row of them began.
func (m GateMemory) Failed(ctx context.Context, gate string, ref slot.Ref, now time.Time) (since time.Time, err error) {
	err = m.s.do(ctx, "note a gate", func(t *tx) error {
		var ms int64
		_, err := t.one(`INSERT INTO gate_failure (gate, slug, since) VALUES (?, ?, ?)
			ON CONFLICT (gate, slug) DO UPDATE SET since = since RETURNING since`, []any{gate, ref.Slug(), now.UnixMilli()}, &ms)
		since = wallTime(ms)
		return err
	})
	return since, err
}

// Since is when the row of failures began; zero if there is none.
func (m GateMemory) Since(ctx context.Context, gate string, ref slot.Ref) (time.Time, error) {
	db, ok, err := m.s.reader(ctx)
	if err != nil || !ok {
		return time.Time{}, err
	}
	var ms int64
	err = db.QueryRowContext(ctx, "SELECT since FROM gate_failure WHERE gate = ? AND slug = ?", gate, ref.Slug()).Scan(&ms)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	return wallTime(ms), m.s.unknown("read", err)
}

// Answered ends the row. It is asked for each answer, and writes for few.
func (m GateMemory) Answered(ctx context.Context, gate string, ref slot.Ref) error {
	db, ok, err := m.s.reader(ctx)
	if err != nil || !ok {
		return err
	}
	var failed bool
	err = db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM gate_failure WHERE gate = ? AND slug = ?)", gate, ref.Slug()).Scan(&failed)
	if err != nil || !failed {
		return m.s.unknown("read", err)
	}
	return m.s.do(ctx, "note a gate", func(t *tx) error {
		return t.exec("DELETE FROM gate_failure WHERE gate = ? AND slug = ?", gate, ref.Slug())
	})
}
