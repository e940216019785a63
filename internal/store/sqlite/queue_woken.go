package sqlite

import (
	"cmp"
	"context"
	"strings"

	"github.com/oneslot/oneslot/internal/claim"
)

// Woken implements queue.Store. One that is told and gone does no harm: nobody
// waits for it.
func (q *Queue) Woken(ctx context.Context) (<-chan struct{}, func(context.Context) error, error) {
	l := &q.s.line
	if err := l.listen(); err != nil {
		return nil, nil, q.s.unknown("wait", err)
	}
	ticket := "queue-" + claim.NewID()
	woken := l.channel(ticket)
	me := l.addr() + "\n" + ticket
	if err := q.listen(ctx, me); err != nil {
		l.forget(ticket)
		return nil, nil, err
	}
	context.AfterFunc(ctx, func() { l.forget(ticket) })
	return woken, func(ctx context.Context) error {
		if told, err := q.listener(ctx); err != nil || told == me {
			return err
		}
		return q.listen(ctx, me)
	}, nil
}

// listen has me told from now on, and tells so whoever was before.
func (q *Queue) listen(ctx context.Context, me string) error {
	err := q.s.do(ctx, "listen", func(t *tx) error {
		if addr, ticket, ok := strings.Cut(cmp.Or(t.listener, t.w.listener), "\n"); ok {
			t.pokes = append(t.pokes, poke{addr, ticket})
		}
		t.listener = me
		return t.exec("UPDATE meta SET listener = ?", me)
	})
	if err == nil {
		q.s.line.works(me)
	}
	return err
}

// listener is who is told now.
func (q *Queue) listener(ctx context.Context) (told string, err error) {
	db, ok, err := q.s.reader(ctx)
	if err != nil || !ok {
		return "", err
	}
	err = db.QueryRowContext(ctx, "SELECT listener FROM meta").Scan(&told)
	return told, q.s.unknown("read", err)
}

// wakeQueue tells who works the queue that something may have become due; and who
// works it in this process, since another may have taken its place.
func (w *writer) wakeQueue() {
	l := &w.s.line
	if addr, ticket, ok := strings.Cut(w.listener, "\n"); ok {
		l.poke(poke{addr, ticket})
	}
	if here := l.worker(); here != "" && here != w.listener {
		_, ticket, _ := strings.Cut(here, "\n")
		l.wake(ticket)
	}
}
