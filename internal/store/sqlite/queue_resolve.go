package sqlite

import (
	"context"

	"github.com/oneslot/oneslot/internal/queue"
)

// Resolve implements queue.Store.
func (q *Queue) Resolve(ctx context.Context, n int64, wishes []queue.Wish, reason string) (done []queue.Accepted, err error) {
	if err := queue.Resolvable(wishes); err != nil {
		return nil, err
	}
	texts, err := textsOf(wishes)
	if err != nil {
		return nil, err
	}
	err = q.s.step(ctx, "resolve", func(t *tx) (refused, err error) {
		a := &arrival{Arrival: queue.Arrival{Wishes: wishes}, texts: texts}
		is, err := t.one("SELECT delivery FROM event WHERE n = ? AND state = 'unresolved'", []any{n}, &a.delivery)
		if err != nil || !is {
			return queue.ErrStale, err
		}
		if len(wishes) == 0 {
			return nil, t.endEvents("skipped", reason, "n = ?", n)
		}
		// It ends first: what takes its place is no repetition of it.
		if err := t.endEvents("resolved", queue.About(wishes), "n = ?", n); err != nil {
			return nil, err
		}
		if done, err = t.wishes(a); err != nil {
			return nil, err
		}
		return nil, t.exec("UPDATE event SET by = ? WHERE n = ?", queue.Number(queue.First(done)), n)
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}
