package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/klauspost/compress/s2"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// where collects conditions.
type where struct {
	conds []string
	args  []any
}

func (w *where) and(cond string, args ...any) {
	w.conds, w.args = append(w.conds, cond), append(w.args, args...)
}

// first is the end of a query for the first of what the conditions choose.
func (w *where) first(by string, limit int) string {
	s := ""
	if len(w.conds) > 0 {
		s = "WHERE " + strings.Join(w.conds, " AND ")
	}
	if limit <= 0 {
		limit = -1
	}
	w.args = append(w.args, limit)
	return s + " ORDER BY " + by + " LIMIT ?"
}

// counted scans one column more.
type counted struct {
	scanner
	n *int
}

// Scan implements scanner.
func (c counted) Scan(dest ...any) error { return c.scanner.Scan(append(dest, c.n)...) }

// Items implements queue.Store.
func (q *Queue) Items(ctx context.Context, f queue.Filter) (items []queue.Item, err error) {
	db, ok, err := q.s.reader(ctx)
	if err != nil || !ok {
		return nil, err
	}
	var w where
	if !f.Ref.IsZero() {
		w.and("s.slug = ?", f.Ref.Slug())
	}
	if f.Rule != nil {
		w.and("i.rule = ?", *f.Rule)
	}
	if f.Run != "" {
		w.and("i.run = ? AND i.run <> ''", f.Run)
	}
	switch queue.State(f.State) {
	case "":
	case queue.Pending: // each state in the words of its index
		w.and("i.lane <> 0")
	case queue.Running:
		w.and("i.run <> ''")
	case queue.Dead:
		w.and("i.state = 'dead'")
	default:
		w.and("i.state = ?", f.State)
	}
	by := "i.id DESC"
	if !f.PutOff.IsZero() {
		w.and("i.lane <> 0 AND i.deferred <> 0 AND i.deferred < ?", f.PutOff.UnixMilli())
		by = "i.deferred, i.id"
	}
	end := w.first(by, f.Limit)
	rows, err := db.QueryContext(ctx, "SELECT "+workColumns+`,
		(SELECT count(*) FROM event e WHERE e.item = i.id AND e.state IN ('waiting', 'dead'))`+workTables+end, w.args...)
	if err != nil {
		return nil, q.s.unknown("read", err)
	}
	defer rows.Close()
	for rows.Next() {
		var waiting int
		w, err := scanWork(counted{rows, &waiting})
		if err != nil {
			return nil, q.s.unknown("read", err)
		}
		w.Waiting = waiting
		items = append(items, w.Item)
	}
	return items, q.s.unknown("read", rows.Err())
}

// Events implements queue.Store.
func (q *Queue) Events(ctx context.Context, f queue.Filter) ([]queue.Record, error) {
	db, ok, err := q.s.reader(ctx)
	if err != nil || !ok {
		return nil, err
	}
	var w where
	if !f.Ref.IsZero() {
		w.and("e.item IN (SELECT i.id FROM item i JOIN slot s ON s.id = i.slot WHERE s.slug = ?)", f.Ref.Slug())
	}
	if f.Rule != nil {
		w.and("e.rule = ?", *f.Rule)
	}
	if f.Run != "" {
		w.and("e.run = ? AND e.run <> ''", f.Run)
	}
	if f.After != 0 {
		w.and("e.n > ?", f.After)
	}
	if len(f.Hosts) > 0 {
		hosts := make([]any, len(f.Hosts))
		for i, h := range f.Hosts {
			hosts[i] = h
		}
		w.and("substr(e.repo, 1, instr(e.repo, '/') - 1) IN (?"+strings.Repeat(", ?", len(hosts)-1)+")", hosts...)
	}
	switch queue.EventState(f.State) {
	case "":
	case queue.EventWaiting:
		w.and("e.state = 'waiting'")
	case queue.EventDead:
		w.and("e.state = 'dead'")
	case queue.EventUnresolved:
		w.and("e.state = 'unresolved'")
	default:
		w.and("e.state = ?", f.State)
	}
	by := "e.n DESC"
	if f.Oldest {
		by = "e.n"
	}
	end := w.first(by, f.Limit)
	return q.events(ctx, db, "SELECT "+eventColumns+eventTables+end, w.args...)
}

// Delivery implements queue.Store.
func (q *Queue) Delivery(ctx context.Context, id string) (d slot.Delivery, err error) {
	none := fmt.Errorf("%w: no delivery %q is on record in %s", slot.ErrNoRecord, id, q.s.Address())
	db, ok, err := q.s.reader(ctx)
	if err != nil {
		return d, err
	}
	if n := queue.Number(id); !ok || queue.DeliveryID(n) != id {
		return d, none
	}
	var at int64
	var body []byte
	err = db.QueryRowContext(ctx, "SELECT hook, guid, event, action, at, size, body, file FROM delivery WHERE n = ?", queue.Number(id)).
		Scan(&d.Hook, &d.GUID, &d.Event, &d.Action, &at, &d.Size, &body, &d.File)
	if errors.Is(err, sql.ErrNoRows) {
		return d, none
	}
	if err == nil && body != nil {
		d.Body, err = s2.Decode(nil, body)
	}
	d.ID, d.At = id, wallTime(at)
	return d, q.s.unknown("read", err)
}

// Gauge implements queue.Store. It reads indexes alone.
func (q *Queue) Gauge(ctx context.Context) (g queue.Gauge, err error) {
	g.Items = map[queue.State]int{}
	db, ok, err := q.s.reader(ctx)
	if err != nil || !ok {
		return g, err
	}
	var all, pending, running, dead int
	var oldest int64
	err = db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM item), (SELECT coalesce(sum(items), 0) FROM lane),
			(SELECT count(*) FROM item WHERE run <> ''), (SELECT count(*) FROM item WHERE state = 'dead'),
			(SELECT count(*) FROM event WHERE state = 'unresolved'), coalesce(min(age), 0),
			count(*) FILTER (WHERE due <= ?), count(*) FILTER (WHERE deferred <> 0)
		FROM item WHERE lane <> 0`, q.s.opt.Clock.Wall().UnixMilli()).
		Scan(&all, &pending, &running, &dead, &g.Unresolved, &oldest, &g.Due, &g.Deferred)
	if err != nil {
		return g, q.s.unknown("read", err)
	}
	g.Oldest = wallTime(oldest)
	for state, n := range map[queue.State]int{
		queue.Pending: pending, queue.Running: running, queue.Dead: dead, queue.Idle: all - pending - running - dead,
	} {
		if n > 0 {
			g.Items[state] = n
		}
	}
	return g, nil
}
