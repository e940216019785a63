package metrics

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// bounds of the histograms' buckets, in seconds.
var bounds = [...]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60}

// histogram counts values by the first bound that they do not exceed.
type histogram struct {
	counts [len(bounds) + 1]uint64 // the last: beyond all bounds
	sum    float64
}

func (h *histogram) add(v float64) {
	i, _ := slices.BinarySearch(bounds[:], v)
	h.counts[i]++
	h.sum += v
}

func (h *histogram) append(b []byte, name string) []byte {
	n := uint64(0)
	for i, bound := range bounds {
		n += h.counts[i]
		b = fmt.Appendf(b, "%s_bucket{le=\"%v\"} %d\n", name, bound, n)
	}
	n += h.counts[len(bounds)]
	return fmt.Appendf(b, "%[1]s_bucket{le=\"+Inf\"} %[2]d\n%[1]s_sum %[3]v\n%[1]s_count %[2]d\n", name, n, h.sum)
}

// text is all of it.
func (s *Set) text(ctx context.Context) []byte {
	b := s.gauges(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.counts)) {
		b = fmt.Appendf(b, "%s %d\n", name, s.counts[name])
	}
	b = s.claimed.append(b, "oneslot_claim_seconds")
	b = s.started.append(b, "oneslot_start_seconds")
	return s.peeked.append(b, "oneslot_peek_window_seconds")
}

// gauges reads the queue and the slots.
func (s *Set) gauges(ctx context.Context) (b []byte) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	gauge := func(v any, name string, labels ...string) { b = fmt.Appendf(b, "%s %v\n", series(name, labels...), v) }
	yes := func(is bool, name string) { gauge(map[bool]int{true: 1}[is], name) }
	yes(!s.src.Stale(), "oneslot_config_in_force")
	q, err := s.src.Gauge(ctx)
	var live []slot.Claim
	if err == nil {
		live, err = s.src.Live(ctx)
	}
	var holds []slot.Hold
	if err == nil {
		holds, err = s.src.Holds(ctx)
	}
	yes(err == nil && s.src.Ready(ctx) == nil, "oneslot_store_up")
	if err != nil {
		return b
	}
	for _, state := range []queue.State{queue.Idle, queue.Pending, queue.Running, queue.Dead} {
		gauge(q.Items[state], "oneslot_work_items", "state", string(state))
	}
	age := 0.0
	if !q.Oldest.IsZero() {
		age = time.Since(q.Oldest).Seconds()
	}
	gauge(age, "oneslot_queue_age_seconds")
	gauge(q.Due, "oneslot_work_items_due")
	gauge(q.Deferred, "oneslot_work_items_deferred")
	gauge(q.Unresolved, "oneslot_events_unresolved")
	held := map[slot.Kind]int{}
	for _, c := range live {
		held[c.Kind]++
	}
	for _, kind := range []slot.Kind{slot.Supervised, slot.Detached, slot.Waiting} {
		gauge(held[kind], "oneslot_slots_held", "kind", string(kind))
	}
	everything := slices.ContainsFunc(holds, func(h slot.Hold) bool { return h.Scope == slot.Everything })
	yes(everything, "oneslot_everything_on_hold")
	gauge(len(holds), "oneslot_holds")
	return b
}
