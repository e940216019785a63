package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Home is the state folder that runs and registry lie in: the folder of the
// store's file, or the one configured for stores elsewhere.
type Home struct{ path string }

// In names the state folder. Nothing is created before Create.
func In(state string) Home { return Home{state} }

// Dir returns the folder of a run, which need not exist.
func (h Home) Dir(run string) (Dir, error) {
	if err := checkName(run); err != nil {
		return Dir{}, err
	}
	return Dir{filepath.Join(h.path, "runs", run)}, nil
}

// Create makes the folder of a new run. It is an error if it exists.
func (h Home) Create(run string) (Dir, error) {
	d, err := h.Dir(run)
	if err != nil {
		return Dir{}, err
	}
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return Dir{}, err
	}
	return d, os.Mkdir(d.path, 0o700)
}

// Enter notes that a tree of the run may exist. The entry is not synced to disk:
// a machine that went down took the tree with it.
func (h Home) Enter(slug, run string) error {
	path, err := h.entry(slug, run)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	d, err := h.Dir(run)
	if err == nil {
		err = d.mark(path)
	}
	if errors.Is(err, fs.ErrNotExist) { // Leave of another run took the folder
		return h.Enter(slug, run)
	}
	return err
}

// Leave notes that the run's tree is gone. Leaving twice is harmless.
func (h Home) Leave(slug, run string) error {
	path, err := h.entry(slug, run)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	os.Remove(filepath.Dir(path)) // only goes if it was the last
	return nil
}

// Open lists the runs of a slot that did not leave, in the order of their names.
// Names that are no run's are passed over.
func (h Home) Open(slug string) ([]string, error) {
	if err := checkName(slug); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(h.path, "live", slug))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var runs []string
	for _, e := range entries {
		if checkName(e.Name()) == nil && e.Type().IsRegular() {
			runs = append(runs, e.Name())
		}
	}
	slices.Sort(runs)
	return runs, nil
}

func (h Home) entry(slug, run string) (string, error) {
	if err := errors.Join(checkName(slug), checkName(run)); err != nil {
		return "", err
	}
	return filepath.Join(h.path, "live", slug, run), nil
}

// checkName keeps names that came from a database or a folder from being paths.
func checkName(name string) error {
	ok := len(name) > 0 && len(name) <= 64 && name[0] != '.'
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			ok = false
		}
	}
	if !ok {
		return fmt.Errorf("%q is not a run's or a slot's name", name)
	}
	return nil
}
