package sqlite

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

// No step is answered before it is synced, whoever does that: where it cannot be, the
// answer is neither yes nor no, though others see what was done.
func TestNoAnswerBeforeTheSync(t *testing.T) {
	note := func(s *Store, n int) error {
		return s.Note(t.Context(), slot.Decision{Ref: ref(n), Reason: "n"})
	}
	for name, steps := range map[string]int{"by the caller": 1, "together": 8} {
		t.Run(name, func(t *testing.T) {
			s := fresh(t)
			for n := range 3 { // from then on one that is alone writes itself
				if err := note(s, n+1); err != nil {
					t.Fatal(err)
				}
			}
			if !s.alone.Load() {
				t.Fatal("it is not alone")
			}
			err := s.w.log.Close()
			if err != nil {
				t.Fatal(err)
			}
			errs := make([]error, steps)
			var all sync.WaitGroup
			for i := range errs {
				all.Go(func() { errs[i] = note(s, 10+i) })
			}
			all.Wait()
			seen := 0
			for i, err := range errs {
				want := 0 // it came when the first ones had failed already
				if errors.Is(err, slot.ErrUnknown) && strings.Contains(err.Error(), "may not be on disk") {
					want = 1
				} else if !errors.Is(err, slot.ErrUnknown) || !strings.Contains(err.Error(), "nor can it now") {
					t.Errorf("answered %v", err)
				}
				if d, err := s.Decisions(t.Context(), ref(10+i)); err != nil || len(d) != want {
					t.Errorf("others see %v, %v", d, err)
				}
				seen += want
			}
			if seen == 0 {
				t.Error("none was done:", errs)
			}

			// The next sync would answer for pages that the system has given up: whoever
			// writes next, of whatever process, writes them once more, or nothing.
			next, err := Open(s.path, s.opt)
			if err != nil {
				t.Fatal(err)
			}
			defer next.Close()
			next.busy.Lock()
			if !next.ready() {
				t.Fatal(next.broken)
			}
			next.busy.Unlock()
			whole := next.w.log
			if next.w.log, err = os.Open(s.path + "-wal"); err != nil {
				t.Fatal(err)
			}
			err = note(next, 30)
			if !errors.Is(err, slot.ErrUnknown) || !strings.Contains(err.Error(), "nor can it now") || !strings.Contains(err.Error(), "dmesg") {
				t.Errorf("answered %v", err)
			}
			if d, err := s.Decisions(t.Context(), ref(30)); err != nil || len(d) != 0 {
				t.Errorf("written all the same: %v, %v", d, err)
			}
			next.w.log.Close()
			next.w.log = whole
			if err := note(next, 31); err != nil {
				t.Error("it can be written again:", err)
			}
			if s.w.log, err = os.OpenFile(s.path+"-wal", os.O_RDWR, 0); err != nil {
				t.Fatal(err)
			}
			if err := note(s, 32); err != nil {
				t.Error("and by the one that could not:", err)
			}
		})
	}
}
