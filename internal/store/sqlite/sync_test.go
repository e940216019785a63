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
				if !errors.Is(err, slot.ErrUnknown) {
					t.Errorf("answered %v", err)
				}
				want := 0 // it came when the first ones had failed already
				if strings.Contains(err.Error(), "may not be on disk") {
					want = 1
				}
				if d, err := s.Decisions(t.Context(), ref(10+i)); err != nil || len(d) != want {
					t.Errorf("others see %v, %v", d, err)
				}
				seen += want
			}
			if seen == 0 {
				t.Error("none was done:", errs)
			}

			// The next sync may answer for pages that the system has given up.
			if s.w.log, err = os.OpenFile(s.path+"-wal", os.O_WRONLY, 0); err != nil {
				t.Fatal(err)
			}
			err = note(s, 30)
			if !errors.Is(err, slot.ErrUnknown) || !strings.Contains(err.Error(), "before could not be put on disk") || !strings.Contains(err.Error(), "dmesg") {
				t.Errorf("answered %v", err)
			}
			if d, err := s.Decisions(t.Context(), ref(30)); err != nil || len(d) != 0 {
				t.Errorf("written all the same: %v, %v", d, err)
			}
			next, err := Open(s.path, s.opt)
			if err != nil {
				t.Fatal(err)
			}
			defer next.Close()
			if err := note(next, 31); err != nil {
				t.Error("another process:", err)
			}
		})
	}
}
