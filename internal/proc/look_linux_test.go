package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
	"golang.org/x/sys/unix"
)

func noDeadline() context.Context { return context.Background() }

func TestC51_ProcessNumbersComeBack(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	alive := start(t, cmd)
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	with := func(p slot.Process, change func(*slot.Process)) slot.Process {
		change(&p)
		return p
	}

	zombie := exec.Command("true")
	ended := start(t, zombie)
	eventually(t, "a zombie", func() bool { return state(zombie.Process.Pid) == 'Z' })

	collected := exec.Command("sleep", "600")
	if err := collected.Start(); err != nil {
		t.Fatal(err)
	}
	past, err := Identify(collected.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	_ = collected.Process.Kill()
	_ = collected.Wait()

	for name, c := range map[string]struct {
		p    slot.Process
		want Life
	}{
		"ourselves":                    {self, Alive},
		"a child":                      {alive, Alive},
		"a zombie child":               {ended, Dead},
		"ended and collected":          {past, Dead},
		"another's number":             {with(past, func(p *slot.Process) { p.PID = alive.PID }), Dead},
		"started one tick later":       {with(alive, func(p *slot.Process) { p.Ticks-- }), Dead},
		"started one tick before":      {with(alive, func(p *slot.Process) { p.Ticks++ }), Dead},
		"another boot":                 {with(alive, func(p *slot.Process) { p.Boot = "b1f5c5e2-0000-4000-8000-000000000000" }), Unseen},
		"another boot, a free number":  {with(past, func(p *slot.Process) { p.Boot = "another" }), Unseen},
		"no boot":                      {with(alive, func(p *slot.Process) { p.Boot = "" }), Unseen},
		"a namespace that is not told": {with(alive, func(p *slot.Process) { p.NS = 0 }), Unseen},
		"nobody":                       {slot.Process{}, Unseen},
	} {
		t.Run(name, func(t *testing.T) {
			s := Look(c.p)
			if s.Life != c.want || s.Detail == "" {
				t.Errorf("Look = %+v, want %s", s, c.want)
			}
			if s.Life == Alive && (s.PID != c.p.PID || s.UID != os.Getuid() || s.Command == "") {
				t.Errorf("Look = %+v", s)
			}
		})
	}
}

func TestC51_AStoppedProcessLives(t *testing.T) {
	p := start(t, exec.Command("sleep", "600"))
	if err := Signal(p, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "stopped", func() bool { return Look(p).Stopped })
	if s := Look(p); s.Life != Alive || s.Command != "sleep" {
		t.Errorf("Look = %+v", s)
	}
}

// A process whose first thread has ended looks like a zombie.
func TestC51_HeadlessIsNotDead(t *testing.T) {
	cmd := part(t, "headless")
	p := start(t, cmd)
	eventually(t, "the first thread ends", func() bool { return state(cmd.Process.Pid) == 'Z' })
	if s := Look(p); s.Life != Alive {
		t.Errorf("Look = %+v", s)
	}
	gone, cancel, err := Watch(p)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	select {
	case <-gone:
		t.Error("Watch: gone while threads live")
	default:
	}
	if err := Signal(p, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-gone
	if s := Look(p); s.Life != Dead {
		t.Errorf("Look = %+v", s)
	}
}

// kill answers EPERM for another user's process; it lives all the same.
func TestC51_AnotherUsersProcess(t *testing.T) {
	needRoot(t)
	run := newRun(t)
	theirs := start(t, exec.Command("sleep", "600"))

	look := part(t, "look", words(theirs))
	asNobody(t, look)
	if got := output(t, look); got[0] != string(Alive) {
		t.Errorf("another user's process, seen by nobody: %q", got)
	}

	mine := start(t, shell(run, "exec sleep 600"))
	stop := part(t, "stop-run", run)
	stop.Env = append(stop.Env, RunVariable+"="+run)
	asNobody(t, stop)
	// Another user's environment cannot be read, so its process is no member.
	if got := output(t, stop); got[0] != "<nil>" {
		t.Errorf("Stop by nobody: %q", got)
	}
	if s := Look(mine); s.Life != Alive {
		t.Errorf("it was not nobody's to stop: %+v", s)
	}
}

// words is how a part is told of a process.
func words(p slot.Process) string {
	return fmt.Sprintf("%s %d %d %d", p.Boot, p.NS, p.PID, p.Ticks)
}

// asNobody makes a part run as the user nobody, from a place that one can read.
func asNobody(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	dir, err := os.MkdirTemp("", "proc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	exe := filepath.Join(dir, "part")
	if out, err := exec.Command("cp", cmd.Path, exe).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd.Path = exe
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

func TestC51_AnotherNamespaceFromOutside(t *testing.T) {
	needRoot(t)
	if !FirstNamespace() {
		missing(t, "the first pid namespace")
	}
	outer := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sleep", "600")
	start(t, outer)
	var inner slot.Process
	eventually(t, "the inner sleep", func() bool {
		pids, _ := childrenOf(outer.Process.Pid)
		if len(pids) != 1 {
			return false
		}
		p, err := Identify(pids[0])
		inner = p
		return err == nil && p.PID == 1 && Look(p).Command == "sleep"
	})

	s := Look(inner)
	if s.Life != Alive || s.PID <= 1 {
		t.Errorf("an inner process, seen from outside: %+v", s)
	}
	other := inner
	other.PID = 2
	if s := Look(other); s.Life != Dead {
		t.Errorf("a number that is free in there: %+v", s)
	}
	gone, cancel, err := Watch(inner)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	if err := Signal(inner, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-gone
	eventually(t, "its namespace ends", func() bool { return Look(inner).Life == Dead })
}

func TestC51_AnotherNamespaceFromInside(t *testing.T) {
	needRoot(t)
	outside := start(t, exec.Command("sleep", "600"))
	for name, how := range map[string]struct {
		args []string
		want Life // of an outer process, seen from inside
	}{
		"its own proc":     {[]string{"--pid", "--fork", "--mount-proc"}, Unseen},
		"the outer's proc": {[]string{"--pid", "--fork"}, Alive},
	} {
		t.Run(name, func(t *testing.T) {
			look := part(t, "look")
			look.Args = append(append([]string{"unshare"}, how.args...), look.Path, words(outside))
			look.Path, _ = exec.LookPath("unshare")
			if got := output(t, look); got[0] != string(how.want) {
				t.Errorf("an outer process, seen from inside: %q, want %s", got, how.want)
			}

			self := part(t, "self")
			self.Args = append(append([]string{"unshare"}, how.args...), self.Path)
			self.Path = look.Path
			got := output(t, self)
			if got[2] != "1" || got[4] != string(Alive) || got[5] != "1" || got[6] != "<nil>" || got[1] == strconv.FormatUint(outside.NS, 10) {
				t.Errorf("itself: %q", got)
			}
		})
	}
}

// A /proc that hides processes proves nothing.
func TestC51_HiddenIsNotDead(t *testing.T) {
	p := start(t, exec.Command("sleep", "600"))
	v, err := newView()
	if err != nil {
		t.Fatal(err)
	}
	v.fs = procfs(t.TempDir())
	if f := v.find(p); f.life != Unseen {
		t.Errorf("hidden and alive: %+v", f)
	}
	if err := Signal(p, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a zombie", func() bool { return state(p.PID) == 'Z' })
	var ws unix.WaitStatus
	if _, err := unix.Wait4(p.PID, &ws, 0, nil); err != nil {
		t.Fatal(err)
	}
	if f := v.find(p); f.life != Dead {
		t.Errorf("hidden and gone: %+v", f)
	}
	inner := p
	inner.NS = 1
	if f := v.find(inner); f.life != Unseen {
		t.Errorf("hidden, of another namespace: %+v", f)
	}
}

func TestC51_HidepidIsNotDead(t *testing.T) {
	needRoot(t)
	p := start(t, exec.Command("sleep", "600"))
	free := p
	free.PID = 1 << 22
	inner := p
	inner.NS = 1
	for _, c := range []struct {
		p    slot.Process
		want Life
	}{{p, Unseen}, {free, Dead}, {inner, Unseen}} {
		look := part(t, "look", words(c.p))
		asNobody(t, look)
		// Kernels before 5.8, where the option would count for all, refuse the word.
		look.Args = []string{"unshare", "--mount", "sh", "-c",
			`mount -t proc -o hidepid=invisible proc /proc && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"`,
			"sh", look.Path, words(c.p)}
		look.Path, _ = exec.LookPath("unshare")
		look.SysProcAttr = nil
		if got := output(t, look); got[0] != string(c.want) {
			t.Errorf("Look(%+v) = %q, want %s", c.p, got, c.want)
		}
	}
}

func TestC51_SignalMissesTheSuccessor(t *testing.T) {
	p := start(t, exec.Command("sleep", "600"))
	past := p
	past.Ticks--
	if err := Signal(past, syscall.SIGKILL); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("Signal = %v", err)
	}
	if s := Look(p); s.Life != Alive {
		t.Errorf("the wrong one was hit: %+v", s)
	}
	past.Boot = "another"
	if err := Signal(past, syscall.SIGKILL); !errors.Is(err, slot.ErrUnknown) {
		t.Errorf("Signal = %v", err)
	}
}

func TestIdentifyNobody(t *testing.T) {
	if _, err := Identify(1 << 22); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("Identify = %v", err)
	}
	if _, err := childrenOf(1 << 22); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("childrenOf = %v", err)
	}
}
