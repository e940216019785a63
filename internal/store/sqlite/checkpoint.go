package sqlite

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
)

// tend has the -wal moved if it has become long. Those who wait for the commit have
// their answers. What fails here is tried again after the next one.
func (w *writer) tend() {
	if w.commits < manyCommits || w.damaged || w.mover == nil && !w.settle() {
		return
	}
	select {
	case <-w.moved:
		// Only a -wal that is moved to its end begins anew. What came meanwhile is
		// little, and now we add nothing to it.
		w.moved = nil
		w.conn.exec("PRAGMA wal_checkpoint(PASSIVE)", nil) //nolint:errcheck
	default:
		if w.moved == nil && w.long() {
			w.move()
		}
	}
}

// settle prepares for a long life.
func (w *writer) settle() bool {
	c, err := connect(dsn(w.s.path, "rw", ""))
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

// long reports whether the -wal is.
func (w *writer) long() bool {
	var busy, pages, moved int
	t := &tx{w: w}
	_, err := t.one("PRAGMA wal_checkpoint(NOOP)", nil, &busy, &pages, &moved)
	return err == nil && pages-moved >= moveAt
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
