package metrics

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	vm "github.com/VictoriaMetrics/metrics"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Set is all counters of one daemon.
type Set struct {
	set     *vm.Set
	src     Source
	claimed *vm.PrometheusHistogram
	started *vm.PrometheusHistogram
	peeked  *vm.PrometheusHistogram
}

// Source is what is read whenever somebody looks.
type Source interface {
	Gauge(ctx context.Context) (queue.Gauge, error)
	Live(ctx context.Context) ([]slot.Claim, error)
}

// New makes counters that read src when they are looked at.
func New(src Source) *Set {
	bounds := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60} // seconds
	s := &Set{set: vm.NewSet(), src: src}
	s.claimed = s.set.NewPrometheusHistogramExt("oneslot_claim_seconds", bounds)
	s.started = s.set.NewPrometheusHistogramExt("oneslot_start_seconds", bounds)
	s.peeked = s.set.NewPrometheusHistogramExt("oneslot_peek_window_seconds", bounds)
	s.set.NewCounter("oneslot_claims_lost_total")
	s.set.RegisterMetricsWriter(s.gauges)
	return s
}

// ServeHTTP writes all of it in the text format of Prometheus.
func (s *Set) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	s.set.WritePrometheus(w)
}

// Decided counts a decision; of a gate's reason only the type.
func (s *Set) Decided(v slot.Verdict, reason string) {
	family, _, _ := strings.Cut(reason, ":")
	s.count("oneslot_decisions_total", 1, "verdict", string(v), "reason", family)
}

// Claimed counts how long a claim took, from the question to the grant.
func (s *Set) Claimed(d time.Duration) { s.claimed.Update(d.Seconds()) }

// Started counts how long a start took, from the acceptance of its newest event to
// the hand-over.
func (s *Set) Started(d time.Duration) { s.started.Update(d.Seconds()) }

// Peeked counts how old the last look at what others do was when a start was handed
// over.
func (s *Set) Peeked(d time.Duration) { s.peeked.Update(d.Seconds()) }

// Delivery counts a webhook request.
func (s *Set) Delivery(hook, result string) {
	s.count("oneslot_deliveries_total", 1, "hook", hook, "result", result)
}

// Renewed counts n renewals of API clients; result is ok, lost or unknown.
func (s *Set) Renewed(result string, n int) {
	s.count("oneslot_renewals_total", n, "result", result)
	if result == "lost" {
		s.count("oneslot_claims_lost_total", n)
	}
}

// count adds n to the counter with these labels.
func (s *Set) count(name string, n int, labels ...string) {
	var b strings.Builder
	b.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		sep := ","
		if i == 0 {
			sep = "{"
		}
		fmt.Fprintf(&b, "%s%s=%q", sep, labels[i], labels[i+1])
	}
	if len(labels) > 0 {
		b.WriteByte('}')
	}
	s.set.GetOrCreateCounter(b.String()).Add(n)
}

// gauges reads the queue and the slots when somebody looks.
func (s *Set) gauges(w io.Writer) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	q, err := s.src.Gauge(ctx)
	var live []slot.Claim
	if err == nil {
		live, err = s.src.Live(ctx)
	}
	if err != nil {
		vm.WriteGaugeUint64(w, "oneslot_store_up", 0)
		return
	}
	vm.WriteGaugeUint64(w, "oneslot_store_up", 1)
	for _, state := range []queue.State{queue.Idle, queue.Pending, queue.Running, queue.Dead} {
		vm.WriteGaugeUint64(w, fmt.Sprintf("oneslot_work_items{state=%q}", state), uint64(q.Items[state]))
	}
	age := 0.0
	if !q.Oldest.IsZero() {
		age = time.Since(q.Oldest).Seconds()
	}
	vm.WriteGaugeFloat64(w, "oneslot_queue_age_seconds", age)
	vm.WriteGaugeUint64(w, "oneslot_work_items_due", uint64(q.Due))
	vm.WriteGaugeUint64(w, "oneslot_work_items_deferred", uint64(q.Deferred))
	vm.WriteGaugeUint64(w, "oneslot_events_unresolved", uint64(q.Unresolved))
	held := map[slot.Kind]uint64{}
	for _, c := range live {
		held[c.Kind]++
	}
	for _, kind := range []slot.Kind{slot.Supervised, slot.Detached, slot.Waiting} {
		vm.WriteGaugeUint64(w, fmt.Sprintf("oneslot_slots_held{kind=%q}", kind), held[kind])
	}
}
