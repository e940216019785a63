package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
)

// C55: 32 processes that claim and release 200 times each on one file. Nobody
// ever sees a locked database, and nobody starves.
func TestC55_ManyProcessesOneFile(t *testing.T) {
	s := fresh(t)
	if err := s.Hold(context.Background(), slot.Hold{Scope: "nothing"}); err != nil { // makes the file
		t.Fatal(err)
	}
	const processes, rounds = 32, 200
	var all []*job
	for i := range processes {
		all = append(all, start(t, "hammer", s.Path(), fmt.Sprint(i+1), fmt.Sprint(rounds)))
	}
	began := time.Now()
	for _, j := range all {
		j.in.Close()
	}
	worst := int64(0)
	for i, j := range all {
		var ms int64
		for j.out.Scan() {
			if _, err := fmt.Sscan(j.out.Text(), &ms); err != nil {
				t.Fatalf("process %d said %q", i, j.out.Text())
			}
		}
		if err := j.Wait(); err != nil {
			t.Fatalf("process %d: %v", i, err)
		}
		worst = max(worst, ms)
	}
	t.Logf("%d processes x %d claim+release in %v, longest wait %d ms", processes, rounds, time.Since(began), worst)
	if worst >= 5000 {
		t.Errorf("the longest wait was %d ms", worst)
	}
	for i := range processes {
		ds, err := s.Decisions(context.Background(), ref(i+1))
		if err != nil || len(ds) != 2*rounds {
			t.Fatalf("slot %d has %d decisions (%v), want %d: an acknowledged write is missing", i+1, len(ds), err, 2*rounds)
		}
	}
}

// C55, the first open: many processes make the file at once, and one of them
// gets the slot.
func TestC55_ManyProcessesMakeTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "oneslot.db")
	var all []*job
	for range 16 {
		all = append(all, start(t, "once", path))
	}
	for _, j := range all {
		j.Stderr = nil
		j.in.Close()
	}
	won := 0
	for _, j := range all {
		if j.Wait() == nil {
			won++
		}
	}
	if won != 1 {
		t.Fatalf("%d processes got the slot", won)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.new*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// besideFrozen is a store with one hold, which a process that is stopped is about to
// write to.
func besideFrozen(t *testing.T) (*Store, *job) {
	t.Helper()
	s := fresh(t)
	if err := s.Hold(context.Background(), slot.Hold{Scope: "nothing"}); err != nil {
		t.Fatal(err)
	}
	j := start(t, "freeze", s.Path())
	waitStopped(t, j.Process.Pid)
	s2 := mustOpen(t, s.Path())
	s2.opt.LockWait = 200 * time.Millisecond
	return s2, j
}

// A writer frozen inside its transaction: a stopped process of our own program
// and user is killed, and its transaction is undone.
func TestC55_FrozenWriterIsKilled(t *testing.T) {
	s2, j := besideFrozen(t)
	if _, err := s2.Acquire(context.Background(), detached(ref(1))); err != nil {
		t.Fatal(err)
	}
	holds, err := s2.Holds(context.Background())
	if err != nil || len(holds) != 1 {
		t.Fatalf("holds %v, %v: the frozen transaction was not undone", holds, err)
	}
	var exit *exec.ExitError
	if err := j.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the frozen process ended with %v", err)
	}
}

// Who is about to write reads beside a frozen writer, and then deals with it.
func TestC55_ReadBesideAFrozenWriter(t *testing.T) {
	s2, _ := besideFrozen(t)
	s2.Writing()
	if name, err := s2.Canonical(context.Background(), "github.com/Octo/Hello"); err != nil || name != "github.com/octo/hello" {
		t.Errorf("read %q, %v", name, err)
	}
	if _, err := s2.Acquire(context.Background(), detached(ref(1))); err != nil {
		t.Error(err)
	}
	if name, err := s2.Canonical(context.Background(), "github.com/Octo/Hello"); err != nil || name != "github.com/octo/hello" {
		t.Errorf("read %q, %v", name, err)
	}
}

// A lock kept by anything else is left alone, and its pid is named.
func TestC55_ForeignLockOwnerIsNamed(t *testing.T) {
	s := fresh(t)
	if err := s.Hold(context.Background(), slot.Hold{Scope: "nothing"}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("flock", "--no-fork", s.Path()+".lock", "sh", "-c", "echo ready; exec sleep 60")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }() //nolint:errcheck
	buf := make([]byte, 6)
	if _, err := out.Read(buf); err != nil {
		t.Fatal(err)
	}
	s2 := mustOpen(t, s.Path())
	s2.opt.LockWait = 100 * time.Millisecond
	_, err = s2.Acquire(context.Background(), detached(ref(1)))
	if !errors.Is(err, slot.ErrUnknown) {
		t.Fatalf("got %v, want unknown", err)
	}
	contains(t, err, fmt.Sprintf("pid %d", cmd.Process.Pid))
	if syscall.Kill(cmd.Process.Pid, 0) != nil {
		t.Error("the foreign process was touched")
	}
	// The abandoned step must not be taken later.
	cmd.Process.Kill() //nolint:errcheck
	if _, err := s2.Acquire(context.Background(), detached(ref(2))); err != nil {
		t.Fatal(err)
	}
	if look, err := s2.Look(context.Background(), ref(1)); err != nil || look.Live() != nil {
		t.Fatalf("a step given up was taken: %+v, %v", look, err)
	}
}

func waitStopped(t *testing.T, pid int) {
	t.Helper()
	p, err := proc.Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); !proc.Look(p).Stopped; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the job did not freeze")
		}
	}
}

// Two builds: a program of the next level that only adds leaves a running older
// one at work; one that breaks is refused while the older holds a claim, lists
// it, and afterwards shuts the older one out.
func TestUpgradeWithTwoBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two programs")
	}
	for _, kind := range []string{"next", "breaking"} {
		t.Run(kind, func(t *testing.T) {
			bin := filepath.Join(t.TempDir(), kind+".test")
			if out, err := exec.Command("go", "test", "-c", "-tags", "oneslot_"+kind, "-o", bin, ".").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			s := fresh(t)
			req := detached(ref(7))
			if _, err := s.Acquire(context.Background(), req); err != nil {
				t.Fatal(err)
			}
			newer := func(n string) (string, error) {
				cmd := exec.Command(bin, s.Path(), n, "1")
				cmd.Env = append(os.Environ(), jobVar+"=hammer")
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			out, err := newer("8")
			if kind == "next" {
				if err != nil {
					t.Fatalf("the newer program failed: %v\n%s", err, out)
				}
				if _, err := s.Renew(context.Background(), req.Key); err != nil {
					t.Fatalf("the older program's claim did not survive: %v", err)
				}
				if _, err := s.Acquire(context.Background(), detached(ref(9))); err != nil {
					t.Fatalf("the older program cannot claim any more: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(out, ref(7).String()) {
				t.Fatalf("a breaking change went over a live claim, or did not list it: %v\n%s", err, out)
			}
			if _, err := s.Renew(context.Background(), req.Key); err != nil {
				t.Fatalf("the refused program changed something: %v", err)
			}
			if _, err := s.Release(context.Background(), req.Key, slot.Outcome{Result: slot.Done}); err != nil {
				t.Fatal(err)
			}
			if out, err := newer("8"); err != nil {
				t.Fatalf("the newer program failed: %v\n%s", err, out)
			}
			_, err = s.Acquire(context.Background(), detached(ref(7)))
			if !errors.Is(err, slot.ErrUnknown) {
				t.Fatalf("the older program went on writing: %v", err)
			}
			contains(t, err, fmt.Sprintf("level %d", level()+1), "newer oneslot")
		})
	}
}
