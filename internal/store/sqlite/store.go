package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// Options are what a Store needs to know beside its file.
type Options struct {
	Clock clock.Clock
	// WaitingMax bounds the life of waiting claims; 0 is slot.WaitingMax.
	WaitingMax time.Duration
	// Retention is how long decisions are kept; 0 is 30 days.
	Retention time.Duration
	// LockWait is how long a write waits for the writers' turn before it looks
	// for a frozen owner; 0 is 5 s.
	LockWait time.Duration
}

// Store is one process's handle on a SQLite file. It implements claim.Store and
// claim.Journal and is safe for concurrent use.
type Store struct {
	path string
	opt  Options

	read *reads
	seen atomic.Pointer[fileID] // what read was opened on

	// busy is kept by who writes: the writer, which the first write starts, or
	// a caller itself.
	busy   sync.Mutex
	w      *writer       // opened by the first write
	broken error         // why w could not be opened: it is damaged
	alone  atomic.Bool   // the last commit had one step, and no other process wrote
	writes atomic.Bool   // reads go to w while it is idle
	opened chan struct{} // closed when w is open, if it was asked for beforehand

	syncs sync.WaitGroup // steps that are written, but not yet on disk

	start sync.Once
	ops   chan *op
	quit  chan struct{}
	done  chan struct{}
	once  sync.Once

	line   line
	packed sync.Pool // buffers for bodies; *[]byte
}

// Open gives a handle on the file at path. A file that does not exist is made
// by the first write; reading it as empty leaves nothing behind. Errors match
// slot.ErrUnknown (the ground is bad: network file system, not a database) or
// slot.ErrNotAllowed (it is somebody else's).
func Open(path string, opt Options) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %v", slot.ErrConfig, path, err)
	}
	// SQLite names -wal and -shm after the file itself, not after a link to it.
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	if opt.WaitingMax == 0 {
		opt.WaitingMax = slot.WaitingMax
	}
	if opt.Retention == 0 {
		opt.Retention = 30 * 24 * time.Hour
	}
	if opt.LockWait == 0 {
		opt.LockWait = 5 * time.Second
	}
	s := &Store{path: abs, opt: opt, opened: make(chan struct{}), ops: make(chan *op, batch), quit: make(chan struct{}), done: make(chan struct{})}
	s.line.dir = filepath.Join(s.Dir(), "wait")
	if err := checkGround(abs); err != nil {
		return nil, err
	}
	// ext4 and others commit in half the time; data and size are synced alike.
	if _, err := driver.Fdatasync(true); err != nil && !errors.Is(err, driver.ErrFdatasyncUnavailable) {
		return nil, s.unknown("open", err)
	}
	if s.read, err = openReads(abs); err != nil {
		return nil, s.unknown("open", err)
	}
	return s, nil
}

// The levels of SQLite's own syncing (PRAGMA synchronous): each commit, or only what
// keeps the file whole.
const (
	syncsAll   = 2
	syncsWhole = 1
)

func dsn(path, mode string, syncs int, more string) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: path}
	return fmt.Sprintf("%s?mode=%s&_pragma=busy_timeout(5000)&_pragma=synchronous(%d)&%s", u.String(), mode, syncs, more)
}

// Address is the store's address as people write it.
func (s *Store) Address() string { return "sqlite:" + s.path }

// Path is the database's file, Dir its folder: the place of run folders and of
// the registry of trees.
func (s *Store) Path() string { return s.path }

// Dir is the folder of the database.
func (s *Store) Dir() string { return filepath.Dir(s.path) }

// Capabilities implements claim.Store.
func (s *Store) Capabilities() claim.Capabilities {
	return claim.Capabilities{Name: "sqlite", CrossProcess: true, Notifies: true, BootTime: true, Limits: true, Covers: true, Tick: time.Millisecond}
}

// Close waits for writes under way and gives the file back. A process that is
// about to exit need not call it: every answer given is already on disk.
func (s *Store) Close() error {
	s.once.Do(func() { close(s.quit) })
	s.start.Do(func() { close(s.done) }) // never written: no writer to wait for
	<-s.done
	s.line.close()
	return s.read.Close()
}

// unknown wraps a fault of the file or the driver, with what a person can do.
func (s *Store) unknown(op string, err error) error {
	if err == nil {
		return nil
	}
	var known *slot.UnknownError
	if errors.As(err, &known) {
		return err
	}
	return &slot.UnknownError{Op: op, Store: s.Address(), Err: err, Hint: hint(err)}
}

func hint(err error) string {
	var e *driver.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return "the file is left as it is; move it away and the next claim makes a new one, " +
			"after ending or waiting for the runs that have an entry under live/ beside it"
	case lib.SQLITE_FULL:
		return "the disk is full: make room, nothing was changed"
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN:
		return "the file or its folder cannot be written by this user"
	case lib.SQLITE_BUSY:
		return "another process holds the file; try again"
	case lib.SQLITE_IOERR:
		return "the disk reports an error or is full"
	}
	return ""
}

// reader gives the read connection, or false if there is no file yet. A file that
// was replaced would be read as it was before, for as long as we live.
func (s *Store) reader(ctx context.Context) (*reads, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, s.unknown("read", err)
	}
	fi, err := os.Stat(s.path)
	switch {
	case errors.Is(err, os.ErrNotExist) && s.seen.Load() == nil:
		return nil, false, nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, false, s.unknown("read", err)
	}
	var id fileID
	if err == nil {
		id = idOf(fi)
		s.seen.CompareAndSwap(nil, &id)
	}
	if id != *s.seen.Load() {
		return nil, false, s.replaced("read", s.path)
	}
	if err := plausible(fi); err != nil {
		return nil, false, s.unknown("read", err)
	}
	s.read.judge(ctx)
	return s.read, true, nil
}
