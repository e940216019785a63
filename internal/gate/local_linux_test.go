package gate_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

func TestPIDFile(t *testing.T) {
	dir := t.TempDir()
	living, ended := sleeper(t), sleeper(t)
	_ = ended.Process.Kill()
	_ = ended.Wait()
	zombie := sleeper(t)
	_ = zombie.Process.Kill()
	g := must(t)(gate.NewProcess(gate.Process{PIDFile: filepath.Join(dir, "{dashed}.pid")}))
	for i, c := range []struct {
		text    string
		verdict slot.Verdict
		words   string
	}{
		{fmt.Sprintf("%d\n", living.Process.Pid), slot.Defer, fmt.Sprintf("process: pid %d lives", living.Process.Pid)},
		{fmt.Sprintf(" %d \nmore lines\n", living.Process.Pid), slot.Defer, "lives"},
		{fmt.Sprint(ended.Process.Pid), slot.Proceed, "stale"},
		{fmt.Sprint(zombie.Process.Pid), slot.Proceed, "stale"},
		{"", slot.Unknown, "not the number of a process"}, // being written
		{"0", slot.Unknown, "not the number"},
		{"-1", slot.Unknown, "not the number"},
		{"99999999999999", slot.Unknown, "not the number"},
		{"abc", slot.Unknown, "not the number"},
	} {
		file := filepath.Join(dir, fmt.Sprintf("o-r-%d.pid", i+1))
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		ask := gate.Ask{Ref: ref(t, fmt.Sprintf("github.com/o/r#%d", i+1))}
		if c.words == "stale" {
			eventually(t, "its end", func() bool { return g.Ask(t.Context(), ask).Verdict == slot.Proceed })
		}
		wants(t, g.Ask(t.Context(), ask), c.verdict, c.words)
	}
	wants(t, g.Ask(t.Context(), gate.Ask{Ref: ref(t, "github.com/o/r#99")}), slot.Proceed, "there is no") // P9
	if err := unix.Mkfifo(filepath.Join(dir, "o-r-98.pid"), 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, g.Ask(t.Context(), gate.Ask{Ref: ref(t, "github.com/o/r#98")}), slot.Unknown, "is not a file")
	wants(t, g.Ask(t.Context(), gate.Ask{Ref: ref(t, "key:x")}), "", "no number")
	evil := must(t)(gate.NewProcess(gate.Process{PIDFile: filepath.Join(dir, "{ref}")}))
	wants(t, evil.Ask(t.Context(), gate.Ask{Ref: ref(t, "key:../../x")}), slot.Unknown, "{slug}")
}

func TestFlock(t *testing.T) {
	dir := t.TempDir()
	g := must(t)(gate.NewProcess(gate.Process{Flock: filepath.Join(dir, "lock-{number}")}))
	ask := gate.Ask{Ref: ref(t, "github.com/o/r#1")}
	wants(t, g.Ask(t.Context(), ask), slot.Proceed, "there is no") // P9
	f, err := os.Create(filepath.Join(dir, "lock-1"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	wants(t, g.Ask(t.Context(), ask), slot.Proceed, "nobody holds a lock")
	for _, how := range []int{unix.LOCK_EX, unix.LOCK_SH} {
		if err := unix.Flock(int(f.Fd()), how); err != nil {
			t.Fatal(err)
		}
		wants(t, g.Ask(t.Context(), ask), slot.Defer, fmt.Sprintf("process: locked | %s is locked by process %d", f.Name(), os.Getpid()))
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	wants(t, g.Ask(t.Context(), ask), slot.Proceed, "nobody holds a lock")
	l := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &l); err != nil {
		t.Fatal(err)
	}
	wants(t, g.Ask(t.Context(), ask), slot.Defer, "process: locked")
}

// P6: the end of a process, and of a lock, is known within a second.
func TestProcessWatch(t *testing.T) {
	dir := t.TempDir()
	p := sleeper(t)
	if err := os.WriteFile(filepath.Join(dir, "pid"), fmt.Append(nil, p.Process.Pid), 0o600); err != nil {
		t.Fatal(err)
	}
	g := must(t)(gate.NewProcess(gate.Process{PIDFile: filepath.Join(dir, "pid")}))
	ctx, cancel := context.WithCancel(t.Context())
	changed, done := make(chan struct{}, 10), make(chan struct{})
	go func() {
		gate.NewSet(newClock(), nil, gate.Entry{Gate: g}).Watch(ctx, func(string) { changed <- struct{}{} })
		close(done)
	}()
	defer func() { cancel(); <-done }()
	told := func(what string) {
		t.Helper()
		select {
		case <-changed:
		case <-time.After(time.Second):
			t.Error("nobody told of " + what)
		}
	}
	told("what ended before anybody asked") // a watch that has begun knows nobody who was put off
	wants(t, g.Ask(t.Context(), gate.Ask{}), slot.Defer, "lives")
	_ = p.Process.Kill()
	told("the process's end")
}

func TestCommand(t *testing.T) {
	script := func(text string) gate.Gate {
		return must(t)(gate.NewCommand(gate.Command{Run: []string{"/bin/sh", "-c", text, "sh", "{ref}"}, Env: []string{"PATH=/usr/bin:/bin"}}))
	}
	t.Setenv("SECRET_TOKEN", "canary")
	ask := gate.Ask{Ref: ref(t, "github.com/o/r#1")}
	for text, c := range map[string]struct {
		verdict slot.Verdict
		words   string
	}{
		"exit 0":                         {slot.Proceed, "command: free"}, // P9
		"echo free $1; echo more":        {slot.Proceed, "free github.com/o/r#1"},
		"echo 'by ann' >&2; exit 75":     {slot.Defer, "command: busy | by ann"},
		"exit 1":                         {slot.Unknown, "exit status 1"},
		"exit 76":                        {slot.Unknown, "exit status 76"},
		"kill -9 $$":                     {slot.Unknown, "killed"},
		"echo $ONESLOT_REF$SECRET_TOKEN": {slot.Proceed, "command: free | github.com/o/r#1"},
		"sleep 600 & exit 0":             {slot.Proceed, "command: free"}, // who keeps its output open
		"yes | head -c 1000000; exit 75": {slot.Defer, "command: busy | y"},
	} {
		ans := script(text).Ask(t.Context(), ask)
		wants(t, ans, c.verdict, c.words)
		if strings.Contains(ans.Detail, "canary") {
			t.Errorf("%q saw our environment", text)
		}
	}
	wants(t, must(t)(gate.NewCommand(gate.Command{Run: []string{"/nowhere/x"}})).Ask(t.Context(), ask), slot.Unknown, "no such file")
	evil := gate.Ask{Ref: ref(t, "github.com/o/r@$(id)")}
	wants(t, script("exit 0").Ask(t.Context(), evil), slot.Unknown, "{slug}") // P12
}

// At its limit a command is ended with its children.
func TestCommandIsEndedAtItsLimit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	g := must(t)(gate.NewCommand(gate.Command{Run: []string{"/bin/sh", "-c", "trap '' TERM; sleep 600 & echo $! > " + file + "; wait; sleep 600"}, Env: []string{"PATH=/usr/bin:/bin"}}))
	began := time.Now()
	d := gate.NewSet(newClock(), nil, gate.Entry{Gate: g, Timeout: time.Second, OnError: gate.OnError{Closed: true}}).Decide(t.Context(), gate.Ask{})
	if d.Verdict != slot.Defer || !strings.Contains(d.Detail, "no answer in time") || time.Since(began) > 3*time.Second {
		t.Errorf("%+v after %v", d, time.Since(began))
	}
	child := must(t)(gate.NewProcess(gate.Process{PIDFile: file}))
	eventually(t, "the child's end", func() bool { return child.Ask(t.Context(), gate.Ask{}).Verdict == slot.Proceed })
}
