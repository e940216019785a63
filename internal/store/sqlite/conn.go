package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	sqlite "modernc.org/sqlite"
)

// conn is the connection that writes, on the driver itself: its statements are
// prepared once and used by one goroutine, so what database/sql adds (a pool,
// locks, conversions by reflection) would only cost, about as much as SQLite.
type conn struct {
	c     driver.Conn
	file  sqlite.FileControl
	stats sqlite.DBStatus
	stmts map[string]statement
	args  []driver.NamedValue
}

// statement is what the driver's are.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// connect opens the database at dsn.
func connect(dsn string) (*conn, error) {
	d, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	dc, err := d.Connect(context.Background())
	if err != nil {
		return nil, err
	}
	c := &conn{c: dc, stmts: map[string]statement{}}
	var files, counts bool
	c.file, files = dc.(sqlite.FileControl)
	c.stats, counts = dc.(sqlite.DBStatus)
	if !files || !counts {
		return c, fmt.Errorf("a %T is not the connection that was expected", dc)
	}
	// The -wal stays when the last process leaves, so that the next one does
	// not have to make it anew.
	_, err = c.file.FileControlPersistWAL("main", 1)
	return c, err
}

// version changes whenever the content of the file does, by whomever. What
// others did is seen from the next BEGIN on.
func (c *conn) version() (int64, error) {
	v, err := c.file.FileControlDataVersion("main")
	return int64(v), err
}

// written is how many pages it has put into the -wal since the last call.
func (c *conn) written() int {
	n, _, _ := c.stats.Status(sqlite.DBStatusCacheWrite, true) // it is one that there is
	return n
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		s.Close() //nolint:errcheck // it tells how its last use ended
	}
	return c.c.Close()
}

func (c *conn) prepare(q string) (statement, error) {
	if s, ok := c.stmts[q]; ok {
		return s, nil
	}
	p, err := c.c.Prepare(q)
	if err != nil {
		return nil, err
	}
	s, ok := p.(statement)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a %T is not the statement that was expected", p), p.Close())
	}
	c.stmts[q] = s
	return s, nil
}

// values gives args in the driver's form. They are good until the next call.
func (c *conn) values(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		if n, ok := a.(int); ok {
			a = int64(n)
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// exec gives the number of rows changed, and that of the row inserted last.
func (c *conn) exec(q string, args []any) (driver.Result, error) {
	s, err := c.prepare(q)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(context.Background(), c.values(args))
}

// query gives the rows, to be closed before the statement is used again.
func (c *conn) query(q string, args []any) (driver.Rows, error) {
	s, err := c.prepare(q)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(context.Background(), c.values(args))
}

// record is one row as the driver gives it.
type record []driver.Value

// Scan is as that of sql.Rows, for the few kinds that our columns have.
func (r record) Scan(dest ...any) error {
	if len(dest) != len(r) {
		return fmt.Errorf("%d columns for %d variables", len(r), len(dest))
	}
	for i, d := range dest {
		ok := false
		switch d := d.(type) {
		case *int64:
			*d, ok = r[i].(int64)
		case *int:
			var n int64
			n, ok = r[i].(int64)
			*d = int(n)
		case *bool:
			var n int64
			n, ok = r[i].(int64)
			*d = n != 0
		case *string:
			*d, ok = r[i].(string)
		case *[]byte:
			*d, ok = r[i].([]byte)
		}
		if !ok {
			return fmt.Errorf("column %d is a %T and cannot go into a %T", i, r[i], d)
		}
	}
	return nil
}
