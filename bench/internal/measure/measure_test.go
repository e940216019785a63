package measure

import (
	"context"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

func fresh(t *testing.T) *Bench {
	t.Helper()
	b, err := New(t.TempDir(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The raw writer is a fair peer: it writes the rows that the store writes.
func TestRawWritesWhatTheStoreWrites(t *testing.T) {
	if err := fresh(t).sameRows(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A filled store is one: each slot on record has its claim and its decisions,
// and can be claimed.
func TestFillMakesAStore(t *testing.T) {
	b, ctx := fresh(t), context.Background()
	path := b.path()
	if err := b.fill(ctx, path, 700); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(path, sqlite.Options{Clock: b.clock})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Verify(ctx); err != nil {
		t.Error(err)
	}
	for _, n := range []int{0, 1, 699} {
		look, err := s.Look(ctx, refOf("scale", n))
		if err != nil || look.Newest == nil || look.Newest.Outcome.Result != slot.Done {
			t.Fatalf("slot %d: %+v, %v", n, look, err)
		}
		if ds, err := s.Decisions(ctx, refOf("scale", n)); err != nil || len(ds) != 2 {
			t.Errorf("slot %d has %d decisions, %v", n, len(ds), err)
		}
		if err := b.pair(ctx, s, refOf("scale", n)); err != nil {
			t.Error(err)
		}
	}
}

func TestWakesAreCountedInAnyWindow(t *testing.T) {
	const ttl = 10 * time.Second
	for _, c := range []struct {
		asked []time.Duration
		worst int
	}{
		{nil, 0},
		{[]time.Duration{0}, 0},
		{[]time.Duration{0, 10, 20, 30}, 1},
		{[]time.Duration{0, 8, 12, 19}, 2},
		{[]time.Duration{0, 1, 11, 12, 13}, 3},
	} {
		for i := range c.asked {
			c.asked[i] *= time.Second
		}
		if w := wakesOf(c.asked, 40*time.Second, ttl); w.Worst != c.worst {
			t.Errorf("%v: worst %d, want %d", c.asked, w.Worst, c.worst)
		}
	}
}
