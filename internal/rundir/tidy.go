package rundir

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// tidyMost bounds what one Tidy removes, so that nobody waits long for it.
const tidyMost = 2000

// tooYoung protects a run that has its folder but is not in the registry yet.
const tooYoung = time.Minute

// Tidy removes the folders of runs that ended before the given time, then the
// oldest of the rest until all together have at most the given bytes. A run that
// did not leave the registry is never touched. It returns how many it removed.
func (h Home) Tidy(before time.Time, bytes int64) (removed int, err error) {
	open, err := h.everyOpen()
	if err != nil {
		return 0, err
	}
	names, err := h.Runs()
	if err != nil {
		return 0, err
	}
	type folder struct {
		path string
		end  time.Time
		size int64
	}
	var all []folder
	var total int64
	for _, run := range names {
		d, err := h.Dir(run)
		if err != nil || open[run] {
			continue
		}
		end, size, err := d.measure()
		if err != nil {
			continue // somebody else tidies too
		}
		all, total = append(all, folder{d.path, end, size}), total+size
	}
	slices.SortFunc(all, func(a, b folder) int { return cmp.Or(a.end.Compare(b.end), cmp.Compare(a.path, b.path)) })
	for _, f := range all[:min(len(all), tidyMost)] {
		if !f.end.Before(before) && total <= bytes || time.Since(f.end) < tooYoung {
			break
		}
		if e := os.RemoveAll(f.path); e != nil {
			err = errors.Join(err, e)
			continue
		}
		removed, total = removed+1, total-f.size
	}
	return removed, err
}

// everyOpen lists the runs of all slots that did not leave.
func (h Home) everyOpen() (map[string]bool, error) {
	open := map[string]bool{}
	slots, err := h.Slots()
	if err != nil {
		return nil, err
	}
	for _, slug := range slots {
		runs, err := h.Open(slug)
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			open[run] = true
		}
	}
	return open, nil
}

// measure says when the run was last written to, and how much it takes.
func (d Dir) measure() (end time.Time, size int64, err error) {
	err = filepath.WalkDir(d.path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		if size += fi.Size(); fi.ModTime().After(end) {
			end = fi.ModTime()
		}
		return nil
	})
	return end, size, err
}
