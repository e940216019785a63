package metrics

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Set is all counters of one daemon.
type Set struct {
	src Source

	mu      sync.Mutex
	counts  map[string]uint64 // by name and labels, as they are written
	claimed histogram
	started histogram
	peeked  histogram
}

// Source is what is read whenever somebody looks.
type Source interface {
	// Ready says why nothing can be taken or started, if so.
	Ready(ctx context.Context) error
	// Stale reports whether the configuration that was read last is not in force.
	Stale() bool
	Gauge(ctx context.Context) (queue.Gauge, error)
	Live(ctx context.Context) ([]slot.Claim, error)
	Holds(ctx context.Context) ([]slot.Hold, error)
}

const lost = "oneslot_claims_lost_total"

// New makes counters that read src when they are looked at.
func New(src Source) *Set { return &Set{src: src, counts: map[string]uint64{lost: 0}} }

// ServeHTTP writes all of it in the text format of Prometheus.
func (s *Set) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(s.text(r.Context())) // who went away is told nothing
}

// Decided counts a decision; of a gate's reason only the type.
func (s *Set) Decided(v slot.Verdict, reason string) {
	family, _, _ := strings.Cut(reason, ":")
	s.count("oneslot_decisions_total", 1, "verdict", string(v), "reason", family)
}

// Claimed counts how long a claim took, from the question to the grant.
func (s *Set) Claimed(d time.Duration) { s.observe(&s.claimed, d) }

// Started counts how long a start took, from the acceptance of its newest event to
// the hand-over.
func (s *Set) Started(d time.Duration) { s.observe(&s.started, d) }

// Peeked counts how old the last look at what others do was when a start was handed
// over.
func (s *Set) Peeked(d time.Duration) { s.observe(&s.peeked, d) }

func (s *Set) observe(h *histogram, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.add(d.Seconds())
}

// Delivery counts a webhook request.
func (s *Set) Delivery(hook, result string) {
	s.count("oneslot_deliveries_total", 1, "hook", hook, "result", result)
}

// Renewed counts n renewals of API clients; result is ok, lost or unknown.
func (s *Set) Renewed(result string, n int) {
	s.count("oneslot_renewals_total", n, "result", result)
	if result == "lost" {
		s.count(lost, n)
	}
}

// Asked counts a request to a forge: the status of its answer, 0 if there was none,
// and whether it was a limit.
func (s *Set) Asked(host string, status int, limited bool) {
	result := "failed"
	switch {
	case limited:
		result = "limited"
	case status == http.StatusNotModified:
		result = "unchanged"
	case status >= 200 && status < 400:
		result = "ok"
	case status >= 400 && status < 500:
		result = "refused"
	}
	s.count("oneslot_forge_requests_total", 1, "host", host, "result", result)
}

// count adds n to the counter with these labels.
func (s *Set) count(name string, n int, labels ...string) {
	key := series(name, labels...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[key] += uint64(n)
}

// series is a name with its labels, as they are written.
func series(name string, labels ...string) string {
	if len(labels) == 0 {
		return name
	}
	var b strings.Builder
	b.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		sep := ","
		if i == 0 {
			sep = "{"
		}
		b.WriteString(sep + labels[i] + `="`)
		for _, c := range []byte(labels[i+1]) {
			switch c {
			case '\\', '"':
				b.WriteByte('\\')
			case '\n':
				b.WriteByte('\\')
				c = 'n'
			}
			b.WriteByte(c)
		}
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String()
}
