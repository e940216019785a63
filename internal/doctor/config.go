package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/slot"
)

func configuration(_ context.Context, s *Subject, r *report) {
	var all *config.Problems
	switch {
	case errors.As(s.ConfigErr, &all):
		for _, p := range all.List {
			r.bad("config-bad", "%s", p)
		}
		return
	case s.ConfigErr != nil:
		r.bad("config-bad", "%v", s.ConfigErr)
		return
	}
	for _, w := range s.Config.Warnings {
		r.bad("config-warning", "%s", w)
	}
	odd, _ := s.Config.Check() // what is wrong with secrets has lines of its own
	for _, w := range odd {
		r.bad("config-odd", "%s", w)
	}
	if s.Config.File == "" {
		r.good("no file; defaults and environment")
	} else {
		r.good("%s", s.Config.File)
	}
}

// defaultHost sees to it that a bare "owner/repo!12" means what people think.
func defaultHost(_ context.Context, s *Subject, r *report) {
	if s.Config == nil {
		return
	}
	host := s.Config.DefaultHost
	typed := host.V == "gitlab.com" || slices.ContainsFunc(s.Config.Forges, func(f config.Forge) bool { return f.Host.V == host.V })
	// A host whose forge is known numbers requests with its issues, but GitLab.
	if ref, err := slot.ParseRef("o/r!1", s.Config.Grammar(nil)); !typed && (err != nil || ref.Kind() == slot.RefMerge) {
		r.bad("host-untyped", "%s (from %s) is no forge that is known", host.V, host.Origin)
		return
	}
	r.good("%s (from %s)", host.V, host.Origin)
}

func environment(_ context.Context, s *Subject, r *report) {
	before := len(r.lines)
	if v, _ := s.Env("PATH"); v == "" {
		r.bad("env-path", "PATH is not set")
	}
	if v, _ := s.Env("HOME"); v == "" {
		r.bad("env-home", "HOME is not set")
	}
	if s.Config != nil {
		if w := s.Config.CIWarning(); w != "" {
			r.bad("env-ci", "%s", w)
		}
	}
	if s.Store != nil {
		sockets(s, r)
	}
	if len(r.lines) == before {
		r.good("PATH, HOME and the places of sockets")
	}
}

// Unix socket addresses are short: 103 bytes fit everywhere. The longest of ours
// below the state folder is runs/RUN/sock with a run of 16 letters.
const (
	socketMax  = 103
	socketTail = len("/runs/") + 16 + len("/sock")
)

func sockets(s *Subject, r *report) {
	dir := s.Store.Dir()
	if len(dir)+socketTail <= socketMax {
		return
	}
	folder := filepath.Join(s.TempDir, fmt.Sprintf("oneslot-%d", s.UID))
	if why := notPrivate(folder, s.UID); why != "" {
		r.bad("socket-denied", "%s is too long for sockets, and %s %s", dir, folder, why)
		return
	}
	r.bad("socket-long", "%s is too long for sockets (%d bytes, room for %d)", dir, len(dir), socketMax-socketTail)
}

// notPrivate says why a folder cannot be used for sockets; one that does not
// exist can be made.
func notPrivate(folder string, uid int) string {
	info, err := os.Lstat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return err.Error()
	case !info.IsDir():
		return "is not a folder"
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Sprintf("can be used by others (mode %04o)", info.Mode().Perm())
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != uid {
		return fmt.Sprintf("belongs to user %d", st.Uid)
	}
	return ""
}
