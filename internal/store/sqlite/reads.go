package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// readers is how many reads go on at once.
const readers = 4

// reads is the database as it is read. A statement is parsed once for each of its
// connections, which costs more than most answers; their texts are few.
type reads struct {
	*sql.DB
	prepared sync.Map // *sql.Stmt by its text; each lives as long as the database
	step3    atomic.Bool
}

// old reports whether the file lacks what step 3 of the schema adds: who only reads
// leaves that to the first write.
func (r *reads) old() bool { return !r.step3.Load() }

// judge finds out whether it is old. What cannot be read is told by who reads it.
func (r *reads) judge(ctx context.Context) {
	var version int
	if r.old() && r.DB.QueryRowContext(ctx, "SELECT version FROM meta").Scan(&version) == nil {
		r.step3.Store(version >= 3)
	}
}

// before is what reads of what step 3 added are to an old file.
var before = strings.NewReplacer("i.spent", "0", ", also", ", ''")

// noted reads one row of what step 3 of the schema added, and reports whether there
// was one.
func (s *Store) noted(ctx context.Context, query string, args []any, dest ...any) (found bool, err error) {
	if s.writes.Load() {
		select {
		case <-s.opened:
		case <-time.After(openSoon): // somebody keeps the writers' turn
		}
		if s.busy.TryLock() {
			defer s.busy.Unlock()
			if s.w != nil && s.broken == nil {
				if err := s.w.same(); err != nil {
					return false, err
				}
				found, err = (&tx{w: s.w}).one(query, args, dest...)
				return found, s.unknown("read", err)
			}
		}
	}
	db, ok, err := s.reader(ctx)
	if err != nil || !ok || db.old() {
		return false, err
	}
	err = db.QueryRowContext(ctx, query, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, s.unknown("read", err)
}

func openReads(path string) (*reads, error) {
	db, err := sql.Open("sqlite", dsn(path, "ro", syncsAll, "_pragma=query_only(1)"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	return &reads{DB: db}, nil
}

func (r *reads) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := r.prepared.Load(query); ok {
		return s.(*sql.Stmt), nil
	}
	s, err := r.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if first, ok := r.prepared.LoadOrStore(query, s); ok {
		s.Close() //nolint:errcheck // it was never used
		return first.(*sql.Stmt), nil
	}
	return s, nil
}

// QueryContext is as that of sql.DB.
func (r *reads) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if r.old() {
		query = before.Replace(query)
	}
	s, err := r.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// QueryRowContext is as that of sql.DB.
func (r *reads) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if r.old() {
		query = before.Replace(query)
	}
	s, err := r.stmt(ctx, query)
	if err != nil { // it tells again
		return r.DB.QueryRowContext(ctx, query, args...)
	}
	return s.QueryRowContext(ctx, args...)
}
