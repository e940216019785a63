package sqlite

import "io"

// A process that writes all the time has the -wal moved into the file beside its
// writer, on a connection of its own: in the writer's way all would wait for it. And
// it moves more at once, for a page that many commits have changed is moved once.

const (
	// manyCommits is when a process has written so often that it will not end soon.
	manyCommits = 64
	// moveAt is how many pages of the -wal, of 4 KiB, are moved then.
	moveAt = 4000
	// moveLast is when the writer moves them itself after all.
	moveLast = "16000"
	// lookAt is after how many pages it is looked how long the -wal is.
	lookAt = 32
	// frame is a page in the -wal (https://sqlite.org/walformat.html), ahead how much
	// room is made behind the last one.
	frame, ahead = 24 + 4096, 256 * frame
)

// tend has the -wal moved if it has become long. Nobody waits for that but who writes
// alone. What fails here is tried again after the next commit.
func (w *writer) tend() {
	if w.commits < manyCommits || w.damaged || w.mover == nil && !w.settle() || w.added < lookAt {
		return
	}
	w.added = 0
	select {
	case <-w.moved:
		// Only a -wal that is moved to its end begins anew. What came meanwhile is
		// little, and now we add nothing to it.
		w.moved = nil
		w.conn.exec("PRAGMA wal_checkpoint(PASSIVE)", nil) //nolint:errcheck
	default:
	}
	var busy, pages, moved int64
	t := &tx{w: w}
	if _, err := t.one("PRAGMA wal_checkpoint(NOOP)", nil, &busy, &pages, &moved); err != nil {
		return
	}
	w.logged = pages * frame
	if w.moved == nil && pages-moved >= moveAt {
		w.move()
	}
}

// settle prepares for a long life.
func (w *writer) settle() bool {
	c, err := connect(dsn(w.s.path, "rw", syncsAll, ""))
	if err == nil {
		_, err = w.conn.exec("PRAGMA wal_autocheckpoint = "+moveLast, nil)
	}
	if err == nil {
		w.mover = c
	} else if c != nil {
		c.close() //nolint:errcheck // it wrote nothing
	}
	return err == nil
}

// widen makes the -wal longer before it is full. A commit that only writes over what
// is there changes nothing of the file system's own, which syncs several times as
// fast. It is called under SQLite's write lock: nobody else adds to the -wal.
func (w *writer) widen() {
	if w.mover == nil {
		return
	}
	// Not Stat: a file whose times were asked for is given new ones by the next write,
	// which then is synced too.
	size, err := w.log.Seek(0, io.SeekEnd)
	if err != nil || size > w.logged+ahead/4 {
		return
	}
	// On a full disk there is no more room than there was.
	w.log.Write(make([]byte, ahead)) //nolint:errcheck
}

// move moves it, beside.
func (w *writer) move() {
	done := make(chan struct{})
	w.moved = done
	go func() {
		defer close(done)
		w.mover.exec("PRAGMA wal_checkpoint(PASSIVE)", nil) //nolint:errcheck
	}()
}

// still ends the moving.
func (w *writer) still() {
	if w.moved != nil {
		<-w.moved
	}
	if w.mover != nil {
		w.mover.close() //nolint:errcheck // it holds nothing
	}
}
