package proc

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// threads counts the threads of this process.
func threads(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(tasks)
}

func TestWatchManyWithoutThreads(t *testing.T) {
	const count, each = 500, 25
	run := newRun(t)
	root := start(t, shell(run, `i=1; while [ $i -lt 20 ]; do sleep 600 & i=$((i+1)); done; wait`))
	tree := Tree{Run: run}
	eventually(t, "all processes", func() bool { return len(members(t, tree)) == count/each })

	files, routines, tasks := openFiles(t), runtime.NumGoroutine(), threads(t)
	var watched []<-chan struct{}
	for _, m := range members(t, tree) {
		for range each {
			gone, cancel, err := Watch(m.Process)
			if err != nil {
				t.Fatal(err)
			}
			defer cancel()
			watched = append(watched, gone)
		}
	}
	if got := threads(t) - tasks; got > 10 {
		t.Errorf("%d threads for %d watches", got, count)
	}
	if got := runtime.NumGoroutine() - routines; got > count+5 {
		t.Errorf("%d goroutines for %d watches", got, count)
	}
	select {
	case <-watched[count/2]:
		t.Error("gone while alive")
	default:
	}

	if _, err := (Tree{Run: run, Except: []slot.Process{root}}).Stop(t.Context(), Stop{}); err != nil {
		t.Fatal(err)
	}
	if err := Signal(root, syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	for _, gone := range watched {
		<-gone
	}
	eventually(t, "all is given back", func() bool {
		return openFiles(t) <= files && runtime.NumGoroutine() <= routines
	})
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestWatchEndsAtTheZombie(t *testing.T) {
	cmd := exec.Command("sh", "-c", "read x")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, cmd)
	gone, cancel, err := Watch(p)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	stdin.Close()
	<-gone
	if s := Look(p); s.Life != Dead || !strings.Contains(s.Detail, "has ended") {
		t.Errorf("Look = %+v", s)
	}
	// Nobody has collected it, and it is gone for a second watch too.
	again, cancel, err := Watch(p)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	<-again
}

func TestWatchIsCancelled(t *testing.T) {
	p := start(t, exec.Command("sleep", "600"))
	files, routines := openFiles(t), runtime.NumGoroutine()
	gone, cancel, err := Watch(p)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	cancel()
	eventually(t, "all is given back", func() bool {
		return openFiles(t) <= files && runtime.NumGoroutine() <= routines
	})
	select {
	case <-gone:
		t.Error("a cancelled watch says gone")
	default:
	}
}

func TestC51_WatchOfASuccessor(t *testing.T) {
	p := start(t, exec.Command("sleep", "600"))
	past := p
	past.Ticks--
	gone, cancel, err := Watch(past)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	<-gone
	past.Boot = "another"
	if _, _, err := Watch(past); !errors.Is(err, slot.ErrUnknown) {
		t.Errorf("Watch of another boot: %v", err)
	}
}

// Without pidfds the end is found by looking.
func TestWatchByLooking(t *testing.T) {
	p := start(t, exec.Command("sleep", "600"))
	h, err := hold(p)
	if err != nil {
		t.Fatal(err)
	}
	h.close()
	h.fd = nil
	gone, cancel := h.watch()
	defer cancel()
	if err := h.signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		t.Error("not found")
	}
	if err := h.signal(syscall.SIGKILL); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("signal = %v", err)
	}
}
