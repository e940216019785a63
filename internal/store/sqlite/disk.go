package sqlite

import (
	"errors"
	"fmt"
	"io"

	"github.com/oneslot/oneslot/internal/slot"
)

// A system that could not put a page on disk tells each process of it once, and takes
// the page for written (fsync(2)); who comes later is not told. From there on the -wal
// may have a hole on disk, behind which nothing is found after a power failure. It is
// whole in memory, so whoever writes next writes it once more; until then no sync is
// believed. The mark is the length of the lock's file: it needs no room, and matters
// only for as long as the machine is up.

// sync puts on disk what was written. If it fails, what was done is seen by others, but
// may be lost if the machine goes down.
func (w *writer) sync() error {
	w.syncing.Lock()
	defer w.syncing.Unlock()
	err := datasync(w.log)
	if err != nil {
		if e := w.lock.Truncate(1); e != nil {
			err = fmt.Errorf("%w, which others may not come to know: %w", err, e)
		}
	} else if w.holed() {
		err = errors.New("an earlier step could not be put there")
	}
	if err == nil {
		return nil
	}
	return w.s.failing("sync", fmt.Errorf("it is done, but may not be on disk: %w", err))
}

// holed reports whether some process could not put on disk what it wrote.
func (w *writer) holed() bool {
	size, err := w.lock.Seek(0, io.SeekEnd)
	return err != nil || size > 0
}

// mend writes the -wal once more if some process could not put it on disk. SQLite's
// write lock is ours. A sync of our own must not be told of a fault, and mark it, while
// the mark is taken away.
func (w *writer) mend() error {
	if !w.holed() {
		return nil
	}
	w.syncing.Lock()
	defer w.syncing.Unlock()
	size, err := w.log.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = io.Copy(io.NewOffsetWriter(w.log, 0), io.NewSectionReader(w.log, 0, size))
	}
	if err == nil {
		err = datasync(w.log)
	}
	if err == nil {
		err = w.lock.Truncate(0)
	}
	if err == nil {
		return nil
	}
	return w.s.failing("write", fmt.Errorf("what was written before could not be put on disk, nor can it now: %w", err))
}

func (s *Store) failing(op string, err error) error {
	return &slot.UnknownError{Op: op, Store: s.Address(), Err: err,
		Hint: "see what the kernel says of the disk (dmesg); the next step tries to put all of it there once more"}
}
