package docs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// systemd starts a user's systemd of the page's own, once, or says why there is
// none.
func (w *world) systemd(t *testing.T) error {
	t.Helper()
	if w.manager == nil {
		w.manager = sync.OnceValue(func() error { return w.startManager(t) })
	}
	return w.manager()
}

func (w *world) startManager(t *testing.T) error {
	t.Helper()
	const program = "/lib/systemd/systemd"
	if runtime.GOOS != "linux" {
		return errors.New("this is not Linux")
	}
	if _, err := os.Stat(program); err != nil {
		return err
	}
	bus, err := exec.LookPath("dbus-daemon")
	if err != nil {
		return err
	}
	// Without this folder it refuses to start, taking the machine for one of
	// another kind.
	const booted = "/run/systemd/system"
	if _, err := os.Stat(booted); err != nil {
		if err := os.MkdirAll(booted, 0o755); err != nil {
			return err
		}
		t.Cleanup(func() { os.Remove(booted) }) //nolint:errcheck // only if empty
	}
	dir := filepath.Join(w.dir, "run")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	address := "unix:path=" + filepath.Join(dir, "bus")
	w.env = append(w.env, "XDG_RUNTIME_DIR="+dir, "DBUS_SESSION_BUS_ADDRESS="+address)
	if err := w.service(t, filepath.Join(dir, "bus"), bus, "--session", "--address="+address, "--nofork", "--nopidfile"); err != nil {
		return err
	}
	return w.service(t, filepath.Join(dir, "systemd", "private"), program, "--user")
}

// service starts a program for the length of the test and waits until its socket
// is there.
func (w *world) service(t *testing.T, socket, name string, args ...string) error {
	t.Helper()
	log, err := os.Create(filepath.Join(w.dir, filepath.Base(name)+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = w.env, w.home, log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it may be gone
		select {
		case <-gone:
		case <-time.After(20 * time.Second):
			cmd.Process.Kill() //nolint:errcheck // as above
		}
	})
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			return nil
		}
		select {
		case err := <-gone:
			gone <- err
			said, _ := os.ReadFile(log.Name())
			return fmt.Errorf("%s ended: %v: %s", name, err, said)
		default:
		}
	}
	return fmt.Errorf("%s: no socket after 30s", name)
}
