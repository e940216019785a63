package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/oneslot/oneslot/internal/slot"
)

// batch bounds how many steps share one commit.
const batch = 128

// gatherIdle is how long a batch waits for one more. A commit takes longer.
const gatherIdle = 50 * time.Microsecond

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
	o := &op{name: name, fn: fn}
	if s.direct(o) {
		return s.unknown(name, o.err)
	}
	o.done = make(chan struct{})
	s.start.Do(func() { go s.writeLoop() })
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

// direct commits a step on its caller's goroutine where nobody else is near:
// passing it to the writer and back would cost as much as its statements.
func (s *Store) direct(o *op) bool {
	if !s.alone.Load() || !s.busy.TryLock() {
		return false
	}
	w := s.w
	if w == nil || s.broken != nil {
		s.busy.Unlock()
		return false
	}
	unlock, ok := w.tryTurn()
	if ok {
		_, o.err = w.transact([]*op{o})
		unlock()
		w.tend()
		s.alone.Store(w.alone)
		s.syncs.Add(1)
	}
	s.busy.Unlock()
	if ok {
		if o.err == nil {
			o.err = w.sync()
		}
		s.syncs.Done()
	}
	return ok
}

// writeLoop is the goroutine that writes what is not done directly.
func (s *Store) writeLoop() {
	defer close(s.done)
	written := make(chan []*op, 1)
	go s.syncLoop(written)
	defer close(written)
	last := 1
	for {
		select {
		case <-s.quit:
			s.busy.Lock()
			defer s.busy.Unlock()
			s.syncs.Wait()
			if s.w != nil {
				s.w.close()
				s.w = nil
			}
			return
		case o := <-s.ops:
			ops := s.gather(o, last)
			last = len(ops)
			s.write(ops, written)
		}
	}
}

// syncLoop puts on disk what was written, all that is there at once, and answers.
// Meanwhile the next steps are written.
func (s *Store) syncLoop(written <-chan []*op) {
	for ops := range written {
		batches := 1
		for more := true; more; {
			select {
			case next, ok := <-written:
				if more = ok; ok {
					ops, batches = append(ops, next...), batches+1
				}
			default:
				more = false
			}
		}
		// Nobody closes it before this is done.
		answer(ops, s.w.sync())
		s.syncs.Add(-batches)
	}
}

// write commits steps, and opens the file before the first. One that cannot be
// opened now is tried again by the next step, but not a damaged one.
func (s *Store) write(ops []*op, written chan<- []*op) {
	s.busy.Lock()
	defer s.busy.Unlock()
	if s.ready() {
		if done := s.commit(s.w, ops); len(done) > 0 {
			s.syncs.Add(1)
			written <- done
		}
		s.w.tend()
		s.alone.Store(len(ops) == 1 && s.w.alone)
		return
	}
	answer(ops, s.broken)
	if !s.w.damaged {
		s.w, s.broken = nil, nil
	}
}

// ready opens what is written on, if it is not open yet, and reports whether it is.
func (s *Store) ready() bool {
	if s.w == nil {
		s.w, s.broken = s.openWriter()
	}
	return s.broken == nil
}

// openSoon is how long reads wait for that.
const openSoon = 100 * time.Millisecond

// Writing is for a process that is about to write: the file is opened for that now,
// beside the caller, and what is read until then waits for it and is read there. A
// second connection costs as much as the step that is to come.
func (s *Store) Writing() {
	s.start.Do(func() {
		s.busy.Lock()
		s.writes.Store(true)
		go func() {
			s.ready() // the first step tells of a fault, or tries again
			s.busy.Unlock()
			close(s.opened)
			s.writeLoop()
		}()
	})
}

// answer ends steps.
func answer(ops []*op, err error) {
	for _, o := range ops {
		o.err = err
		close(o.done)
	}
}

// gather takes what else is waiting to share the commit. Those that the last
// commit answered are about to come back, so it gives as many a moment to.
func (s *Store) gather(first *op, last int) []*op {
	ops := []*op{first}
	var idle time.Time
	for len(ops) < batch {
		select {
		case o := <-s.ops:
			ops, idle = append(ops, o), time.Time{}
			continue
		default:
		}
		switch {
		case len(ops) >= last:
			return ops
		case idle.IsZero():
			idle = time.Now()
		case time.Since(idle) > gatherIdle:
			return ops
		}
		runtime.Gosched()
	}
	return ops
}

// commit runs a batch in one transaction. If the database faults in the middle,
// each step gets a transaction of its own, so that one cannot spoil another. One
// that could not even begin is not tried again for each: that may take seconds,
// and others wait for the turn. What failed is answered; the rest is to be synced.
func (s *Store) commit(w *writer, ops []*op) (done []*op) {
	unlock, err := w.turn()
	live := ops[:0]
	for _, o := range ops {
		if o.state.CompareAndSwap(opWaiting, opTaken) {
			live = append(live, o)
		}
	}
	if len(live) == 0 {
		unlock()
		return nil
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
		if errs[i] != nil {
			answer([]*op{o}, errs[i])
		} else {
			done = append(done, o)
		}
	}
	return done
}

// writer owns the one connection that writes.
type writer struct {
	s    *Store
	conn *conn
	lock *os.File
	file fileID // what the connection was opened on
	wal  fileID
	shm  fileID
	// version is SQLite's number of the content after our last commit, or -1;
	// alone: it was the same before that, so nobody else had written.
	version int64
	alone   bool
	commits int
	// listener is who is told when something may be due, as of our last look.
	listener string
	// damaged: the file is to stay as it is, so the connection is never closed,
	// which would move the -wal into it. Nor is it while the -wal may have a hole on
	// disk.
	damaged bool
	// mover moves the -wal into the file; moved is closed when it has, and nil if
	// it does not.
	mover *conn
	moved chan struct{}
	// log is the -wal, to sync it and to make it longer; logged is up to where it was
	// in use when we looked last, and added is how many pages we wrote since.
	log    *os.File
	logged int64
	added  int
	// syncing: who is told of a fault marks it before another is told of none.
	syncing sync.Mutex
}

func (w *writer) close() {
	if w.lock != nil {
		defer w.lock.Close()
	}
	if w.log != nil {
		defer w.log.Close()
	}
	if w.damaged || w.log != nil && w.holed() {
		return
	}
	w.still()
	if w.conn != nil {
		w.conn.close() //nolint:errcheck // every answer given is on disk
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

// transact runs the steps between BEGIN IMMEDIATE and COMMIT. From then on others see
// them, so who waits for them is woken; they are on disk after the next sync, of
// whomever: the -wal has all that came before. SQLite syncs it before it moves it into
// the file (synchronous NORMAL), and leaves it to us when it must be on disk.
func (w *writer) transact(ops []*op) (begun bool, err error) {
	begun, err = w.attempt(ops)
	if isFull(err) { // what is moved into the file may be written over
		w.conn.exec("PRAGMA wal_checkpoint(PASSIVE)", nil) //nolint:errcheck
		begun, err = w.attempt(ops)
	}
	return begun, err
}

// isFull reports that there is no room on the disk.
func isFull(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && e.Code()&0xff == lib.SQLITE_FULL
}

// attempt is transact on a disk with room.
func (w *writer) attempt(ops []*op) (begun bool, err error) {
	if err := w.same(); err != nil {
		return false, err
	}
	t, err := w.begin()
	if err != nil {
		return false, err
	}
	if err := w.mend(); err != nil {
		t.exec("ROLLBACK") //nolint:errcheck // nothing was written yet
		return false, err
	}
	w.widen()
	err = t.newEnough()
	for i := 0; err == nil && i < len(ops); i++ {
		err = ops[i].fn(t)
	}
	if err == nil {
		err = t.exec("COMMIT")
	}
	w.version = -1
	if err != nil {
		// Some faults have rolled back already; a second time does no harm.
		t.exec("ROLLBACK") //nolint:errcheck
		return true, w.fault(err)
	}
	if v, err := w.conn.version(); err == nil {
		w.version = v
	}
	w.commits++
	w.added += w.conn.written()
	if t.listener != "" {
		w.listener = t.listener
	}
	if t.woke {
		w.wakeQueue()
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

func (s *Store) tooOld(least int) error {
	if least <= level() {
		return nil
	}
	return &slot.UnknownError{Op: "open", Store: s.Address(),
		Err:  fmt.Errorf("the store needs a program of level %d, this one is level %d", least, level()),
		Hint: "use the newer oneslot"}
}
