package rig

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// readyWithin bounds how long a service may take to start, and to end.
const readyWithin = 60 * time.Second

// need skips the test unless it runs as root and finds all these programs.
func need(t testing.TB, programs ...string) {
	t.Helper()
	if os.Getuid() != 0 {
		skip(t, "not root")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			skip(t, p+" is not installed")
		}
	}
}

func skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("ONESLOT_NO_SKIP") != "" {
		t.Fatal("cannot be skipped: " + why)
	}
	t.Skip("skipped: " + why)
}

// service is a program that runs until the test ends.
type service struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{}
}

// start starts a program; stop, if any, asks it to end before it is killed.
func start(t testing.TB, env []string, stop func(), name string, args ...string) *service {
	t.Helper()
	s := &service{cmd: exec.Command(name, args...), done: make(chan struct{})}
	s.log = filepath.Join(t.TempDir(), filepath.Base(name)+".log")
	out, err := os.Create(s.log)
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = append(os.Environ(), env...), out, out
	err = s.cmd.Start()
	out.Close()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.done)
	}()
	t.Cleanup(func() {
		if stop != nil {
			stop()
		} else {
			_ = s.cmd.Process.Signal(os.Interrupt)
		}
		select {
		case <-s.done:
		case <-time.After(10 * time.Second):
			_ = s.cmd.Process.Kill()
			<-s.done
		}
	})
	return s
}

// ready waits until the service answers.
func (s *service) ready(t testing.TB, answers func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), readyWithin)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !answers() {
		select {
		case <-tick.C:
		case <-s.done:
			t.Fatalf("%s ended: %s", s.cmd.Path, s.said())
		case <-ctx.Done():
			t.Fatalf("%s is not ready: %s", s.cmd.Path, s.said())
		}
	}
}

// said is the end of what the service printed.
func (s *service) said() string {
	text, _ := os.ReadFile(s.log)
	return string(text[max(0, len(text)-2000):])
}
