package rundir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Forking notes that a worker is about to be forked. Until then a run that dies has
// tried nothing. It is not synced: it means nothing in another boot.
func (d Dir) Forking() error { return d.mark(filepath.Join(d.path, "forking")) }

// mark puts a file in place that says something by being there. A second name of the
// run's lock costs less than a new file.
func (d Dir) mark(path string) error {
	if err := os.Link(filepath.Join(d.path, "lock"), path); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// Forked reports whether a worker may have been forked in the present boot.
func (d Dir) Forked() bool {
	_, err := os.Lstat(filepath.Join(d.path, "forking"))
	return !errors.Is(err, fs.ErrNotExist)
}
