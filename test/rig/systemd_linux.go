package rig

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Systemd is a user manager, with its bus.
type Systemd struct {
	// RuntimeDir is its XDG_RUNTIME_DIR.
	RuntimeDir string
	manager    *service
	bus        *service
}

// StartSystemd starts a user manager. There is one at a time on a machine, since
// managers of one user share its control groups; the next test waits.
func StartSystemd(t testing.TB) *Systemd {
	t.Helper()
	need(t, "dbus-daemon", "systemctl", "systemd-run")
	const program = "/lib/systemd/systemd"
	if _, err := os.Stat(program); err != nil {
		skip(t, "systemd is not installed")
	}
	claimMachine(t)
	// A short path: sockets have at most 108 characters.
	dir, err := os.MkdirTemp("", "rig-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Systemd{RuntimeDir: dir}
	s.bus = start(t, s.Env(), nil, "dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=unix:path="+dir+"/bus")
	s.bus.ready(t, func() bool { return exists(dir + "/bus") })
	s.manager = start(t, s.Env(), func() { _ = s.command("systemctl", "--user", "exit").Run() }, program, "--user")
	s.manager.ready(t, func() bool {
		return exists(dir+"/systemd/private") && s.command("systemctl", "--user", "is-system-running").Run() == nil
	})
	return s
}

// claimMachine waits until no other manager of a test is there, and makes the folder
// without which a manager does not start.
func claimMachine(t testing.TB) {
	t.Helper()
	lock, err := os.OpenFile(filepath.Join(os.TempDir(), "oneslot-rig-systemd.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	const booted = "/run/systemd/system"
	if !exists(booted) {
		if err := os.MkdirAll(booted, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Remove(booted); lock.Close() })
		return
	}
	t.Cleanup(func() { lock.Close() })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Env are the variables that lead to the manager.
func (s *Systemd) Env() []string {
	return []string{"XDG_RUNTIME_DIR=" + s.RuntimeDir, "DBUS_SESSION_BUS_ADDRESS=unix:path=" + s.RuntimeDir + "/bus"}
}

// Getenv looks up one of Env.
func (s *Systemd) Getenv(name string) string {
	for _, kv := range s.Env() {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// Manager and Bus are the processes, for tests that stop or end them.
func (s *Systemd) Manager() *os.Process { return s.manager.cmd.Process }
func (s *Systemd) Bus() *os.Process     { return s.bus.cmd.Process }

func (s *Systemd) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), s.Env()...)
	return cmd
}

// Run starts a program that talks to the manager: systemctl --user, systemd-run
// --user. It returns its output and how it ended.
func (s *Systemd) Run(name string, args ...string) (string, error) {
	out, err := s.command(name, args...).CombinedOutput()
	return string(out), err
}

// MustRun is Run where a failure is the test's.
func (s *Systemd) MustRun(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := s.Run(name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}
