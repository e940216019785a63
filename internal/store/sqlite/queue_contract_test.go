package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/queue/queuetest"
)

// The contract of queue.Store, on a real file with two handles.
func TestQueueContract(t *testing.T) { queuetest.Run(t, twoHandles) }

func TestQueueInterleaved(t *testing.T) { queuetest.Interleave(t, twoHandles) }

func twoHandles(t testing.TB) queuetest.Harness {
	path := filepath.Join(t.TempDir(), "state", "oneslot.db")
	clk := clock.NewManual(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC))
	var stores [2]*Store
	for i := range stores {
		s, err := Open(path, Options{Clock: clk})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() }) //nolint:errcheck // the test is over
		stores[i] = s
	}
	return queuetest.Harness{Store: stores[0].Queue(), Other: stores[1].Queue(), Clock: clk}
}
