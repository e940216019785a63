package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

// C56: a disk that fills up while the file is made leaves none behind, however
// far it got, and there is a sound one when there is room again.
func TestC56_FullDiskWhileTheFileIsMade(t *testing.T) {
	for free := 4; free <= 320; free += 12 {
		dir := disk(t, "1m")
		fill := filepath.Join(dir, "fill")
		if err := os.WriteFile(fill, make([]byte, (1024-free)<<10), 0o600); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "oneslot.db")
		s := mustOpen(t, path)
		_, err := s.Acquire(context.Background(), detached(ref(1)))
		if err != nil && !errors.Is(err, slot.ErrUnknown) {
			t.Fatalf("%dk free: %v, want unknown", free, err)
		}
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
		s = mustOpen(t, path)
		if _, err := s.Acquire(context.Background(), detached(ref(2))); err != nil {
			t.Fatalf("%dk free, then room: %v", free, err)
		}
		if err := s.Verify(context.Background()); err != nil {
			t.Fatalf("%dk free, then room: %v", free, err)
		}
	}
}

// C56: the -wal of a database that was removed is not replayed onto a new one.
func TestC56_RemovedWithoutItsWal(t *testing.T) {
	s := fresh(t)
	for i := range 40 {
		if _, err := s.Acquire(context.Background(), detached(ref(i+1))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(s.Path()); err != nil {
		t.Fatal(err)
	}
	s2 := mustOpen(t, s.Path())
	if _, err := s2.Acquire(context.Background(), detached(ref(99))); err != nil {
		t.Fatal(err)
	}
	if err := s2.Verify(context.Background()); err != nil {
		t.Fatal(err)
	}
	live, err := s2.Live(context.Background())
	if err != nil || len(live) != 1 {
		t.Fatalf("live: %d, %v; want the one of the new file", len(live), err)
	}
	_, err = s.Acquire(context.Background(), detached(ref(100)))
	if !errors.Is(err, slot.ErrUnknown) || !errors.Is(err, slot.ErrMoved) {
		t.Fatalf("the old handle: %v, want unknown, moved", err)
	}
}

// A link to the file is the file; a second name of it is refused, since SQLite
// would lock another -shm.
func TestC56_OtherNamesOfTheFile(t *testing.T) {
	s := fresh(t)
	req := detached(ref(1))
	if _, err := s.Acquire(context.Background(), req); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(s.Path(), link); err != nil {
		t.Fatal(err)
	}
	var busy *slot.BusyError
	if _, err := mustOpen(t, link).Acquire(context.Background(), detached(ref(1))); !errors.As(err, &busy) {
		t.Fatalf("by a symbolic link: %v, want busy", err)
	}
	hard := filepath.Join(s.Dir(), "hard.db")
	if err := os.Link(s.Path(), hard); err != nil {
		t.Fatal(err)
	}
	_, err := mustOpen(t, hard).Acquire(context.Background(), detached(ref(1)))
	if !errors.Is(err, slot.ErrUnknown) {
		t.Fatalf("by a hard link: %v, want unknown", err)
	}
	contains(t, err, "hard links")
}

// P10: a refusal that the same caller overcame a moment later is not on record.
func TestWhyTellsNoRefusalThatDidNotHappen(t *testing.T) {
	s := fresh(t)
	ctx := context.Background()
	old := detached(ref(1))
	if _, err := s.Acquire(ctx, old); err != nil {
		t.Fatal(err)
	}
	other := detached(ref(1))
	if _, err := s.Acquire(ctx, other); err == nil {
		t.Fatal("two holders")
	}
	req := detached(ref(1))
	if _, err := s.Acquire(ctx, req); err == nil {
		t.Fatal("two holders")
	}
	req = displacing(req, old.Key.Claim)
	if _, err := s.Acquire(ctx, req); err != nil {
		t.Fatal(err)
	}
	ds, err := s.Decisions(ctx, ref(1))
	if err != nil {
		t.Fatal(err)
	}
	var got []slot.Verdict
	for _, d := range ds {
		for range d.Count {
			got = append(got, d.Verdict)
		}
	}
	if want := []slot.Verdict{slot.Proceed, slot.Defer, slot.Proceed}; len(got) != len(want) || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("decisions %v, want %v: %+v", got, want, ds)
	}
}
