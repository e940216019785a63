package sqlite

import (
	"context"
	"errors"
)

// Verify has SQLite read the whole file and report damage. It takes as long as
// the file is big; a file that does not exist is sound.
func (s *Store) Verify(ctx context.Context) error {
	db, ok, err := s.reader(ctx)
	if err != nil || !ok {
		return err
	}
	var word string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&word); err != nil {
		return s.unknown("verify", err)
	}
	if word != "ok" {
		return s.unknown("verify", errors.New(word))
	}
	return nil
}
