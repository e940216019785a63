package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// look reads one slot outside of any transaction; nil if it was never used.
func (s *Store) look(ctx context.Context, slug string) (*row, error) {
	db, ok, err := s.reader(ctx)
	if err != nil || !ok {
		return nil, err
	}
	return s.lookBy(ctx, db, "SELECT "+rowColumns+" FROM slot WHERE slug = ?", slug)
}

// lead is the slot whose live claim covers another; nil if there is none.
func (s *Store) lead(ctx context.Context, r *row) (*row, error) {
	if r.live || s.read.old() {
		return nil, nil
	}
	return s.lookBy(ctx, s.read, leadOf, r.id, r.id)
}

func (s *Store) lookBy(ctx context.Context, db *reads, query string, args ...any) (*row, error) {
	r, err := scanRow(db.QueryRowContext(ctx, query, args...))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, s.unknown("read", err)
	}
	r.judge(s.opt.Clock.Boot(), s.opt.Clock.BootID(), s.opt.Clock.Wall())
	return &r, nil
}

// Look implements claim.Store.
func (s *Store) Look(ctx context.Context, ref slot.Ref) (claim.Slot, error) {
	out := claim.Slot{Ref: ref}
	r, err := s.look(ctx, ref.Slug())
	if err != nil {
		return out, err
	}
	if r != nil {
		out.Waiting = r.waiting
		lead, err := s.lead(ctx, r)
		if err != nil {
			return out, err
		}
		switch {
		case lead != nil:
			out.Newest = &lead.claim
		case r.claim.ID != "":
			out.Newest = &r.claim
		}
		if out.Line, err = s.queue(ctx, r); err != nil {
			return out, err
		}
	}
	holds, err := s.Holds(ctx)
	out.Hold = ref.Paused(holds)
	return out, err
}

// queue reads who stands in line and has not let a turn pass.
func (s *Store) queue(ctx context.Context, r *row) ([]slot.Process, error) {
	if r.waiting == 0 {
		return nil, nil
	}
	late := int64(s.opt.Clock.Boot() - claim.TurnTime)
	rows, err := s.read.QueryContext(ctx, `SELECT boot, ns, pid, ticks FROM waiter WHERE slot = ? AND (boot = ? OR boot LIKE 'far:%')
		AND (turn = 0 OR turn > ?) ORDER BY seq LIMIT ?`, r.id, s.opt.Clock.BootID(), late, claim.LineMax)
	if err != nil {
		return nil, s.unknown("read", err)
	}
	defer rows.Close()
	var line []slot.Process
	for rows.Next() {
		var p slot.Process
		var ns, ticks int64
		if err := rows.Scan(&p.Boot, &ns, &p.PID, &ticks); err != nil {
			return nil, s.unknown("read", err)
		}
		p.NS, p.Ticks = uint64(ns), uint64(ticks)
		line = append(line, p)
	}
	return line, s.unknown("read", rows.Err())
}

// Live implements claim.Store.
func (s *Store) Live(ctx context.Context) ([]slot.Claim, error) {
	db, ok, err := s.reader(ctx)
	if err != nil || !ok {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, "SELECT "+rowColumns+" FROM slot WHERE live = 1 ORDER BY ref")
	if err != nil {
		return nil, s.unknown("read", err)
	}
	defer rows.Close()
	var live []slot.Claim
	for rows.Next() {
		r, err := scanRow(rows)
		if err != nil {
			return nil, s.unknown("read", err)
		}
		r.judge(s.opt.Clock.Boot(), s.opt.Clock.BootID(), s.opt.Clock.Wall())
		live = append(live, r.claim)
	}
	return live, s.unknown("read", rows.Err())
}
