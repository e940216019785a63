package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
)

// turn waits for the writers' turn among the processes of this host. The kernel
// wakes those that wait; SQLite alone would have them poll.
func (w *writer) turn() (unlock func(), err error) {
	fd := int(w.lock.Fd())
	for {
		err = unix.Flock(fd, unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return func() {}, fmt.Errorf("lock %s: %w", w.lock.Name(), err)
	}
	return func() { unix.Flock(fd, unix.LOCK_UN) }, nil //nolint:errcheck // the descriptor is ours
}

// tryTurn takes the turn if nobody has it.
func (w *writer) tryTurn() (unlock func(), ok bool) {
	fd := int(w.lock.Fd())
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil, false
	}
	return func() { unix.Flock(fd, unix.LOCK_UN) }, true //nolint:errcheck // the descriptor is ours
}

// stall is what was seen of a turn that does not come.
type stall struct {
	owner  int       // who keeps the lock; 0 for nobody that can be seen
	wrote  time.Time // when the -wal was last written to
	killed bool      // the owner was frozen, and is gone
}

// unfreeze is called when the turn does not come. A stopped oneslot process of
// our user that keeps it is killed, which SQLite survives: its transaction is
// rolled back by whoever comes next. Anything else is left alone, and named if
// it is the same as last time and nothing was written since: many writers may
// just be slow together.
func (s *Store) unfreeze(last *stall) (now *stall, err error) {
	lock, err := s.lockOwners()
	if err != nil {
		return nil, err
	}
	for _, pid := range lock {
		if pid > 0 && killFrozen(pid) {
			return &stall{killed: true}, nil
		}
	}
	now = &stall{}
	if len(lock) > 0 {
		now.owner = lock[0]
	}
	if fi, err := os.Stat(s.path + "-wal"); err == nil {
		now.wrote = fi.ModTime()
	}
	switch {
	case last == nil || *last != *now:
		return now, nil
	case now.owner > 0:
		return nil, fmt.Errorf("the write lock is kept by pid %d", now.owner)
	}
	return nil, errors.New("the write lock is kept, by whom cannot be seen from here")
}

// SQLite's bytes in the -shm file that keep others from writing (wal.c) or from
// opening it (os_unix.c): WAL_WRITE_LOCK and the dead man's switch. Any exclusive
// lock on the database itself keeps others from opening it, too: the last one to
// close it has one while it moves the -wal into it.
const (
	writerByte = 120
	switchByte = 128
)

// lockOwners lists the other processes that keep the writers' turn or one of
// SQLite's own locks that we may wait for.
func (s *Store) lockOwners() (pids []int, err error) {
	for _, file := range []string{s.path + "-shm", s.path + ".lock", s.path} {
		id, err := identify(file)
		if err != nil {
			continue // there is no such file: nobody has a lock on it
		}
		owners, err := proc.LockOwners(id.dev, id.ino)
		if err != nil {
			return nil, fmt.Errorf("who keeps the write lock: %w", err)
		}
		for _, o := range owners {
			has := func(b int64) bool { return o.Start <= b && (o.End == -1 || o.End >= b) }
			ours := file != s.path+"-shm" || has(writerByte) || has(switchByte)
			if ours && o.Exclusive && o.PID != os.Getpid() {
				pids = append(pids, o.PID)
			}
		}
	}
	return pids, nil
}

// killFrozen kills pid if it is a stopped oneslot process of this user.
func killFrozen(pid int) bool {
	p, err := proc.Identify(pid)
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	see := proc.Look(p)
	if see.Life != proc.Alive || !see.Stopped || see.UID != os.Geteuid() || !proc.SameProgram(pid) {
		return false
	}
	return proc.Signal(p, syscall.SIGKILL) == nil
}

type fileID struct{ dev, ino uint64 }

// links counts the names of a file.
func links(path string) (int, error) {
	var st unix.Stat_t
	err := unix.Stat(path, &st)
	return int(st.Nlink), err
}

func idOf(fi os.FileInfo) fileID {
	st, _ := fi.Sys().(*syscall.Stat_t)
	return fileID{uint64(st.Dev), st.Ino}
}

func (s *Store) replaced(op, path string) error {
	return &slot.UnknownError{Op: op, Store: s.Address(),
		Err:  fmt.Errorf("%s was replaced or removed while it was open: %w", filepath.Base(path), slot.ErrMoved),
		Hint: "put it back, or end the runs of the old file before using the new one"}
}

// same refuses to go on when the database, its -wal or its -shm was replaced or removed
// under the open connection: what it writes would be seen by nobody.
func (w *writer) same() error {
	for _, f := range []struct {
		path string
		was  fileID
	}{{w.s.path, w.file}, {w.s.path + "-wal", w.wal}, {w.s.path + "-shm", w.shm}} {
		if now, err := identify(f.path); err != nil || now != f.was {
			return w.s.replaced("write", f.path)
		}
	}
	return nil
}
