package rundir

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestTidy(t *testing.T) {
	now := time.Now()
	h := In(t.TempDir())
	for run, age := range map[string]time.Duration{"old": 48 * time.Hour, "open": 72 * time.Hour, "mid": 5 * time.Hour, "new": 0} {
		d, err := h.Create(run)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(d.LogPath(), make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{d.LogPath(), d.Path()} {
			if err := os.Chtimes(p, now.Add(-age), now.Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := h.Enter("slot", "open"); err != nil {
		t.Fatal(err)
	}
	left := func() []string {
		t.Helper()
		runs, err := h.Runs()
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(runs)
		return runs
	}
	if n, err := h.Tidy(now.Add(-24*time.Hour), 1<<40); n != 1 || err != nil || !slices.Equal(left(), []string{"mid", "new", "open"}) {
		t.Errorf("by age: %d, %v, left %v", n, err, left())
	}
	_, size, err := Dir{filepath.Join(h.path, "runs", "new")}.measure()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := h.Tidy(now.Add(-24*time.Hour), size); n != 1 || err != nil || !slices.Equal(left(), []string{"new", "open"}) {
		t.Errorf("by size: %d, %v, left %v", n, err, left())
	}
}
