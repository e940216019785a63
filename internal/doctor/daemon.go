package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/proc"
)

// daemon looks whether somebody takes deliveries and works the queue, and how far
// that can be relied on.
func daemon(_ context.Context, s *Subject, r *report) {
	if s.Config == nil || s.Daemon == nil {
		return
	}
	before := len(r.lines)
	pid, err := s.Daemon()
	switch {
	case err != nil:
		r.bad("daemon-unknown", "whether one runs is not known: %v", err)
	case pid == 0 && len(s.Config.Hooks) > 0:
		r.bad("daemon-none", "none runs to take deliveries (hooks: %d)", len(s.Config.Hooks))
	case pid != 0 && stopped(pid):
		r.bad("daemon-frozen", "pid %d is stopped", pid)
	}
	for _, h := range s.Config.Hooks {
		if h.Host.V == "" {
			r.bad("hook-hostless", "hook %s (%s) names no host: its refs take the one that each payload says", h.Name.V, h.Forge.V)
		}
		if h.Unsigned.V && !h.Secret.IsSet() {
			r.bad("hook-unsigned", "hook %s takes requests without a signature", h.Name.V)
		}
	}
	if !s.Config.Local() {
		r.bad("listen-open", "%s (from %s) can be reached from other hosts, without TLS", s.Config.Listen.V, s.Config.Listen.Origin)
	}
	spool(s, r)
	linger(s, r, pid)
	switch {
	case len(r.lines) > before:
	case pid == 0:
		r.good("none runs, and no hook needs one")
	default:
		r.good("pid %d; it serves %s, if no flag says otherwise", pid, s.Config.Listen.V)
	}
}

func stopped(pid int) bool {
	p, err := proc.Identify(pid)
	return err == nil && proc.Look(p).Stopped
}

// spool judges the folder for the bodies of large deliveries, if there is one yet.
func spool(s *Subject, r *report) {
	if s.Store == nil {
		return
	}
	dir := filepath.Join(s.Store.Dir(), "deliveries")
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err == nil && !info.IsDir():
		err = errors.New("it is not a folder")
	case err == nil:
		err = unix.Access(dir, unix.W_OK|unix.X_OK)
	}
	if err != nil {
		r.bad("spool-denied", "%s: %v", dir, err)
	}
}

// linger finds a user's manager that ends with the user's last login, and with it
// the daemon, its workers and the units that a gate looks at (C47).
func linger(s *Subject, r *report, pid int) {
	asked := pid != 0 && strings.Contains(s.Machine.Cgroup(pid), "/user.slice/")
	for _, g := range s.Config.GatesInForce() {
		asked = asked || g.Type.V == "systemd" && g.User.V
	}
	if on, known := s.Machine.Linger(s.UID); asked && known && !on {
		r.bad("linger-off", "user %d does not linger: at logout systemd ends the user's manager and all that it started", s.UID)
	}
}
