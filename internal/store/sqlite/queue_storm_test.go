package sqlite

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// storm accepts deliveries for one ref from 8 goroutines for as long as it lives, and
// says the number of each that is acknowledged.
func storm(args []string) error {
	s, err := open(args[0])
	if err != nil {
		return err
	}
	barrier()
	q := s.Queue()
	failed := make(chan error)
	for g := range 8 {
		go func() {
			for i := g; ; i += 8 {
				if _, err := q.Accept(context.Background(), arrivalOf(ref(1), i)); err != nil {
					failed <- err
					return
				}
				os.Stdout.WriteString(fmt.Sprintln(i)) //nolint:errcheck // one write, so that no line is torn
			}
		}()
	}
	return <-failed
}

// P4, C25: kill -9 in the middle of a storm. What was acknowledged is there, and a
// delivery that was not is taken in when it comes again.
func TestP4_KilledInAStorm(t *testing.T) {
	s := fresh(t)
	q := s.Queue()
	if _, err := q.Accept(context.Background(), arrivalOf(ref(1), 1_000_000)); err != nil { // makes the file
		t.Fatal(err)
	}
	highest := 0
	for round := range 3 {
		j := start(t, "storm", s.Path())
		j.in.Close()
		acknowledged := map[int]bool{}
		for j.out.Scan() {
			var i int
			if _, err := fmt.Sscan(j.out.Text(), &i); err != nil {
				break
			}
			acknowledged[i] = true
			highest = max(highest, i)
			if len(acknowledged) == 100+round*37 {
				if err := j.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		j.Wait() //nolint:errcheck // it was killed
		l, err := q.Look(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		kept := map[string]int{}
		for _, e := range l.Events {
			kept[e.Fingerprint]++
		}
		for i := range acknowledged {
			if kept[fmt.Sprintf("ci_failed/%d", i)] != 1 {
				t.Fatalf("delivery %d was acknowledged and is there %d times", i, kept[fmt.Sprintf("ci_failed/%d", i)])
			}
		}
	}
	for i := range highest + 16 {
		if _, err := q.Accept(context.Background(), arrivalOf(ref(1), i)); err != nil {
			t.Fatal(err)
		}
	}
	l, err := q.Look(context.Background(), 1)
	if err != nil || l.Item.State != queue.Pending || len(l.Events) < highest+16 {
		t.Fatalf("%d events, %s, %v; want all %d", len(l.Events), l.Item.State, err, highest+16)
	}
}

// C24: a thousand deliveries for one item from 8 goroutines, a fifth of them sent
// again: one item, and each event once.
func TestC24_ManyDeliveriesOneItem(t *testing.T) {
	s := fresh(t)
	q := s.Queue()
	const deliveries = 1000
	var mu sync.Mutex
	var all sync.WaitGroup
	got := map[slot.Intake]int{}
	for g := range 8 {
		all.Go(func() {
			for i := g; i < deliveries; i += 8 {
				for n := range 2 {
					if n == 1 && i%5 != 0 {
						break
					}
					done, err := q.Accept(context.Background(), arrivalOf(ref(1), i))
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					got[done[0].Intake]++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if got[slot.Queued] != 1 || got[slot.Coalesced] != deliveries-1 || got[slot.Duplicate] != deliveries/5 {
		t.Errorf("answered %v", got)
	}
	items, err := q.Items(context.Background(), queue.Filter{})
	if err != nil || len(items) != 1 || items[0].State != queue.Pending || items[0].Waiting != deliveries {
		t.Fatalf("items: %+v, %v", items, err)
	}
	l, err := q.Begin(context.Background(), queue.Begin{Item: items[0].ID, Run: "run-1", Policy: items[0].Policy})
	if err != nil || len(l.Events) != deliveries {
		t.Errorf("the run is told of %d events, %v", len(l.Events), err)
	}
}
