package race

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// patience bounds every wait for something that has to come; nothing is read
// into how long it took.
const patience = 60 * time.Second

// world is a store of its own, and all processes that work on it.
type world struct {
	t       testing.TB
	dir     string
	program string
	db      *sqlite.Store // to look at, and only at rest
	ctx     context.Context

	mu     sync.Mutex
	offset int64 // of the journal that was read
}

func newWorld(t testing.TB, program string) *world {
	t.Helper()
	dir := t.TempDir()
	clk, err := clock.System()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, program: program, ctx: context.Background()}
	if w.db, err = sqlite.Open(w.path("state/oneslot.db"), sqlite.Options{Clock: clk}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.db.Close()
		w.endAll()
	})
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// ref is a slot of this world.
func ref(t testing.TB, name string) slot.Ref {
	t.Helper()
	r, err := slot.ParseCanonical("key:" + name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// process is one that this test started.
type process struct {
	cmd      *exec.Cmd
	spawned  time.Duration
	out, err bytes.Buffer
	done     chan struct{}
}

// job is a command and what its environment has beside.
type job struct {
	args []string
	env  []string
}

// work is the end of a `run` command line.
func work(shape string, d time.Duration) (env []string) {
	return []string{shapeVar + "=" + shape, workVar + "=" + d.String()}
}

// run is `oneslot run REF flags -- worker`.
func run(ref slot.Ref, env []string, flags ...string) job {
	args := append([]string{"run", ref.String()}, flags...)
	return job{append(args, "--", helperProgram), append([]string{roleVar + "=worker"}, env...)}
}

func (w *world) start(j job) *process {
	w.t.Helper()
	p := &process{cmd: exec.Command(w.program, j.args...), done: make(chan struct{})}
	p.spawned = boot()
	p.cmd.Env = append([]string{
		"HOME=" + w.dir, "PATH=" + os.Getenv("PATH"), "TZ=UTC", "ONESLOT_STORE=sqlite:" + w.path("state/oneslot.db"),
		worldVar + "=" + w.dir, fmt.Sprintf("%s=%d", spawnedVar, p.spawned),
	}, j.env...)
	p.cmd.Dir = w.dir
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		w.t.Errorf("%v: %v", j.args, err)
		close(p.done)
		return p
	}
	go func() {
		defer close(p.done)
		p.cmd.Wait() //nolint:errcheck // the state has it
	}()
	return p
}

func (p *process) kill() {
	p.cmd.Process.Kill() //nolint:errcheck // it may have ended
}

// signal sends one to the process alone.
func (p *process) signal(sig syscall.Signal) {
	p.cmd.Process.Signal(sig) //nolint:errcheck
}

// code waits for the end: the exit code, or minus the signal.
func (w *world) code(p *process) int {
	w.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.kill()
		<-p.done
		w.t.Errorf("oneslot %s did not end within %v\n%s", strings.Join(p.cmd.Args[1:], " "), patience, p.err.String())
	}
	ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return -int(ws.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// do runs a command to its end.
func (w *world) do(j job) (int, *process) {
	p := w.start(j)
	return w.code(p), p
}

// want is do, for commands that have to end with the given code.
func (w *world) want(code int, j job) *process {
	w.t.Helper()
	got, p := w.do(j)
	if got != code {
		w.t.Errorf("oneslot %s: exit %d, want %d\n%s%s", strings.Join(j.args, " "), got, code, p.out.String(), p.err.String())
	}
	return p
}

// fresh reads the lines of the journal that are new since the last call.
func (w *world) fresh() []line {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	lines, offset, err := readJournal(w.path("journal"), w.offset)
	if err != nil {
		w.t.Error(err)
	}
	w.offset = offset
	return lines
}

// started waits for the first line of a worker with this name.
func (w *world) started(name string) (l line) {
	w.t.Helper()
	w.mu.Lock()
	from := w.offset
	w.mu.Unlock()
	poll(w.t, patience, name+" starts", func() bool {
		lines, _, err := readJournal(w.path("journal"), from)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, l = range lines {
			if l.Event == "start" && l.Name == name {
				return true
			}
		}
		return false
	})
	return l
}

func (w *world) look(ref slot.Ref) claim.Slot {
	w.t.Helper()
	s, err := w.db.Look(w.ctx, ref)
	if err != nil {
		w.t.Error(err)
	}
	return s
}

// waiting waits until n stand in line.
func (w *world) waiting(ref slot.Ref, n int) {
	w.t.Helper()
	poll(w.t, patience, fmt.Sprintf("%d wait in line", n), func() bool { return w.look(ref).Waiting == n })
}

// mine lists the processes of this world that live: also wardens, which are
// told nothing but their run.
func (w *world) mine() []seen {
	w.t.Helper()
	runs := map[string]bool{}
	all, err := w.db.Runs(w.ctx, slot.Ref{}, 0)
	if err != nil {
		w.t.Error(err)
	}
	for _, r := range all {
		runs[r.ID] = true
	}
	live, err := processes(func(env map[string]string) bool {
		return env[worldVar] == w.dir || runs[env["ONESLOT_RUN"]]
	})
	if err != nil {
		w.t.Error(err)
	}
	return live
}

// endAll ends what a failed test left.
func (w *world) endAll() {
	live, err := processes(func(env map[string]string) bool { return env[worldVar] == w.dir })
	if err != nil {
		w.t.Error(err)
	}
	for _, p := range live {
		if err := syscall.Kill(p.pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			w.t.Error(err)
		}
	}
}
