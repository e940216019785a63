package clock_test

import (
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
)

func TestTimer(t *testing.T) {
	timer := clock.NewTimer()
	defer timer.Stop()
	began := time.Now()
	timer.Reset(time.Hour)
	timer.Reset(20 * time.Millisecond)
	select {
	case <-timer.C:
	case <-time.After(5 * time.Second):
		t.Fatal("it did not fire")
	}
	if d := time.Since(began); d < 20*time.Millisecond {
		t.Errorf("it fired after %v", d)
	}
	timer.Reset(0)
	select {
	case <-timer.C:
	case <-time.After(5 * time.Second):
		t.Fatal("it did not fire at once")
	}
}
