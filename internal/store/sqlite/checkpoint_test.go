package sqlite

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/oneslot/oneslot/internal/queue"
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
