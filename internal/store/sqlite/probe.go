package sqlite

import (
	"context"
	"slices"
)

// Level is the schema level that this program reads and writes.
func Level() int { return level() }

// Schema tells the level of the file and the least level of a program that may
// write to it; zeros if there is no file yet.
func (s *Store) Schema(ctx context.Context) (version, least int, err error) {
	db, ok, err := s.reader(ctx)
	if err != nil || !ok {
		return 0, 0, err
	}
	err = db.QueryRowContext(ctx, "SELECT version, min_program FROM meta").Scan(&version, &least)
	return version, least, s.unknown("read", err)
}

// Probe commits a durable write that leaves nothing behind.
func (s *Store) Probe(ctx context.Context) error {
	return s.do(ctx, "write test", func(t *tx) error {
		// An update to the same value would write no page.
		if err := t.exec("INSERT INTO hold (scope, reason, by, at) VALUES ('?', '', '', 0)"); err != nil {
			return err
		}
		return t.exec("DELETE FROM hold WHERE scope = '?'")
	})
}

// Writers lists the other processes that keep the writers' turn or the file at
// this moment, by their numbers as seen from here.
func (s *Store) Writers() ([]int, error) {
	pids, err := s.lockOwners()
	return slices.DeleteFunc(pids, func(pid int) bool { return pid <= 0 }), err
}
