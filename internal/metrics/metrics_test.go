package metrics

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

type source struct {
	err, ready error
	stale      bool
}

func (s source) Ready(context.Context) error { return s.ready }

func (s source) Stale() bool { return s.stale }

func (s source) Gauge(context.Context) (queue.Gauge, error) {
	return queue.Gauge{Items: map[queue.State]int{queue.Pending: 3}, Due: 2}, s.err
}

func (s source) Live(context.Context) ([]slot.Claim, error) {
	return []slot.Claim{{Kind: slot.Supervised}, {Kind: slot.Supervised}}, nil
}

func (s source) Holds(context.Context) ([]slot.Hold, error) {
	return []slot.Hold{{Scope: "github.com/octo/hello"}, {Scope: slot.Everything}}, nil
}

func shown(s *Set) string {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func TestText(t *testing.T) {
	s := New(source{})
	s.Decided(slot.Defer, "systemd: bob-pm-1 is active")
	s.Decided(slot.Defer, "systemd: bob-pm-2 is active")
	s.Delivery("a\"b\\c\nd", "queued")
	s.Renewed("lost", 4)
	s.Claimed(time.Millisecond)
	s.Claimed(3 * time.Millisecond)
	s.Claimed(2 * time.Minute)
	got := "\n" + shown(s)
	for _, line := range []string{
		`oneslot_store_up 1`,
		`oneslot_config_in_force 1`,
		`oneslot_work_items{state="pending"} 3`,
		`oneslot_work_items{state="dead"} 0`,
		`oneslot_work_items_due 2`,
		`oneslot_slots_held{kind="supervised"} 2`,
		`oneslot_everything_on_hold 1`,
		`oneslot_holds 2`,
		`oneslot_decisions_total{verdict="defer",reason="systemd"} 2`,
		`oneslot_deliveries_total{hook="a\"b\\c\nd",result="queued"} 1`,
		`oneslot_claims_lost_total 4`,
		`oneslot_claim_seconds_bucket{le="0.001"} 1`,
		`oneslot_claim_seconds_bucket{le="0.0025"} 1`,
		`oneslot_claim_seconds_bucket{le="0.005"} 2`,
		`oneslot_claim_seconds_bucket{le="60"} 2`,
		`oneslot_claim_seconds_bucket{le="+Inf"} 3`,
		`oneslot_claim_seconds_sum 120.004`,
		`oneslot_claim_seconds_count 3`,
		`oneslot_start_seconds_count 0`,
	} {
		if !strings.Contains(got, "\n"+line+"\n") {
			t.Errorf("%s is not in\n%s", line, got)
		}
	}
}

// A store that cannot be asked is told, and the counters are there all the same.
func TestText_StoreDown(t *testing.T) {
	got := shown(New(source{err: errors.New("down")}))
	if !strings.Contains(got, "oneslot_store_up 0\n") || strings.Contains(got, "oneslot_work_items") || !strings.Contains(got, "oneslot_claims_lost_total 0\n") {
		t.Error(got)
	}
}

// A store that can be read, and takes nothing more, is not up; what it has is told.
func TestText_StoreFull(t *testing.T) {
	got := shown(New(source{ready: errors.New("full"), stale: true}))
	for _, line := range []string{"oneslot_store_up 0\n", "oneslot_work_items_due 2\n", "oneslot_config_in_force 0\n"} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not in\n%s", line, got)
		}
	}
}
