package measure

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// raw writes the rows of claim and release with the fewest statements that can:
// no reading, no judging, no line, no refusal. It uses the store's driver,
// schema, settings and file.
type raw struct {
	db      *sql.DB
	conn    *sql.Conn
	prep    map[string]*sql.Stmt
	commits int
}

// manyCommits is from when on the store moves the -wal into the file less often.
const manyCommits = 64

// openRaw opens a database that the store has made, and that it has closed.
func openRaw(ctx context.Context, path string, pragmas ...string) (*raw, error) {
	u := url.URL{Scheme: "file", OmitHost: true, Path: path}
	dsn := u.String() + "?mode=rw&_pragma=busy_timeout(5000)&_pragma=synchronous(2)&_pragma=wal_autocheckpoint(96)"
	for _, p := range pragmas {
		dsn += "&_pragma=" + p
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &raw{db: db, conn: conn, prep: map[string]*sql.Stmt{}}, nil
}

func (r *raw) Close() error {
	for _, s := range r.prep {
		s.Close() //nolint:errcheck // the connection goes too
	}
	return errors.Join(r.conn.Close(), r.db.Close())
}

func (r *raw) stmt(q string) (_ *sql.Stmt, err error) {
	s, ok := r.prep[q]
	if !ok {
		if s, err = r.conn.PrepareContext(context.Background(), q); err == nil {
			r.prep[q] = s
		}
	}
	return s, err
}

func (r *raw) exec(q string, args ...any) error {
	s, err := r.stmt(q)
	if err == nil {
		_, err = s.Exec(args...)
	}
	return err
}

// batch runs f between BEGIN IMMEDIATE and COMMIT.
func (r *raw) batch(f func() error) error {
	if err := r.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := f(); err != nil {
		return errors.Join(err, r.exec("ROLLBACK"))
	}
	if err := r.exec("COMMIT"); err != nil {
		return err
	}
	if r.commits++; r.commits == manyCommits {
		return r.exec("PRAGMA wal_autocheckpoint = 1000")
	}
	return nil
}

const rawTake = `INSERT INTO slot (slug, ref, fence, live, claim, token, program, kind, phase, host, boot, ns, pid, ticks,
	holder_boot, uid, path, command, run, dir, warden, bound, ttl, grace, began, deadline, since_at, renewed_at, expires, seq, said)
	VALUES (?, ?, ?, 1, ?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', 0, 0, ?, ?, ?, ?, ?, ?, ?, 1, ?)
	ON CONFLICT (slug) DO UPDATE SET fence = max(slot.fence + 1, excluded.fence), live = 1, claim = excluded.claim,
	token = excluded.token, program = excluded.program, kind = excluded.kind, phase = excluded.phase, host = excluded.host,
	boot = excluded.boot, ns = excluded.ns, pid = excluded.pid, ticks = excluded.ticks, holder_boot = excluded.holder_boot,
	uid = excluded.uid, path = excluded.path, command = excluded.command, run = excluded.run, dir = excluded.dir,
	warden = excluded.warden, bound = excluded.bound, ttl = excluded.ttl, grace = excluded.grace, began = excluded.began,
	deadline = excluded.deadline, since_at = excluded.since_at, renewed_at = excluded.renewed_at,
	expires = excluded.expires, stop = '', ended_at = 0, outcome = '', seq = slot.seq + 1, said = excluded.said
	RETURNING id, seq, fence`

const rawEnd = `UPDATE slot SET live = 0, ended_at = ?, outcome = '{"result":"done","exit":null}', seq = seq + 1, said = ?
	WHERE slug = ? RETURNING id, seq, fence`

const rawDecide = `INSERT INTO decision (slot, seq, at, last_at, path, verdict, reason, detail, next, fence, run)
	VALUES (?, ?, ?, ?, ?, ?, ?, '', ?, ?, '')`

// take writes what a granted detached claim writes.
func (r *raw) take(b *Bench, req claim.Request) error {
	boot, wall, h := b.clock.Boot(), b.clock.Wall(), req.Holder
	return r.row(rawTake, wall, slot.Proceed, slot.ReasonFree, "held until it is released or expires", h.Path,
		req.Ref.Slug(), req.Ref.String(), wall.UnixMilli(), req.Key.Claim, claim.HashToken(req.Key.Token), sqlite.Level(), string(req.Kind),
		h.Host, b.clock.BootID(), int64(h.Process.NS), h.Process.PID, int64(h.Process.Ticks), h.Process.Boot, h.UID, h.Path,
		h.Command, int64(req.TTL), int64(req.Grace), int64(boot), int64(boot+req.TTL), wall.UnixMilli(), wall.UnixMilli(),
		wall.Add(req.TTL).UnixMilli(), said(slot.Proceed, h.Path, slot.ReasonFree))
}

// end writes what its release writes.
func (r *raw) end(b *Bench, req claim.Request) error {
	wall, reason := b.clock.Wall(), string(slot.Done)
	return r.row(rawEnd, wall, slot.Ended, reason, "the slot is free", req.Holder.Path,
		wall.UnixMilli(), said(slot.Ended, req.Holder.Path, reason), req.Ref.Slug())
}

// row changes the slot's row and writes the decision beside it.
func (r *raw) row(q string, wall time.Time, verdict slot.Verdict, reason, next, path string, args ...any) error {
	s, err := r.stmt(q)
	if err != nil {
		return err
	}
	var id, seq, fence int64
	if err := s.QueryRow(args...).Scan(&id, &seq, &fence); err != nil {
		return err
	}
	return r.exec(rawDecide, id, seq, wall.UnixMilli(), wall.UnixMilli(), path, string(verdict), reason, next, fence)
}

func said(verdict slot.Verdict, path, reason string) string {
	return string(verdict) + "\x1f" + path + "\x1f" + reason + "\x1f\x1f"
}

// sameRows makes sure that raw still writes what the store writes: one claim
// and release by each, every column compared that is not a time or random.
func (b *Bench) sameRows(ctx context.Context) error {
	own, other := b.path(), b.path()
	req := b.request(refOf("same", 0))
	for _, path := range []string{own, other} {
		s, err := b.store(ctx, path)
		if err != nil {
			return err
		}
		if path == own {
			if _, err = s.Acquire(ctx, req); err == nil {
				_, err = s.Release(ctx, req.Key, done())
			}
		}
		if err := errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	r, err := openRaw(ctx, other)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // read from below
	if err := errors.Join(r.take(b, req), r.end(b, req)); err != nil {
		return err
	}
	if err := r.exec("ATTACH ? AS own", own); err != nil {
		return err
	}
	slug := req.Ref.Slug()
	err = r.compare(ctx, "slot", "slug = ?", slug, "fence", "began", "deadline", "since_at", "renewed_at", "expires", "ended_at")
	if err != nil {
		return err
	}
	return r.compare(ctx, "decision", "slot = (SELECT id FROM main.slot WHERE slug = ?)", slug, "at", "last_at", "fence")
}

// compare looks for a row of the store's that raw did not write alike.
func (r *raw) compare(ctx context.Context, table, where, slug string, varies ...string) error {
	names, err := r.columns(ctx, table, varies...)
	if err != nil {
		return err
	}
	var differ int
	q := fmt.Sprintf("SELECT count(*) FROM (SELECT %s FROM own.%s WHERE %s EXCEPT SELECT %[1]s FROM main.%[2]s WHERE %[3]s)", names, table, where)
	if err := r.conn.QueryRowContext(ctx, q, slug, slug).Scan(&differ); err != nil {
		return err
	}
	if differ > 0 {
		return fmt.Errorf("the raw writer does not write what the store writes into %s: %d rows differ; bring raw.go up to date", table, differ)
	}
	return nil
}

// columns lists the columns of a table, as SQL, but for some.
func (r *raw) columns(ctx context.Context, table string, but ...string) (list string, err error) {
	rows, err := r.conn.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return "", err
	}
	defer rows.Close()
next:
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return "", err
		}
		for _, b := range but {
			if b == name {
				continue next
			}
		}
		if list != "" {
			list += ", "
		}
		list += name
	}
	return list, rows.Err()
}
