package supervise

import (
	"errors"
	"io"
	"math"
	"os"
	"slices"
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

// openStdio prepares the three descriptors of the worker. An output of ours that
// takes no more is told to broken, once each, beside everything else.
func openStdio(in, out, err *os.File, log io.Writer, broken func(name string, err error)) (*stdio, error) {
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
			p := newPump(r, f, log)
			p.pipe, p.broken = true, func(err error) { broken(outputs[i], err) }
			s.pumps = append(s.pumps, p)
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

// lost reports whether any output could not be passed on. A reader that went away
// wanted no more: that is not a loss.
func (s *stdio) lost() bool {
	return slices.ContainsFunc(s.pumps, func(p *pump) bool { return p.lost.Load() })
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

	pipe   bool        // from a pipe; a terminal that goes away is no error
	broken func(error) // is told of a loss; of a pipe only
	lost   atomic.Bool
}

// outputs are the names of the descriptors, for people.
var outputs = [3]string{1: "standard output", 2: "standard error"}

func newPump(from, to *os.File, log io.Writer) *pump {
	return &pump{from: from, to: to, log: log, done: make(chan struct{})}
}

func (p *pump) run() {
	defer close(p.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := p.from.Read(buf)
		heard := p.pass(buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			p.rest(buf, math.MaxInt)
		}
		if !heard {
			// The worker's own pipe breaks next, as it would without us.
			p.rest(buf, pipeSize)
			p.from.Close()
			return
		}
		if err != nil { // the end; on a terminal it is EIO
			return
		}
	}
}

// pipeSize is how much may lie in a pipe (pipe(7)).
const pipeSize = 64 << 10

// rest takes what lies in the pipe when nobody waits for more, at most so many
// bytes and a buffer.
func (p *pump) rest(buf []byte, most int) {
	conn, err := p.from.SyscallConn()
	if err != nil {
		return
	}
	for n := 1; n > 0 && most > 0; most -= n {
		err := conn.Control(func(fd uintptr) { n, _ = unix.Read(int(fd), buf) })
		if err != nil || n <= 0 {
			return
		}
		p.pass(buf[:n])
	}
}

// pass writes to the log first: a reader that went away, or that is slow, must
// not cost the log anything. It reports whether anybody but the log may want more.
func (p *pump) pass(b []byte) (heard bool) {
	if len(b) == 0 {
		return true
	}
	p.log.Write(b)
	if p.to == nil {
		return true
	}
	p.writing.Store(true)
	_, err := p.to.Write(b)
	p.writing.Store(false)
	if err == nil {
		return true
	}
	p.to = nil
	switch {
	case !p.pipe:
	case errors.Is(err, unix.EPIPE):
		return false
	default: // the work goes on, and the log
		p.lost.Store(true)
		p.broken(err)
	}
	return true
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
