package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
)

// window is how many due items of a lane are compared by age. Beyond it they go by
// when they became due, so that a look costs the same however many there are.
const window = 64

// few is how many due items are looked through to know the lanes of all that is
// due. If there are more, most lanes have something due, and they are tried in turn.
const few = 1024

const fewLanes = `SELECT count(*) < ?2, json_group_array(DISTINCT lane)
	FROM (SELECT lane FROM item WHERE lane <> 0 AND due <= ?1 ORDER BY due LIMIT ?2)`

// The lanes that have something due, in their order.
const dueLanes = `SELECT l.id, l.person, l.priority FROM lane l
	WHERE (NOT ?5 OR l.id IN (SELECT value FROM json_each(?6))) AND l.repo NOT IN (SELECT value FROM json_each(?1))
	AND EXISTS (SELECT 1 FROM item i WHERE i.lane = l.id AND i.lane <> 0 AND i.due <= ?2 AND i.id NOT IN (SELECT value FROM json_each(?3)))
	ORDER BY l.person DESC, l.priority DESC, l.turn LIMIT ?4`

const dueItems = `SELECT i.id, i.age FROM item i WHERE i.lane = ?1 AND i.lane <> 0 AND i.due <= ?2
	AND i.id NOT IN (SELECT value FROM json_each(?3)) ORDER BY i.due LIMIT ?4`

// Pick implements queue.Store.
func (q *Queue) Pick(ctx context.Context, n int, busy []int64, full []string) ([]queue.Look, error) {
	db, ok, err := q.s.reader(ctx)
	if err != nil || !ok || n <= 0 {
		return nil, err
	}
	p := picker{ctx: ctx, db: db, now: q.s.opt.Clock.Wall().UnixMilli(), n: n, busy: list(busy)}
	ids, err := p.pick(list(full))
	if err != nil {
		return nil, q.s.unknown("read", err)
	}
	looks, err := q.looks(ctx, db, ids)
	// What was taken meanwhile is not due any more.
	return slices.DeleteFunc(looks, func(l queue.Look) bool { return l.Item.State != queue.Pending }), err
}

// list is a list for json_each.
func list[T any](some []T) string {
	if len(some) == 0 {
		return "[]"
	}
	b, err := json.Marshal(some)
	if err != nil { // numbers and texts only
		return "[]"
	}
	return string(b)
}

type picker struct {
	ctx  context.Context
	db   *reads
	now  int64
	n    int
	busy string
}

type lane struct {
	id   int64
	rank rank
	due  []int64 // its items, oldest first
}

// pick chooses items: from the lanes of each rank in turn, one at a time.
func (p *picker) pick(full string) ([]int64, error) {
	lanes, err := p.lanes(full)
	if err != nil || len(lanes) == 0 {
		return nil, err
	}
	var ids []int64
	for len(lanes) > 0 && len(ids) < p.n {
		same := 1
		for same < len(lanes) && lanes[same].rank == lanes[0].rank {
			same++
		}
		for i := range same {
			if lanes[i].due, err = p.oldest(lanes[i].id); err != nil {
				return nil, err
			}
		}
		for turn := 0; turn < p.n; turn++ {
			for _, l := range lanes[:same] {
				if turn < len(l.due) && len(ids) < p.n {
					ids = append(ids, l.due[turn])
				}
			}
		}
		lanes = lanes[same:]
	}
	return ids, nil
}

func (p *picker) lanes(full string) (lanes []lane, err error) {
	var all bool
	var some string
	if err := p.db.QueryRowContext(p.ctx, fewLanes, p.now, few).Scan(&all, &some); err != nil {
		return nil, err
	}
	rows, err := p.db.QueryContext(p.ctx, dueLanes, full, p.now, p.busy, p.n, all, some)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var l lane
		if err := rows.Scan(&l.id, &l.rank.person, &l.rank.priority); err != nil {
			return nil, err
		}
		lanes = append(lanes, l)
	}
	return lanes, rows.Err()
}

// oldest lists the due items of a lane by age.
func (p *picker) oldest(lane int64) ([]int64, error) {
	rows, err := p.db.QueryContext(p.ctx, dueItems, lane, p.now, p.busy, max(window, p.n))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	type aged struct{ id, age int64 }
	var some []aged
	for rows.Next() {
		var a aged
		if err := rows.Scan(&a.id, &a.age); err != nil {
			return nil, err
		}
		some = append(some, a)
	}
	slices.SortFunc(some, func(a, b aged) int {
		if a.age != b.age {
			return int(a.age - b.age)
		}
		return int(a.id - b.id)
	})
	ids := make([]int64, len(some))
	for i, a := range some {
		ids[i] = a.id
	}
	return ids, rows.Err()
}

const nextDue = "SELECT due FROM item WHERE lane <> 0 AND id NOT IN (SELECT value FROM json_each(?1)) ORDER BY due LIMIT 1"

// Where repositories are full they may have any number of due items: each lane of the
// others is asked for its first.
const nextDueBut = `SELECT coalesce(min((SELECT i.due FROM item i WHERE i.lane = l.id AND i.lane <> 0
		AND i.id NOT IN (SELECT value FROM json_each(?1)) ORDER BY i.due LIMIT 1)), 0)
	FROM lane l WHERE l.repo NOT IN (SELECT value FROM json_each(?2))`

// NextDue implements queue.Store.
func (q *Queue) NextDue(ctx context.Context, busy []int64, full []string) (time.Time, error) {
	db, ok, err := q.s.reader(ctx)
	if err != nil || !ok {
		return time.Time{}, err
	}
	query, args := nextDue, []any{list(busy)}
	if len(full) > 0 {
		query, args = nextDueBut, append(args, list(full))
	}
	var due int64
	err = db.QueryRowContext(ctx, query, args...).Scan(&due)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	return wallTime(due), q.s.unknown("read", err)
}
