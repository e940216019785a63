package sqlite

import (
	"errors"
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
			s.w.log.Close()
			errs := make([]error, steps)
			var all sync.WaitGroup
			for i := range errs {
				all.Go(func() { errs[i] = note(s, 10+i) })
			}
			all.Wait()
			for i, err := range errs {
				if !errors.Is(err, slot.ErrUnknown) || !strings.Contains(err.Error(), "may not be on disk") {
					t.Errorf("answered %v", err)
				}
				if d, err := s.Decisions(t.Context(), ref(10+i)); err != nil || len(d) != 1 {
					t.Errorf("others see %v, %v", d, err)
				}
			}
		})
	}
}
