package rundir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Forking notes that a worker is about to be forked. Until then a run that dies has
// tried nothing. It is not synced: it means nothing in another boot.
func (d Dir) Forking() error { return os.WriteFile(filepath.Join(d.path, "forking"), nil, 0o600) }

// Forked reports whether a worker may have been forked in the present boot.
func (d Dir) Forked() bool {
	_, err := os.Lstat(filepath.Join(d.path, "forking"))
	return !errors.Is(err, fs.ErrNotExist)
}
