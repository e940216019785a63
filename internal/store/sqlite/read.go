package sqlite

import (
	"context"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// look reads one slot outside of any transaction; nil if it was never used.
func (s *Store) look(ctx context.Context, slug string) (*row, error) {
	db, ok, err := s.reader(ctx)
	if err != nil || !ok {
		return nil, err
	}
	r, err := scanRow(db.QueryRowContext(ctx, "SELECT "+rowColumns+" FROM slot WHERE slug = ?", slug))
	if err = noRows(err); err != nil {
		return nil, s.unknown("read", err)
	}
	if r.id == 0 {
		return nil, nil
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
		if r.claim.ID != "" {
			out.Newest = &r.claim
		}
	}
	holds, err := s.Holds(ctx)
	for _, h := range holds {
		if h.Scope == ref.String() || h.Scope == ref.Repo() {
			out.Hold = &h
			break
		}
	}
	return out, err
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
