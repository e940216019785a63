package rundir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Forking notes that a worker is about to be forked. Until then a run that dies has
// tried nothing. It is not synced: it means nothing in another boot.
func (d Dir) Forking() error {
	mark := filepath.Join(d.path, "forking")
	// A second name of a file that is there costs less than a new one.
	if err := os.Link(filepath.Join(d.path, "lock"), mark); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return os.WriteFile(mark, nil, 0o600)
}

// Forked reports whether a worker may have been forked in the present boot.
func (d Dir) Forked() bool {
	_, err := os.Lstat(filepath.Join(d.path, "forking"))
	return !errors.Is(err, fs.ErrNotExist)
}
