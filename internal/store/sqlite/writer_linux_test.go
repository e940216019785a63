package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// A stopped process of ours that keeps one of SQLite's locks without having the
// turn: one that recovers the -wal, or the last one to close the file.
func TestC55_FrozenWithoutTheTurn(t *testing.T) {
	for _, how := range []string{"write", "close"} {
		t.Run(how, func(t *testing.T) {
			s := fresh(t)
			if err := s.Hold(context.Background(), slot.Hold{Scope: "nothing"}); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			j := start(t, "grip", s.Path(), how)
			waitStopped(t, j.Process.Pid)
			s2 := mustOpen(t, s.Path())
			s2.opt.LockWait = time.Second
			if _, err := s2.Acquire(context.Background(), detached(ref(1))); err != nil {
				t.Error(err)
			}
		})
	}
}

// Steps that share a batch are all told at once that somebody keeps the write
// lock, not one after the other with the turn kept from everybody else.
func TestBusy_ABatchIsToldAtOnce(t *testing.T) {
	s := fresh(t)
	w, err := s.openWriter()
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	db, err := sql.Open("sqlite", dsn(s.Path(), "rw", syncsAll, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	var ops []*op
	for range 3 {
		ops = append(ops, &op{fn: func(*tx) error { return nil }, done: make(chan struct{})})
	}
	begin := time.Now()
	s.commit(w, ops)
	if took := time.Since(begin); took > 8*time.Second { // SQLite waits 5 s
		t.Errorf("it took %v", took)
	}
	for _, o := range ops {
		<-o.done
		contains(t, o.err, "write lock")
	}
}

// A file that could not be opened is tried again by the next step.
func TestOpen_IsTriedAgain(t *testing.T) {
	s := fresh(t)
	if err := os.MkdirAll(s.Path()+".lock", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(context.Background(), detached(ref(1))); !errors.Is(err, slot.ErrUnknown) {
		t.Fatalf("got %v, want unknown", err)
	}
	if err := os.Remove(s.Path() + ".lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(context.Background(), detached(ref(1))); err != nil {
		t.Error(err)
	}
}
