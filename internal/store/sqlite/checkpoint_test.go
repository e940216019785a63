package sqlite

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// In a flood of large deliveries, of which no pause lets the -wal begin anew, it
// stays short all the same, and every delivery is there.
func TestFloodKeepsWALShort(t *testing.T) {
	s := fresh(t)
	q := s.Queue()
	const deliveries, size = 2400, 32 << 10
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			noise := rand.NewChaCha8([32]byte{byte(g)}) // it cannot be packed
			for i := g; i < deliveries; i += 8 {
				a := arrivalOf(ref(1+i%50), i)
				a.Delivery.Body = make([]byte, size)
				noise.Read(a.Delivery.Body) //nolint:errcheck // never fails
				if _, err := q.Accept(context.Background(), a); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	fi, err := os.Stat(s.Path() + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if pages := fi.Size() / 4096; pages < moveAt || pages > 4*moveAt {
		t.Errorf("the -wal has had %d pages", pages)
	}
	items, err := q.Items(context.Background(), queue.Filter{})
	waiting := 0
	for _, it := range items {
		waiting += it.Waiting
	}
	if err != nil || waiting != deliveries {
		t.Errorf("%d of %d events, %v", waiting, deliveries, err)
	}
}

// Whoever writes for long makes the -wal longer before it is full. What is behind its
// end is nothing to whoever reads it anew, as after a crash.
func TestRoomBehindTheWALIsEmpty(t *testing.T) {
	s := fresh(t)
	for i := range manyCommits + 20 {
		if err := s.Note(t.Context(), slot.Decision{Ref: ref(1 + i), Reason: "n"}); err != nil {
			t.Fatal(err)
		}
	}
	fi, err := os.Stat(s.path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if room := fi.Size() - s.w.logged; room < ahead/4-8*frame || room > ahead+ahead/4 {
		t.Errorf("%d of %d bytes are used", s.w.logged, fi.Size())
	}
	crashed := t.TempDir()
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(s.path + end)
		if err == nil {
			err = os.WriteFile(filepath.Join(crashed, "oneslot.db"+end), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	again, err := Open(filepath.Join(crashed, "oneslot.db"), s.opt)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close() //nolint:errcheck
	for i := range manyCommits + 20 {
		if d, err := again.Decisions(t.Context(), ref(1+i)); err != nil || len(d) != 1 {
			t.Fatalf("of %v there is %v, %v", ref(1+i), d, err)
		}
	}
	if err := again.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}
