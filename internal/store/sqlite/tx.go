package sqlite

import (
	"errors"
	"io"
	"time"
)

// tx is one transaction. boot and wall are read once, under the write lock.
type tx struct {
	w     *writer
	boot  time.Duration
	wall  time.Time
	pokes []poke
	woke  bool // something may have become due
	// listener is who works the queue from this transaction on; empty: as before.
	listener string
}

func (t *tx) ms() int64 { return t.wall.UnixMilli() }

func (t *tx) exec(q string, args ...any) error {
	_, err := t.w.conn.exec(q, args)
	return err
}

// count is exec, and the number of rows that were changed.
func (t *tx) count(q string, args ...any) (int64, error) {
	r, err := t.w.conn.exec(q, args)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// add is exec of an INSERT of one row, and the number of that; 0 if there was a
// conflict about which it does nothing. It costs half of what RETURNING does.
func (t *tx) add(q string, args ...any) (int64, error) {
	r, err := t.w.conn.exec(q, args)
	if err != nil {
		return 0, err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return 0, err
	}
	return r.LastInsertId()
}

// one reads one row and reports whether there was one.
func (t *tx) one(q string, args []any, dest ...any) (found bool, err error) {
	err = t.rows(q, args, func(r scanner) (bool, error) {
		found = true
		return false, r.Scan(dest...)
	})
	return found && err == nil, err
}

// all calls each for every row. Meanwhile q is not to be used.
func (t *tx) all(q string, args []any, each func(scanner) error) error {
	return t.rows(q, args, func(r scanner) (bool, error) { return true, each(r) })
}

// rows calls each for the rows for as long as it wants more.
func (t *tx) rows(q string, args []any, each func(scanner) (more bool, err error)) (err error) {
	rows, err := t.w.conn.query(q, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	r := make(record, len(rows.Columns()))
	for more := true; more; {
		switch err := rows.Next(r); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if more, err = each(r); err != nil {
			return err
		}
	}
	return nil
}

// newEnough refuses to write to a file that a newer, breaking program took over
// while this one had it open. It need not look if nobody wrote since our last
// commit.
func (t *tx) newEnough() error {
	now, err := t.w.conn.version()
	if t.w.alone = now == t.w.version; err != nil || t.w.alone {
		return err
	}
	var least int
	if _, err := t.one("SELECT min_program, listener FROM meta", nil, &least, &t.w.listener); err != nil {
		return err
	}
	return t.w.s.tooOld(least)
}
