package sqlite

import (
	"context"
	"time"
)

// notFound ends an event whose ref did not come to light in time.
const notFound = "no pull request with this head was found"

// portion is how much is forgotten in one transaction: others wait meanwhile.
const portion = 500

// Forget implements queue.Store. It goes by portions, each of them a transaction,
// and what it forgot before an error stays forgotten.
func (q *Queue) Forget(ctx context.Context, before time.Time) (files []string, err error) {
	ms := before.UnixMilli()
	for _, each := range []func(t *tx) (int64, []string, error){
		// A check whose pull request was looked for in vain ends on record first.
		func(t *tx) (int64, []string, error) {
			n, err := t.count(`UPDATE event SET state = 'skipped', reason = ?, ended_at = ? WHERE n IN
				(SELECT n FROM event WHERE state = 'unresolved' AND at < ? LIMIT ?)`, notFound, t.ms(), ms, portion)
			return n, nil, err
		},
		func(t *tx) (int64, []string, error) {
			n, err := t.count("DELETE FROM event WHERE n IN (SELECT n FROM event WHERE ended_at <> 0 AND ended_at < ? AND state <> 'dead' LIMIT ?)", ms, portion)
			return n, nil, err
		},
		func(t *tx) (n int64, gone []string, err error) {
			err = t.all(`DELETE FROM delivery WHERE n IN (SELECT d.n FROM delivery d WHERE d.at < ?
				AND NOT EXISTS (SELECT 1 FROM event e WHERE e.delivery = d.n AND e.delivery <> 0) LIMIT ?) RETURNING file`,
				[]any{ms, portion}, func(sc scanner) error {
					var file string
					if err := sc.Scan(&file); err != nil {
						return err
					}
					n++
					if file != "" {
						gone = append(gone, file)
					}
					return nil
				})
			return n, gone, err
		},
		// An item with no event has nothing to tell, and makes itself anew.
		func(t *tx) (int64, []string, error) {
			n, err := t.count(`DELETE FROM item WHERE id IN (SELECT i.id FROM item i WHERE i.lane = 0 AND i.run = '' AND i.last < ?
				AND NOT EXISTS (SELECT 1 FROM event e WHERE e.item = i.id) LIMIT ?)`, ms, portion)
			return n, nil, err
		},
	} {
		for {
			var n int64
			var gone []string
			err := q.s.do(ctx, "forget", func(t *tx) (err error) {
				n, gone, err = each(t)
				return err
			})
			if err != nil {
				return files, err
			}
			if files = append(files, gone...); n < portion {
				break
			}
		}
	}
	return files, nil
}

// Names implements queue.Store.
func (q *Queue) Names(ctx context.Context, file string) (named bool, err error) {
	db, ok, err := q.s.reader(ctx)
	if err != nil || !ok {
		return false, err
	}
	err = db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM delivery WHERE file = ? AND file <> '')", file).Scan(&named)
	return named, q.s.unknown("read", err)
}
