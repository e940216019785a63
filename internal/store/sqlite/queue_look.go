package sqlite

import (
	"context"

	"github.com/oneslot/oneslot/internal/queue"
)

// Look implements queue.Store.
func (q *Queue) Look(ctx context.Context, item int64) (queue.Look, error) {
	db, ok, err := q.s.reader(ctx)
	if err != nil {
		return queue.Look{}, err
	}
	if !ok {
		return queue.Look{}, errNoItem
	}
	looks, err := q.looks(ctx, db, []int64{item})
	if err == nil && len(looks) == 0 {
		err = errNoItem
	}
	if err != nil {
		return queue.Look{}, err
	}
	return looks[0], nil
}

// looks reads items before their events: an event that came in between is there,
// and whatever is done to an item is judged again by who writes.
func (q *Queue) looks(ctx context.Context, from *reads, ids []int64) ([]queue.Look, error) {
	at := map[int64]*queue.Look{}
	rows, err := from.QueryContext(ctx, "SELECT "+workColumns+workTables+"WHERE i.id IN (SELECT value FROM json_each(?))", list(ids))
	if err != nil {
		return nil, q.s.unknown("read", err)
	}
	defer rows.Close()
	for rows.Next() {
		w, err := scanWork(rows)
		if err != nil {
			return nil, q.s.unknown("read", err)
		}
		at[w.ID] = &queue.Look{Item: w.Item}
	}
	if err := rows.Err(); err != nil {
		return nil, q.s.unknown("read", err)
	}
	events, err := q.events(ctx, from, waitingEvents, list(ids))
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		if l := at[e.Item]; l != nil {
			l.Events, l.Last = append(l.Events, e), e.N
		}
	}
	var looks []queue.Look
	for _, id := range ids {
		if l := at[id]; l != nil {
			looks = append(looks, *l)
		}
	}
	return looks, nil
}

func (q *Queue) events(ctx context.Context, from *reads, query string, args ...any) (list []queue.Record, err error) {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, q.s.unknown("read", err)
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanEvent(rows)
		if err != nil {
			return nil, q.s.unknown("read", err)
		}
		list = append(list, r)
	}
	return list, q.s.unknown("read", rows.Err())
}
