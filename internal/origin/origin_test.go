package origin_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/origin"
	"github.com/oneslot/oneslot/internal/slot"
)

const secret = "canary-a8f3"

// alone keeps the user's git configuration and any outer repository out.
func alone(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	return dir
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func repository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(alone(t), "repo")
	run(t, ".", "init", "--quiet", dir)
	return dir
}

func TestRemoteIsAsConfigured(t *testing.T) {
	dir := repository(t)
	run(t, dir, "remote", "add", "origin", "git@github.com:octo/hello.git")
	run(t, dir, "remote", "set-url", "--add", "origin", "https://mirror.example.com/x/y")
	run(t, dir, "config", "url.https://proxy.example.com/.insteadOf", "git@github.com:")
	sub := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{dir, sub} {
		got, err := origin.Remote(t.Context(), from)
		if err != nil || got != "git@github.com:octo/hello.git" {
			t.Errorf("Remote(%q) = %q, %v", from, got, err)
		}
	}

	t.Setenv("GIT_DIR", filepath.Join(dir, ".git"))
	if got, err := origin.Remote(t.Context(), t.TempDir()); err != nil || got != "git@github.com:octo/hello.git" {
		t.Errorf("by GIT_DIR: %q, %v", got, err)
	}
}

// "#12" alone, from the folder to the ref.
func TestRemoteResolvesNumberAlone(t *testing.T) {
	dir := repository(t)
	run(t, dir, "remote", "add", "origin", "https://me:"+secret+"@github.com/Octo/Hello.git/")
	g := slot.Grammar{Origin: func() (string, error) { return origin.Remote(t.Context(), dir) }}
	ref, err := slot.ParseRef("#12", g)
	if err != nil || ref.String() != "github.com/octo/hello#12" {
		t.Errorf("#12 = %q, %v", ref, err)
	}
}

func TestRemoteSaysWhatIsMissing(t *testing.T) {
	t.Run("origin", func(t *testing.T) {
		dir := repository(t)
		run(t, dir, "remote", "add", "upstream", "https://me:"+secret+"@github.com/o/r")
		refused(t, dir, "no remote named origin")
	})
	t.Run("address", func(t *testing.T) {
		dir := repository(t)
		run(t, dir, "config", "remote.origin.url", "")
		refused(t, dir, "empty address")
	})
	t.Run("repository", func(t *testing.T) {
		refused(t, alone(t), "not a git repository")
	})
	t.Run("folder", func(t *testing.T) {
		refused(t, filepath.Join(alone(t), "nowhere"), "no such file")
	})
	t.Run("git", func(t *testing.T) {
		dir := alone(t)
		t.Setenv("PATH", dir)
		refused(t, dir, "git is not installed")
	})
	t.Run("sense", func(t *testing.T) {
		dir := repository(t)
		file := filepath.Join(dir, ".git", "config")
		if err := os.WriteFile(file, []byte("[remote \"origin\"]\n\turl = https://me:"+secret+"@h/o/r\n[broken\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, dir, "bad config")
	})
}

func refused(t *testing.T, dir, want string) {
	t.Helper()
	got, err := origin.Remote(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("Remote = %q, %v; want an error with %q", got, err, want)
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the error repeats a password: %v", err)
	}
	if errors.Is(err, slot.ErrUnknown) {
		t.Errorf("%v matches ErrUnknown", err)
	}
}

// P8: no answer is not "no origin".
func TestP8_RemoteWithoutAnswerIsUnknown(t *testing.T) {
	dir := repository(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := origin.Remote(ctx, dir); !errors.Is(err, slot.ErrUnknown) {
		t.Errorf("Remote = %q, %v; want ErrUnknown", got, err)
	}
}

// A git that hangs is ended with the caller's patience.
func TestP8_RemoteDoesNotWaitForEver(t *testing.T) {
	dir := alone(t)
	ready := filepath.Join(dir, "ready")
	script := "#!/bin/sh\n: > '" + ready + "'\nexec sleep 600\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answer := make(chan error, 1)
	go func() {
		_, err := origin.Remote(ctx, dir)
		answer <- err
	}()
	for deadline := time.Now().Add(4 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("git was not started")
		}
	}
	cancel()
	if err := <-answer; !errors.Is(err, slot.ErrUnknown) {
		t.Errorf("err = %v, want ErrUnknown", err)
	}
}
