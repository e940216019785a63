package dispatch

import (
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
)

// A step of the wall clock is seen once, and ordinary slewing is none.
func TestSteps(t *testing.T) {
	clk := clock.NewManual(time.Unix(1e9, 0))
	s := newSteps(clk)
	for _, c := range []struct {
		pass, set, want time.Duration
	}{
		{time.Hour, 0, 0},
		{time.Second, 900 * time.Millisecond, 0},
		{time.Second, 2 * time.Hour, 2*time.Hour + 900*time.Millisecond},
		{time.Minute, 0, 0},
		{time.Minute, -90 * time.Second, -90 * time.Second},
	} {
		clk.Advance(c.pass)
		clk.StepWall(c.set)
		if got := s.step(); got != c.want {
			t.Errorf("after %v and a step of %v: %v, want %v", c.pass, c.set, got, c.want)
		}
	}
}
