package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
)

func store(ctx context.Context, s *Subject, r *report) {
	if s.Store == nil {
		switch {
		case s.StoreErr != nil:
			unreachable(r, s.StoreErr)
		case s.Config != nil && s.Config.Remote():
			r.good("%s answers; `oneslot doctor` there looks at what is behind it", s.Config.Store.V)
		}
		return
	}
	before := len(r.lines)
	folder(s, r)
	version, least, err := s.Store.Schema(ctx)
	switch {
	case err != nil:
		unreachable(r, err)
		return
	case version == 0:
		r.good("%s is not there yet; the first claim makes it", s.Store.Address())
		return
	case least > s.Level:
		r.bad("store-newer", "%s is at level %d and needs programs of level %d, this one is level %d", s.Store.Address(), version, least, s.Level)
	}
	if err := s.Store.Verify(ctx); err != nil {
		r.bad("store-damaged", "%v", err)
	}
	if len(r.lines) > before {
		return
	}
	kind, _, err := s.Machine.FileSystem(s.Store.Path())
	if err != nil {
		kind = "unknown file system"
	}
	r.good("%s (%s, schema %d, owned by %s, sound)", s.Store.Address(), kind, version, owner(s.Store.Path()))
}

func unreachable(r *report, err error) {
	if errors.Is(err, slot.ErrNotAllowed) {
		r.bad("store-foreign", "%v", err)
		return
	}
	r.bad("store-unreachable", "%v", err)
}

// folder judges where the store lies and who else can reach it.
func folder(s *Subject, r *report) {
	if kind, volatile, err := s.Machine.FileSystem(nearest(s.Store.Dir())); err == nil && volatile {
		r.bad("store-volatile", "%s is on %s, which is memory", s.Store.Dir(), kind)
	}
	if info, err := os.Stat(s.Store.Dir()); err == nil && info.Mode().Perm()&0o077 != 0 {
		r.bad("store-folder-mode", "%s has mode %04o", s.Store.Dir(), info.Mode().Perm())
	}
	for _, end := range []string{"", "-wal", "-shm", ".lock"} {
		file := s.Store.Path() + end
		if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
			r.bad("store-file-mode", "%s has mode %04o", file, info.Mode().Perm())
		}
	}
}

// owner names whose file it is.
func owner(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "nobody"
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return "nobody known"
	case int(st.Uid) == os.Geteuid():
		return "this user"
	}
	return "user " + strconv.Itoa(int(st.Uid))
}

// nearest is the nearest folder at or above dir that exists.
func nearest(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// write commits something, unless that would wait for a frozen process: the
// write would kill one of ours, and that is for the reader to decide.
func write(ctx context.Context, s *Subject, r *report) {
	if s.Store == nil {
		return
	}
	if _, err := os.Stat(s.Store.Path()); errors.Is(err, fs.ErrNotExist) {
		dir := nearest(s.Store.Dir())
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
			r.bad("write-denied", "%s: %v", dir, err)
			return
		}
		r.good("%s can be written", dir)
		return
	}
	if who := frozen(s.Store); len(who) > 0 {
		r.bad("write-frozen", "the write lock is kept by a stopped process: %s", strings.Join(who, ", "))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := s.Store.Probe(ctx); err != nil {
		r.bad("write-failed", "%v", err)
		return
	}
	// The first write opens the file; what a claim costs is the second.
	begin := time.Now()
	if err := s.Store.Probe(ctx); err != nil {
		r.bad("write-failed", "%v", err)
		return
	}
	took := time.Since(begin).Round(100 * time.Microsecond)
	if took > s.Limits.Write {
		r.bad("write-slow", "a durable write took %v", took)
		return
	}
	r.good("a durable write took %v", took)
}

// frozen names the stopped processes that have the writers' turn.
func frozen(st Store) (who []string) {
	pids, err := st.Writers()
	if err != nil {
		return nil // the write itself will tell
	}
	for _, pid := range pids {
		p, err := proc.Identify(pid)
		if err != nil {
			continue
		}
		if see := proc.Look(p); see.Life == proc.Alive && see.Stopped {
			who = append(who, see.Detail)
		}
	}
	return who
}

func disk(_ context.Context, s *Subject, r *report) {
	if s.Store == nil {
		return
	}
	dir := nearest(s.Store.Dir())
	free, err := s.Machine.Free(dir)
	left := room(free)
	switch {
	case err != nil:
		r.bad("disk-low", "%s: free room is not known: %v", dir, err)
	case free < s.Limits.FreeFail:
		r.bad("disk-full", "%s has %s left", dir, left)
	case free < s.Limits.FreeWarn:
		r.bad("disk-low", "%s has %s left", dir, left)
	default:
		r.good("%s has %s left", dir, left)
	}
}

// room is a number of bytes for people.
func room(n uint64) string {
	const units = "kMGTPE"
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	f, unit := float64(n)/1000, 0
	for f >= 1000 {
		f, unit = f/1000, unit+1
	}
	return fmt.Sprintf("%.1f %cB", f, units[unit])
}
