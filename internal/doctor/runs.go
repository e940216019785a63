package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
)

func runs(ctx context.Context, s *Subject, r *report) {
	if s.Store == nil {
		return
	}
	live, err := s.Store.Live(ctx)
	if err != nil {
		return // the store's own line tells
	}
	covered := map[string]bool{}
	for _, c := range live {
		covered[c.Run] = true
	}
	before := len(r.lines)
	registry(s, r, covered)
	folders := retention(s, r, covered)
	if len(r.lines) == before {
		r.good("%d folders, no tree without a claim", folders)
	}
}

// registry looks for trees that no claim covers.
func registry(s *Subject, r *report, covered map[string]bool) {
	home := rundir.In(s.Store.Dir())
	slugs, err := home.Slots()
	if err != nil {
		r.bad("run-stale", "the registry of runs cannot be read: %v", err)
		return
	}
	for _, slug := range slugs {
		path := filepath.Join(s.Store.Dir(), "live", slug)
		if who := stranger(path, s.UID); who != "" {
			r.bad("run-foreign", "%s belongs to %s: what is left of a run there cannot be seen", path, who)
			continue
		}
		open, err := home.Open(slug)
		if err != nil {
			r.bad("run-stale", "the registry of runs cannot be read: %v", err)
			continue
		}
		for _, run := range open {
			if !covered[run] {
				uncovered(home, r, slug, run)
			}
		}
	}
}

func uncovered(home rundir.Home, r *report, slug, run string) {
	tree, ref := proc.Tree{Run: run}, slug
	if dir, err := home.Dir(run); err == nil {
		if id, err := dir.Identity(); err == nil {
			ref = id.Ref
			tree.Processes = append(tree.Processes, id.Supervisor)
			if !id.Worker.IsZero() {
				tree.Processes = append(tree.Processes, id.Worker)
			}
		}
	}
	members, err := tree.Members()
	if len(members) > 0 && leaves(home, slug, run) {
		return
	}
	switch {
	case len(members) > 0:
		var pids []string
		for _, m := range members {
			pids = append(pids, fmt.Sprintf("%d (%s)", m.PID, m.Command))
		}
		r.bad("run-orphan", "%s: run %s has no claim, but lives: pid %s", ref, run, strings.Join(pids, ", "))
	case err != nil:
		r.bad("run-stale", "%s: run %s has no claim, and whether it lives is not known: %v", ref, run, err)
	default:
		r.bad("run-stale", "%s: run %s left its registry entry behind", ref, run)
	}
}

// leaves waits a little for a run that has just given its claim back.
func leaves(home rundir.Home, slug, run string) bool {
	for range 10 {
		open, err := home.Open(slug)
		if err == nil && !slices.Contains(open, run) {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}

// retention counts what is kept longer, or is more, than was asked for.
func retention(s *Subject, r *report, covered map[string]bool) int {
	names, err := rundir.In(s.Store.Dir()).Runs()
	if err != nil || s.Config == nil || s.Clock == nil {
		return len(names)
	}
	keep := s.Config.Retention
	before := s.Clock.Wall().Add(-keep.Logs.V)
	var old int
	var size int64
	foreign := map[string]int{}
	for _, run := range names {
		path := filepath.Join(s.Store.Dir(), "runs", run)
		if who := stranger(path, s.UID); who != "" {
			if !covered[run] {
				foreign[who]++
			}
			continue
		}
		bytes, last, err := weigh(path)
		if err != nil {
			continue // it went meanwhile
		}
		size += bytes
		if last.Before(before) && !covered[run] {
			old++
		}
	}
	for _, who := range slices.Sorted(maps.Keys(foreign)) {
		r.bad("run-kept", "%d folders below %s belong to %s, and are not tidied", foreign[who], filepath.Join(s.Store.Dir(), "runs"), who)
	}
	if old > 0 {
		r.bad("run-old", "%d folders below %s are older than %s", old, filepath.Join(s.Store.Dir(), "runs"), slot.Span(keep.Logs.V))
	}
	if size > keep.LogsBytes.V {
		r.bad("run-large", "%s holds %s, more than %s", filepath.Join(s.Store.Dir(), "runs"), room(uint64(size)), room(uint64(keep.LogsBytes.V)))
	}
	return len(names)
}

// stranger is the user that a folder belongs to, if that keeps it from ours: root may
// have worked in our store.
func stranger(path string, uid int) string {
	info, err := os.Lstat(path)
	if err != nil || uid == 0 {
		return ""
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != uid {
		return proc.UserName(int(st.Uid))
	}
	return ""
}

// weigh sums up a folder and tells when something in it was last written.
func weigh(dir string) (size int64, last time.Time, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, time.Time{}, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // it went meanwhile
		}
		if info.Mode()&fs.ModeType == 0 {
			size += info.Size()
		}
		if info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return size, last, nil
}
