package sqlite

import (
	"context"
	"strings"

	"github.com/oneslot/oneslot/internal/claim"
)

// Woken implements queue.Store. The newest caller is told, of this process or of
// another. One that is gone does no harm: nobody waits for it.
func (q *Queue) Woken(ctx context.Context) (<-chan struct{}, error) {
	l := &q.s.line
	if err := l.listen(); err != nil {
		return nil, q.s.unknown("wait", err)
	}
	ticket := "queue-" + claim.NewID()
	woken := l.channel(ticket)
	err := q.s.do(ctx, "listen", func(t *tx) error {
		t.listener = l.addr() + "\n" + ticket
		return t.exec("UPDATE meta SET listener = ?", t.listener)
	})
	if err != nil {
		l.forget(ticket)
		return nil, err
	}
	context.AfterFunc(ctx, func() { l.forget(ticket) })
	return woken, nil
}

// wakeQueue tells who works the queue that something may have become due.
func (w *writer) wakeQueue() {
	if addr, ticket, ok := strings.Cut(w.listener, "\n"); ok {
		w.s.line.poke(poke{addr, ticket})
	}
}
