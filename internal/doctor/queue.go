package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Queue is what doctor asks of the queue.
type Queue interface {
	Items(ctx context.Context, f queue.Filter) ([]queue.Item, error)
	Gauge(ctx context.Context) (queue.Gauge, error)
}

// Bounds of what is read and told of a queue.
const (
	itemsMost = 10000
	namesMost = 5
)

// work looks for what does not get on.
func work(ctx context.Context, s *Subject, r *report) {
	if s.Queue == nil || s.Config == nil || s.Clock == nil {
		return
	}
	g, err := s.Queue.Gauge(ctx)
	if err != nil {
		return // the store's own line tells
	}
	before := len(r.lines)
	if g.Due > 0 && s.Daemon != nil {
		if pid, err := s.Daemon(); err == nil && pid == 0 {
			r.bad("queue-idle", "nobody works the queue; items due: %d", g.Due)
		}
	}
	if dead := g.Items[queue.Dead]; dead > 0 {
		r.bad("queue-dead", "items given up: %d", dead)
	}
	if g.Deferred > 0 {
		late(ctx, s, r)
	}
	if len(r.lines) == before {
		r.good("%d pending, %d running, %d deferred; %d checks that name no pull request",
			g.Items[queue.Pending], g.Items[queue.Running], g.Deferred, g.Unresolved)
	}
}

// late names what is put off for longer than defer_alarm.
func late(ctx context.Context, s *Subject, r *report) {
	alarm, now := s.Config.DeferAlarm.V, s.Clock.Wall()
	items, err := s.Queue.Items(ctx, queue.Filter{PutOff: now.Add(-alarm), Limit: itemsMost})
	if err != nil {
		return
	}
	var names []string
	n := 0
	for _, it := range items {
		if n++; n <= namesMost {
			names = append(names, fmt.Sprintf("%s for %s (%s)", it.Ref, now.Sub(it.Deferred).Round(time.Second), it.Reason))
		}
	}
	if n > namesMost {
		names = append(names, "...")
	}
	if n > 0 {
		r.bad("queue-late", "deferred for longer than %s: %d: %s", slot.Span(alarm), n, strings.Join(names, ", "))
	}
}
