package hook

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/oneslot/oneslot/internal/slot"
)

// part ends the names of files that are still being written.
const part = ".part"

// spool is a body in a file: NAME.part while it arrives, NAME once it is whole,
// signed and on disk.
type spool struct {
	*os.File
	path string // of the whole file
	kept bool
}

func newSpool(dir, id string) (*spool, error) {
	path := filepath.Join(dir, id+".body")
	f, err := os.OpenFile(path+part, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &spool{File: f, path: path}, nil
}

// fill takes in the rest of a body. What the disk refuses is not the sender's fault.
func (s *spool) fill(in io.Reader, seal *seal) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		if _, err := s.Write(buf[:n]); err != nil {
			return err
		}
		if _, err := seal.Write(buf[:n]); err != nil {
			return err
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return readError(err)
		}
	}
}

// read reads all of it back.
func (s *spool) read() ([]byte, error) {
	size, err := s.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	text := make([]byte, size)
	if _, err := s.ReadAt(text, 0); err != nil && err != io.EOF {
		return nil, err
	}
	return text, nil
}

// keep makes the file last, with this text: that of a form is not what came.
func (s *spool) keep(text []byte) (path string, err error) {
	size, err := s.Seek(0, io.SeekEnd)
	if err == nil && size != int64(len(text)) {
		if err = s.Truncate(0); err == nil {
			_, err = s.WriteAt(text, 0)
		}
	}
	if err == nil {
		err = s.Sync()
	}
	if err == nil {
		err = os.Rename(s.path+part, s.path)
	}
	if err != nil {
		return "", err
	}
	s.kept = true
	return s.path, syncDir(filepath.Dir(s.path))
}

// close ends the writing. With an error the file goes, unless a transaction that
// may have been committed names it.
func (s *spool) close(err error) {
	_ = s.Close() // synced, or of no use
	switch {
	case !s.kept:
		_ = os.Remove(s.path + part) // Tidy takes what stays
	case err != nil && !errors.Is(err, slot.ErrUnknown):
		_ = os.Remove(s.path)
	}
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

// Tidy removes the bodies that a killed process left half written. Call it before
// the handler serves, and never beside another one of the same folder.
func Tidy(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".body"+part) {
			errs = append(errs, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
