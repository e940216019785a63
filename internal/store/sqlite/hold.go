package sqlite

import (
	"context"

	"github.com/oneslot/oneslot/internal/slot"
)

// Hold implements claim.Journal.
func (s *Store) Hold(ctx context.Context, h slot.Hold) error {
	return s.do(ctx, "hold", func(t *tx) error {
		return t.exec(`INSERT INTO hold (scope, reason, by, at) VALUES (?, ?, ?, ?) ON CONFLICT (scope) DO UPDATE
			SET reason = excluded.reason, by = excluded.by, at = excluded.at`, h.Scope, h.Reason, h.By, t.ms())
	})
}

// Unhold implements claim.Journal. It wakes the heads of the lines that the
// pause kept waiting: who holds their slot may have died meanwhile.
func (s *Store) Unhold(ctx context.Context, scope string) (was bool, err error) {
	err = s.do(ctx, "unhold", func(t *tx) error {
		n, err := t.count("DELETE FROM hold WHERE scope = ?", scope)
		if was = n > 0; err != nil || !was {
			return err
		}
		if err := t.wakeScope(scope); err != nil {
			return err
		}
		paused, err := t.paused(scope)
		if err != nil {
			return err
		}
		for _, r := range paused {
			wake := t.callHead
			if r.live {
				wake = t.pokeHead
			}
			if err := wake(r); err != nil {
				return err
			}
		}
		return t.wakePaused(scope)
	})
	return was, err
}

// wakePaused has those look again that a pause kept from a slot beside their own.
func (t *tx) wakePaused(scope string) error {
	var ids []int64
	err := t.all("SELECT id, ref FROM slot WHERE id IN (SELECT slot FROM want)", nil, func(sc scanner) error {
		var id int64
		var text string
		if err := sc.Scan(&id, &text); err != nil {
			return err
		}
		ref, err := slot.ParseCanonical(text)
		if err == nil && ref.Within(scope) {
			ids = append(ids, id)
		}
		return err
	})
	for i := 0; err == nil && i < len(ids); i++ {
		if _, err = t.wakeDeferred("slot IN (SELECT asker FROM want WHERE slot = ?) AND reason GLOB ?", ids[i], slot.ReasonHold+"*"); err == nil {
			err = t.wakeWanted(ids[i])
		}
	}
	return err
}

// paused lists the slots within scope that somebody waits for.
func (t *tx) paused(scope string) ([]*row, error) {
	var list []*row
	err := t.all("SELECT "+rowColumns+" FROM slot WHERE id IN (SELECT slot FROM waiter)", nil, func(sc scanner) error {
		r, err := scanRow(sc)
		if err == nil && r.claim.Ref.Within(scope) {
			list = append(list, &r)
		}
		return err
	})
	return list, err
}

// Holds implements claim.Journal.
func (s *Store) Holds(ctx context.Context) ([]slot.Hold, error) {
	db, ok, err := s.reader(ctx)
	if err != nil || !ok {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, "SELECT scope, reason, by, at FROM hold ORDER BY scope")
	if err != nil {
		return nil, s.unknown("read", err)
	}
	defer rows.Close()
	var list []slot.Hold
	for rows.Next() {
		var h slot.Hold
		var at int64
		if err := rows.Scan(&h.Scope, &h.Reason, &h.By, &at); err != nil {
			return nil, s.unknown("read", err)
		}
		h.At = wallTime(at)
		list = append(list, h)
	}
	return list, s.unknown("read", rows.Err())
}
