package hook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// Bounds of a body, in bytes.
const (
	// maxBody is the largest that is taken: what GitHub sends at most.
	maxBody = 25 << 20
	// spoolOver is the size beyond which a body goes to a file.
	spoolOver = 1 << 20
	// smallBody is the size up to which a body waits for nobody.
	smallBody = 128 << 10
	// usualBody is what most bodies fit in.
	usualBody = 32 << 10
)

// patience is how long things may take.
type patience struct {
	read  time.Duration // a body in memory
	spool time.Duration // each portion of the rest of one in a file
	turn  time.Duration // waiting for other large bodies
}

// Forges themselves give up after 5 to 10 s.
func usual() patience {
	return patience{read: 10 * time.Second, spool: 5 * time.Second, turn: 5 * time.Second}
}

// body is a delivery's body, in memory or in a file.
type body struct {
	data    []byte
	file    *spool   // nil if it is all in data
	release []func() // gives turns back
}

// newBody begins a body in memory that an earlier one of usual size has given back:
// in a storm making it anew costs as much as reading it.
func (s *handler) newBody() *body {
	buf, _ := s.buffers.Get().(*[]byte)
	if buf == nil {
		fresh := make([]byte, 0, usualBody)
		buf = &fresh
	}
	return &body{data: (*buf)[:0], release: []func(){func() { s.buffers.Put(buf) }}}
}

// read takes the body in as far as the bounds allow, and seals it.
func (s *handler) read(w http.ResponseWriter, r *http.Request, seal *seal, id string) (_ *body, err error) {
	if r.ContentLength > maxBody {
		return nil, tooLarge()
	}
	b := s.newBody()
	defer func() {
		if err != nil {
			b.close(err)
			return
		}
		readWithin(w, 0) // the sink takes its time
	}()
	in := http.MaxBytesReader(w, r.Body, maxBody)
	if b.data, err = readUpTo(in, b.data, smallBody); err != nil || len(b.data) < smallBody {
		return b, b.sealed(seal, err)
	}
	if err = b.take(r.Context(), s.turns.medium, s.patience.turn); err != nil {
		return b, err
	}
	if b.data, err = readUpTo(in, b.data, spoolOver+1); err != nil || len(b.data) <= spoolOver {
		return b, b.sealed(seal, err)
	}
	if err = b.take(r.Context(), s.turns.large, s.patience.turn); err != nil {
		return b, err
	}
	if b.file, err = newSpool(s.SpoolDir, id); err != nil {
		return b, err
	}
	if err = b.sealed(seal, nil); err != nil {
		return b, err
	}
	if _, err = b.file.Write(b.data); err != nil {
		return b, err
	}
	b.data = nil
	return b, b.file.fill(&paced{in: in, w: w, each: s.patience.spool}, seal)
}

// portion is what must come of a large body in one time of patience: there are few
// places for them, and nobody keeps one by dripping.
const portion = 256 << 10

// paced reads a body whose every portion must come in time.
type paced struct {
	in   io.Reader
	w    http.ResponseWriter
	each time.Duration
	left int // of this portion
}

// Read implements io.Reader.
func (p *paced) Read(b []byte) (int, error) {
	if p.left <= 0 {
		p.left = portion
		readWithin(p.w, p.each)
	}
	n, err := p.in.Read(b)
	p.left -= n
	return n, err
}

// readWithin bounds how long the body may take from now on, the part of a refused
// one too that the server reads away; 0 ends that. A connection that cannot be
// bounded so (a test's) goes without.
func readWithin(w http.ResponseWriter, d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = http.NewResponseController(w).SetReadDeadline(at)
}

// sealed passes what is in memory to the seal.
func (b *body) sealed(seal *seal, err error) error {
	if err != nil {
		return readError(err)
	}
	_, err = seal.Write(b.data)
	return err
}

// take waits for a turn that the body keeps until it is closed.
func (b *body) take(ctx context.Context, t turn, patience time.Duration) error {
	err := t.take(ctx, patience)
	if err == nil {
		b.release = append(b.release, t.give)
	}
	return err
}

// close ends the body. With an error its file goes, unless it may be in use.
func (b *body) close(err error) {
	if b.file != nil {
		b.file.close(err)
	}
	for _, release := range b.release {
		release()
	}
}

// readUpTo reads until the end, or until there are n bytes. It trusts no length that
// was declared, only what comes.
func readUpTo(in io.Reader, data []byte, n int) ([]byte, error) {
	for len(data) < n {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		got, err := in.Read(data[len(data):min(cap(data), n)])
		data = data[:len(data)+got]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return data, err
		}
	}
	return data, nil
}

func tooLarge() error {
	return refuse(http.StatusRequestEntityTooLarge, "too_large", "the body is larger than 25 MiB")
}

// readError tells what kept a body from being read.
func readError(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(http.StatusRequestTimeout, "broken", "the body did not arrive in time")
	}
	return refuse(http.StatusBadRequest, "broken", "the body did not arrive whole")
}
