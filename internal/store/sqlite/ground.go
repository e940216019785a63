package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/oneslot/oneslot/internal/slot"
)

// checkGround refuses a place where SQLite's locks or its durability cannot be
// relied on, before anything there is touched.
func checkGround(path string) error {
	store := "sqlite:" + path
	dir := existing(filepath.Dir(path))
	if kind, err := networkFS(dir); err != nil {
		return &slot.UnknownError{Op: "open", Store: store, Err: err}
	} else if kind != "" {
		return &slot.UnknownError{Op: "open", Store: store,
			Err:  fmt.Errorf("%s is on a network file system (%s), where file locks do not exclude", dir, kind),
			Hint: "put the store on a local disk, or share one store through a server"}
	}
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case errors.Is(err, os.ErrPermission):
		return foreign(store, path, err)
	case err != nil:
		return &slot.UnknownError{Op: "open", Store: store, Err: err}
	}
	if err := plausible(fi); err != nil {
		return &slot.UnknownError{Op: "open", Store: store, Err: err, Hint: hintCorrupt}
	}
	if uid, ok := owner(fi); ok && uid != os.Geteuid() && os.Geteuid() != 0 && !writable(path) {
		return foreign(store, path, fmt.Errorf("it belongs to user %d", uid))
	}
	return nil
}

const hintCorrupt = "the file is left as it is; if it held nothing, move it away and the next claim makes a new one"

// plausible refuses what cannot be a database of ours by its size alone; SQLite
// itself finds the rest.
func plausible(fi os.FileInfo) error {
	switch {
	case fi.IsDir():
		return fmt.Errorf("%s is a folder, not a database", fi.Name())
	case fi.Size() == 0:
		return fmt.Errorf("%s has no bytes: a database was cut off or never written", fi.Name())
	case fi.Size()%512 != 0 || fi.Size() < 4096:
		return fmt.Errorf("%s has %d bytes: a database was cut off, or it is something else", fi.Name(), fi.Size())
	}
	return nil
}

func foreign(store, path string, err error) error {
	return fmt.Errorf("%w: %s: %v; to share one store between users, run a server and use its unix: address",
		slot.ErrNotAllowed, store, err)
}

// existing is the nearest folder at or above dir that exists.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
