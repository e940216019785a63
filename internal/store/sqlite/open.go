package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// openWriter makes the file if there is none, brings its schema up to date, and
// gives the connection that writes. After an error that is closed, or damaged.
func (s *Store) openWriter() (w *writer, err error) {
	w = &writer{s: s, version: -1}
	defer func() {
		if err != nil {
			err = s.unknown("open", w.fault(err))
			w.close()
		}
	}()
	if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
		return w, err
	}
	w.lock, err = os.OpenFile(s.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return w, err
	}
	unlock, err := w.turn()
	if err != nil {
		return w, err
	}
	defer unlock()
	if _, err := os.Stat(s.path); errors.Is(err, fs.ErrNotExist) {
		if err := s.build(); err != nil {
			return w, err
		}
	}
	if fi, err := os.Stat(s.path); err != nil {
		return w, err
	} else if err := plausible(fi); err != nil {
		return w, &slot.UnknownError{Op: "open", Store: s.Address(), Err: err, Hint: hintCorrupt}
	}
	if n, err := links(s.path); err != nil || n > 1 {
		return w, errors.Join(err, fmt.Errorf("%s has %d names (hard links): under another one its locks and its -wal would be others", filepath.Base(s.path), n))
	}
	// Before it is opened: one that is put there meanwhile is noticed.
	if w.file, err = identify(s.path); err != nil {
		return w, err
	}
	_, missing := os.Stat(s.path + "-wal")
	// Small checkpoints: the first process to open the file after all others
	// are gone reads the whole -wal again.
	if w.conn, err = connect(dsn(s.path, "rw", syncsWhole, "_pragma=wal_autocheckpoint(96)")); err != nil {
		return w, err
	}
	if err := w.upgrade(); err != nil {
		return w, err
	}
	w.wal, err = identify(s.path + "-wal")
	if errors.Is(err, fs.ErrNotExist) { // a copy that VACUUM INTO made has none yet
		if err = w.toWAL(); err == nil {
			w.wal, err = identify(s.path + "-wal")
		}
	}
	if err != nil {
		return w, err
	}
	if w.shm, err = identify(s.path + "-shm"); err != nil {
		return w, err
	}
	return w, w.openLog(missing != nil)
}

// openLog opens the -wal, beside the driver: SQLite has no lock on it that its closing
// would lose. One that is new must not lose its name.
func (w *writer) openLog(fresh bool) (err error) {
	path := w.s.path + "-wal"
	if w.log, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return err
	}
	if fi, err := w.log.Stat(); err != nil || idOf(fi) != w.wal {
		return w.s.replaced("open", path)
	}
	if fresh {
		return syncDir(w.s.Dir())
	}
	return nil
}

// build makes a whole new database beside its address and links it into place,
// so that nobody ever sees half of one.
func (s *Store) build() (err error) {
	tmp := filepath.Join(s.Dir(), "."+filepath.Base(s.path)+"."+claim.NewID()+".new")
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	defer func() {
		for _, end := range []string{"", "-wal", "-shm"} {
			if e := os.Remove(tmp + end); e != nil && !errors.Is(e, fs.ErrNotExist) && err == nil {
				err = e
			}
		}
	}()
	db, err := sql.Open("sqlite", dsn(tmp, "rw", syncsAll, "_pragma=journal_mode(wal)"))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	all := steps()
	for _, st := range all {
		if _, err := db.Exec(st.sql); err != nil {
			return err
		}
	}
	_, err = db.Exec("INSERT INTO meta (one, version, min_program, boot) VALUES (1, ?, ?, ?)",
		level(), least(all), s.opt.Clock.BootID())
	if err != nil {
		return err
	}
	if err := whole(db, tmp); err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	if err := s.setAside(); err != nil {
		return err
	}
	if err := os.Link(tmp, s.path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(s.Dir())
}

// whole moves all of the -wal into the file, synced, and makes sure that it is
// there: a checkpoint that ran out of room is no error when it is done by Close.
func whole(db *sql.DB, path string) error {
	var busy, logged, moved, pages, size int64
	if err := db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &moved); err != nil {
		return err
	}
	if err := db.QueryRow("SELECT page_count * page_size, page_count FROM pragma_page_count, pragma_page_size").Scan(&size, &pages); err != nil {
		return err
	}
	fi, err := os.Stat(path)
	if err != nil {
		return err
	}
	if busy != 0 || logged != moved || fi.Size() != size {
		return errors.New("a new database could not be written as a whole; is the disk full?")
	}
	return nil
}

// setAside moves away what a database that was removed has left: its -wal would
// be replayed onto the new one.
func (s *Store) setAside() error {
	for _, end := range []string{"-wal", "-shm"} {
		err := os.Rename(s.path+end, s.path+end+".stale")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func least(steps []step) int {
	n := 0
	for _, st := range steps {
		n = max(n, st.minProgram)
	}
	return n
}

// upgrade applies missing steps, and gives claims of an earlier boot whose holder
// may live on (detached ones, and those of other hosts) one full time to live from
// this first open after it.
// toWAL has a file that is in another journal mode keep a -wal from now on.
func (w *writer) toWAL() error {
	_, err := w.conn.exec("PRAGMA journal_mode = wal", nil)
	if err != nil {
		return err
	}
	t, err := w.begin() // makes the -wal
	if err == nil {
		err = t.exec("UPDATE meta SET boot = boot")
	}
	if err == nil {
		return t.exec("COMMIT")
	}
	t.exec("ROLLBACK") //nolint:errcheck // the first fault is the one to tell
	return err
}

func (w *writer) upgrade() error {
	t, err := w.begin()
	if err != nil {
		return err
	}
	if err = w.upgradeIn(t); err == nil {
		return t.exec("COMMIT")
	}
	t.exec("ROLLBACK") //nolint:errcheck // the first fault is the one to tell
	return err
}

func (w *writer) upgradeIn(t *tx) error {
	var version, minProgram int
	var boot string
	ok, err := t.one("SELECT version, min_program, boot FROM meta", nil, &version, &minProgram, &boot)
	switch {
	case err != nil && strings.Contains(err.Error(), "no such table"):
		return errors.New("it is a SQLite file, but not one of oneslot's")
	case err != nil:
		return err
	case !ok:
		return errors.New("it has lost its version: the file is damaged")
	}
	if err := w.s.tooOld(minProgram); err != nil {
		return err
	}
	for _, st := range steps() {
		if st.version <= version {
			continue
		}
		if err := w.olderClaims(t, st.minProgram); err != nil {
			return err
		}
		if err := t.exec(st.sql); err != nil {
			return err
		}
		if err := t.exec("UPDATE meta SET version = ?, min_program = max(min_program, ?)", st.version, st.minProgram); err != nil {
			return err
		}
	}
	if now := w.s.opt.Clock.BootID(); now != boot {
		if err := t.exec(`UPDATE slot SET boot = ?, began = ?, deadline = ? + ttl
			WHERE live = 1 AND (kind = 'detached' AND bound = 0 OR kind <> 'waiting' AND holder_boot LIKE 'far:%') AND boot <> ?`,
			now, int64(t.boot), int64(t.boot), now); err != nil {
			return err
		}
		return t.exec("UPDATE meta SET boot = ?", now)
	}
	return nil
}

// olderClaims refuses a breaking step while programs that it would break still
// hold claims.
func (w *writer) olderClaims(t *tx, least int) error {
	var held []string
	err := t.all("SELECT ref, command, pid, host FROM slot WHERE live = 1 AND program < ? ORDER BY ref LIMIT 21", []any{least},
		func(r scanner) error {
			var ref, command, host string
			var pid int
			if err := r.Scan(&ref, &command, &pid, &host); err != nil {
				return err
			}
			held = append(held, fmt.Sprintf("%s (%s, pid %d on %s)", ref, command, pid, host))
			return nil
		})
	if err != nil || len(held) == 0 {
		return err
	}
	if len(held) > 20 {
		held[20] = "and more"
	}
	return &slot.UnknownError{Op: "upgrade", Store: w.s.Address(),
		Err:  fmt.Errorf("older programs that the new schema would break still hold %s", strings.Join(held, ", ")),
		Hint: "wait for them or stop them, then start again"}
}
