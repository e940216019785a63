package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/oneslot/oneslot/internal/slot"
)

// batch bounds how many steps share one commit.
const batch = 128

const (
	opWaiting int32 = iota
	opTaken         // the writer works on it: its end will be known
	opDropped       // its caller gave up before that
)

// op is one step on its way through the writer. fn may run more than once, each
// time in a transaction of its own, and leaves its answer in its closure; it
// returns only faults of the database, never refusals.
type op struct {
	name  string
	fn    func(*tx) error
	state atomic.Int32
	err   error
	done  chan struct{}
}

// do runs fn in a durable transaction. When it returns an error, either nothing
// was changed, or (said so) it is not known.
func (s *Store) do(ctx context.Context, name string, fn func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return s.unknown(name, err)
	}
	s.start.Do(func() { go s.writeLoop() })
	o := &op{name: name, fn: fn, done: make(chan struct{})}
	// Twice within LockWait it is looked who keeps the turn, and again for as
	// long as the writers before us get on.
	wait := time.NewTicker(s.opt.LockWait / 2)
	defer wait.Stop()
	var seen *stall
	send := s.ops
	for {
		var why error
		select {
		case send <- o:
			send = nil
			continue
		case <-o.done:
			return s.unknown(name, o.err)
		case <-s.done:
			why = errClosed
		case <-ctx.Done():
			why = ctx.Err()
		case <-wait.C:
			if seen, why = s.unfreeze(seen); why == nil {
				continue
			}
		}
		if send != nil || o.state.CompareAndSwap(opWaiting, opDropped) {
			return s.unknown(name, why)
		}
		<-o.done // being committed: the answer is near, and giving up now would leave it unknown
		return s.unknown(name, o.err)
	}
}

var errClosed = errors.New("the store is closed")

// writeLoop is the one goroutine that writes. A file that cannot be opened now
// is tried again by the next step, but not a damaged one.
func (s *Store) writeLoop() {
	defer close(s.done)
	var w *writer
	var err error
	for {
		select {
		case <-s.quit:
			if w != nil {
				w.close()
			}
			return
		case o := <-s.ops:
			ops := s.gather(o)
			if w == nil {
				w, err = s.openWriter()
			}
			if err == nil {
				s.commit(w, ops)
				continue
			}
			answer(ops, err)
			if !w.damaged {
				w, err = nil, nil
			}
		}
	}
}

// answer ends steps that were not taken.
func answer(ops []*op, err error) {
	for _, o := range ops {
		o.err = err
		close(o.done)
	}
}

// gather takes what else is waiting to share the commit. Those that the last
// commit answered are about to come back, so it lets them run first.
func (s *Store) gather(first *op) []*op {
	ops := []*op{first}
	for idle := 0; len(ops) < batch && idle < 3; {
		select {
		case o := <-s.ops:
			ops, idle = append(ops, o), 0
		default:
			runtime.Gosched()
			idle++
		}
	}
	return ops
}

// commit runs a batch in one transaction. If the database faults in the middle,
// each step gets a transaction of its own, so that one cannot spoil another. One
// that could not even begin is not tried again for each: that may take seconds,
// and others wait for the turn.
func (s *Store) commit(w *writer, ops []*op) {
	unlock, err := w.turn()
	live := ops[:0]
	for _, o := range ops {
		if o.state.CompareAndSwap(opWaiting, opTaken) {
			live = append(live, o)
		}
	}
	if len(live) == 0 {
		unlock()
		return
	}
	begun := false
	if err == nil {
		begun, err = w.transact(live)
	}
	alone := begun && err != nil && len(live) > 1
	errs := make([]error, len(live))
	for i, o := range live {
		if errs[i] = err; alone {
			_, errs[i] = w.transact([]*op{o})
		}
	}
	// First the turn, then the answers: whoever has one may be stopped at once.
	unlock()
	for i, o := range live {
		answer([]*op{o}, errs[i])
	}
}

// writer owns the one connection that writes.
type writer struct {
	s     *Store
	db    *sql.DB
	conn  *sql.Conn
	lock  *os.File
	stmts map[string]*sql.Stmt
	file  fileID // what the connection was opened on
	wal   fileID
	shm   fileID
	// damaged: the file is to stay as it is, so the connection is never closed,
	// which would move the -wal into it.
	damaged bool
}

func (w *writer) close() {
	if w.lock != nil {
		defer w.lock.Close()
	}
	if w.damaged {
		return
	}
	for _, st := range w.stmts {
		st.Close()
	}
	if w.conn != nil {
		w.conn.Close()
	}
	if w.db != nil {
		w.db.Close()
	}
}

// fault notes whether err says that the file is damaged.
func (w *writer) fault(err error) error {
	var e *driver.Error
	if errors.As(err, &e) && (e.Code()&0xff == lib.SQLITE_CORRUPT || e.Code()&0xff == lib.SQLITE_NOTADB) {
		w.damaged = true
	}
	return err
}

// transact runs the steps between BEGIN IMMEDIATE and COMMIT.
func (w *writer) transact(ops []*op) (begun bool, err error) {
	if err := w.same(); err != nil {
		return false, err
	}
	t, err := w.begin()
	if err != nil {
		return false, err
	}
	err = t.newEnough()
	for i := 0; err == nil && i < len(ops); i++ {
		err = ops[i].fn(t)
	}
	if err == nil {
		err = t.exec("COMMIT")
	}
	if err != nil {
		// Some faults have rolled back already; a second time does no harm.
		t.exec("ROLLBACK") //nolint:errcheck
		return true, w.fault(err)
	}
	for _, p := range t.pokes {
		w.s.line.poke(p)
	}
	return true, nil
}

// begin takes SQLite's own write lock. Who has it at our turn is a program that
// does not take turns, such as a shell on the file, or one of ours that recovers
// the -wal; if that is frozen it is killed.
func (w *writer) begin() (*tx, error) {
	t := &tx{w: w}
	err := t.exec("BEGIN IMMEDIATE")
	var e *driver.Error
	if errors.As(err, &e) && e.Code()&0xff == lib.SQLITE_BUSY {
		var seen *stall
		if seen, err = w.s.unfreeze(nil); err == nil && !seen.killed {
			_, err = w.s.unfreeze(seen)
		}
		if err == nil {
			err = t.exec("BEGIN IMMEDIATE")
		}
	}
	t.boot, t.wall = w.s.opt.Clock.Boot(), w.s.opt.Clock.Wall()
	return t, err
}

// tx is one transaction. boot and wall are read once, under the write lock.
type tx struct {
	w     *writer
	boot  time.Duration
	wall  time.Time
	pokes []poke
}

func (t *tx) ms() int64 { return t.wall.UnixMilli() }

func (t *tx) stmt(q string) (*sql.Stmt, error) {
	if st, ok := t.w.stmts[q]; ok {
		return st, nil
	}
	st, err := t.w.conn.PrepareContext(context.Background(), q)
	if err != nil {
		return nil, err
	}
	t.w.stmts[q] = st
	return st, nil
}

func (t *tx) exec(q string, args ...any) error {
	_, err := t.count(q, args...)
	return err
}

func (t *tx) count(q string, args ...any) (int64, error) {
	st, err := t.stmt(q)
	if err != nil {
		return 0, err
	}
	r, err := st.Exec(args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// one reads one row and reports whether there was one.
func (t *tx) one(q string, args []any, dest ...any) (bool, error) {
	st, err := t.stmt(q)
	if err != nil {
		return false, err
	}
	err = st.QueryRow(args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// newEnough refuses to write to a file that a newer, breaking program took over
// while this one had it open.
func (t *tx) newEnough() error {
	var least int
	if _, err := t.one("SELECT min_program FROM meta", nil, &least); err != nil {
		return err
	}
	return t.w.s.tooOld(least)
}

func (s *Store) tooOld(least int) error {
	if least <= level() {
		return nil
	}
	return &slot.UnknownError{Op: "open", Store: s.Address(),
		Err:  fmt.Errorf("the store needs a program of level %d, this one is level %d", least, level()),
		Hint: "use the newer oneslot"}
}
