package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// The files of a once in its run's folder. The seal is written last, and only
// for a result that others may have.
const (
	onceOut  = "stdout"
	onceErr  = "stderr"
	onceSeal = "once.json"
)

// onceLimit bounds what is kept of both outputs together, in bytes.
const onceLimit = 64 << 20

// onceResult is what a run left for others.
type onceResult struct {
	Code int  `json:"code"`
	Over bool `json:"over"` // more was printed than is kept

	dir string
}

// readResult reads the result of a run; nil if it left none (yet).
func readResult(dir string) (*onceResult, error) {
	if dir == "" {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Join(dir, onceSeal))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	res := &onceResult{dir: dir}
	if err := json.Unmarshal(data, res); err != nil || res.Code < 0 || res.Code > 255 {
		return nil, fmt.Errorf("%s is damaged", filepath.Join(dir, onceSeal))
	}
	return res, nil
}

// recorder keeps what a run prints and passes it on. What is kept never waits
// for our own reader: others do not depend on it.
type recorder struct {
	dir     string
	streams [2]*stream

	mu   sync.Mutex
	room int64 // left of onceLimit
	over bool
}

// stream is one of the two outputs.
type stream struct {
	rec  *recorder
	name string
	r, w *os.File // the pipe that the run writes to
	to   io.Writer

	wrote chan struct{} // there may be more in the file
	kept  chan struct{} // nothing more comes into the file
	done  chan struct{} // all was passed on
	file  *os.File
	err   error
	late  io.Reader // what came when there was no room, to be passed on directly
}

func newRecorder(dir string, out, err *os.File) (*recorder, error) {
	rec := &recorder{dir: dir, room: onceLimit}
	for i, s := range []struct {
		name string
		to   *os.File
	}{{onceOut, out}, {onceErr, err}} {
		r, w, e := os.Pipe()
		if e != nil {
			return nil, e
		}
		rec.streams[i] = &stream{
			rec: rec, name: s.name, r: r, w: w, to: s.to,
			wrote: make(chan struct{}, 1), kept: make(chan struct{}), done: make(chan struct{}),
		}
		go rec.streams[i].keep()
	}
	return rec, nil
}

// writer is the end that the run writes to.
func (rec *recorder) writer(i int) *os.File { return rec.streams[i].w }

// keep stores what comes, for as long as there is room. The folder is made by
// the run, before it prints anything.
func (s *stream) keep() {
	buf := make([]byte, 64<<10)
	started := false
	start := func() {
		if !started {
			started = true
			s.err = s.open()
			go s.pass()
		}
	}
	for {
		n, err := s.r.Read(buf)
		if n > 0 {
			start()
			if rest := s.store(buf[:n]); len(rest) > 0 {
				s.late = io.MultiReader(bytes.NewReader(rest), s.r)
				break
			}
		}
		if err != nil {
			break
		}
	}
	start()
	close(s.kept)
}

func (s *stream) open() (err error) {
	if err := os.MkdirAll(s.rec.dir, 0o700); err != nil {
		return err
	}
	s.file, err = os.OpenFile(filepath.Join(s.rec.dir, s.name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	return err
}

// store keeps what there is room for, and returns a copy of the rest.
func (s *stream) store(b []byte) (rest []byte) {
	s.rec.mu.Lock()
	n := min(int64(len(b)), s.rec.room)
	s.rec.room -= n
	s.rec.over = s.rec.over || n < int64(len(b))
	s.rec.mu.Unlock()
	if s.err == nil {
		_, s.err = s.file.Write(b[:n])
	}
	if s.err != nil { // full disk: nobody but our reader gets it
		return append([]byte(nil), b...)
	}
	select {
	case s.wrote <- struct{}{}:
	default:
	}
	return append([]byte(nil), b[n:]...)
}

// pass gives our reader what is kept, as it comes, and then what is not.
func (s *stream) pass() {
	defer close(s.done)
	at := int64(0)
	more := func() {
		if s.file == nil {
			return
		}
		n, err := io.Copy(s.to, io.NewSectionReader(s.file, at, 1<<62))
		if at += n; err != nil {
			s.to = io.Discard // our reader went away
		}
	}
	for open := true; open; {
		select {
		case <-s.wrote:
		case <-s.kept:
			open = false
		}
		more()
	}
	if s.late != nil {
		if _, err := io.Copy(s.to, s.late); err != nil {
			io.Copy(io.Discard, s.late) //nolint:errcheck // only so that the command can end
		}
	}
}

// finish is called when the run has ended; it returns when nothing more will be
// kept. Ours are the last copies of the pipes' ends: the worker had others.
func (rec *recorder) finish() error {
	var errs []error
	for _, s := range rec.streams {
		s.w.Close()
		<-s.kept
		errs = append(errs, s.err)
	}
	return errors.Join(errs...)
}

// seal makes the result known to others.
func (rec *recorder) seal(code int) error {
	data, err := json.Marshal(onceResult{Code: code, Over: rec.over})
	if err != nil {
		return err
	}
	path := filepath.Join(rec.dir, onceSeal)
	if err := os.WriteFile(path+".tmp", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// wait returns when our own reader has everything.
func (rec *recorder) wait() {
	for _, s := range rec.streams {
		<-s.done
	}
}

func copyFile(to io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(to, f)
	return err
}
