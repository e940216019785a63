package rundir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Slots lists the slugs of all slots with runs that did not leave.
func (h Home) Slots() ([]string, error) { return h.names("live") }

// Runs lists the ids of all runs that have a folder.
func (h Home) Runs() ([]string, error) { return h.names("runs") }

// names lists the folders below one of ours whose names we could have given.
func (h Home) names(below string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(h.path, below))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && checkName(e.Name()) == nil {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
