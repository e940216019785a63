package supervise

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// stdio is what the worker reads and writes: a terminal stays a terminal, pipes
// stay two pipes. Whatever it prints also goes to the log.
type stdio struct {
	files [3]*os.File // the worker's ends
	ours  []*os.File  // those of files that must be closed here after the fork
	pumps []*pump
	term  *terminal // nil if none of the three is a terminal
}

// openStdio prepares the three descriptors of the worker.
func openStdio(in, out, err *os.File, log io.Writer) (*stdio, error) {
	s := &stdio{files: [3]*os.File{in, out, err}}
	t, e := openTerminal(in, out, err)
	if e != nil {
		return nil, e
	}
	if t != nil {
		s.term = t
		s.ours = append(s.ours, t.inner)
		s.pumps = append(s.pumps, newPump(t.master, t.outer(), log))
	}
	for i, f := range s.files {
		switch {
		case t != nil && t.is[i]:
			s.files[i] = t.inner
		case i > 0:
			r, w, e := os.Pipe()
			if e == nil {
				e = blocking(w)
			}
			if e != nil {
				s.close()
				return nil, e
			}
			s.files[i] = w
			s.ours = append(s.ours, w)
			s.pumps = append(s.pumps, newPump(r, f, log))
		}
	}
	return s, nil
}

// started is called after the fork (or its failure): the copies of the worker's
// ends go, so that their end is seen, and the output begins to flow.
func (s *stdio) started() {
	for _, f := range s.ours {
		f.Close()
	}
	s.ours = nil
	for _, p := range s.pumps {
		go p.run()
	}
	if s.term != nil {
		s.term.start()
	}
}

// drain waits for the rest of the output, at most for the given time. To be
// called when the tree is gone; it may be called again.
func (s *stdio) drain(most time.Duration) {
	until := time.Now().Add(most)
	for _, p := range s.pumps {
		p.drain(until)
	}
}

// close restores the terminal and lets go of everything.
func (s *stdio) close() {
	if s.term != nil {
		s.term.stop()
	}
	for _, f := range s.ours {
		f.Close()
	}
	for _, p := range s.pumps {
		p.from.Close()
	}
}

// pump copies what the worker prints, as it comes, to the log and to us.
type pump struct {
	from    *os.File
	to      *os.File
	log     io.Writer
	writing atomic.Bool // it waits for our reader, not for the worker
	done    chan struct{}
}

func newPump(from, to *os.File, log io.Writer) *pump {
	return &pump{from: from, to: to, log: log, done: make(chan struct{})}
}

func (p *pump) run() {
	defer close(p.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := p.from.Read(buf)
		p.pass(buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			p.rest(buf)
		}
		if err != nil { // the end; on a terminal it is EIO
			return
		}
	}
}

// rest takes what lies in the pipe when nobody waits for more.
func (p *pump) rest(buf []byte) {
	conn, err := p.from.SyscallConn()
	if err != nil {
		return
	}
	for n := 1; n > 0; {
		err := conn.Control(func(fd uintptr) { n, _ = unix.Read(int(fd), buf) })
		if err != nil || n <= 0 {
			return
		}
		p.pass(buf[:n])
	}
}

// pass writes to the log first: a reader that went away, or that is slow, must
// not cost the log anything.
func (p *pump) pass(b []byte) {
	if len(b) == 0 {
		return
	}
	p.log.Write(b)
	if p.to == nil {
		return
	}
	p.writing.Store(true)
	if _, err := p.to.Write(b); err != nil {
		p.to = nil
	}
	p.writing.Store(false)
}

// heldOpen is how long a pipe may stay open without a word when the tree is
// gone: then somebody outside of it holds the other end.
const heldOpen = 100 * time.Millisecond

func (p *pump) drain(until time.Time) {
	for time.Now().Before(until) {
		wait := min(heldOpen, time.Until(until))
		select {
		case <-p.done:
			return
		case <-time.After(wait):
		}
		if !p.writing.Load() {
			p.from.SetReadDeadline(time.Now())
		}
	}
}

// blocking undoes what os.Pipe does for its own ends: a worker expects that its
// output waits.
func blocking(f *os.File) error { return unix.SetNonblock(int(rawFD(f)), false) }
