package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
	"golang.org/x/sys/unix"
)

// helperVariable makes the test binary play a part instead of testing.
const helperVariable = "ONESLOT_TEST_PART"

func TestMain(m *testing.M) {
	switch os.Getenv(helperVariable) {
	case "":
		os.Exit(m.Run())
	case "headless":
		headless()
	case "stop-run":
		_, err := Tree{Run: os.Args[1]}.Stop(noDeadline(), Stop{Grace: 50 * time.Millisecond})
		fmt.Printf("%v\n", err)
	case "stop-below":
		stopBelow()
	case "look":
		var p slot.Process
		fmt.Sscan(os.Args[1], &p.Boot, &p.NS, &p.PID, &p.Ticks)
		s := Look(p)
		fmt.Printf("%s %d %s\n", s.Life, s.PID, s.Detail)
	case "self":
		p, err := Self()
		s := Look(p)
		fmt.Println(p.Boot, p.NS, p.PID, p.Ticks, s.Life, s.PID, errors.Join(err, endChild()))
	case "lock":
		lockAndSleep(os.Args[1])
	}
}

// headless ends its first thread and lives on in others.
func headless() {
	go func() { time.Sleep(time.Hour) }()
	go func() {
		for {
			time.Sleep(time.Second)
		}
	}()
	syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
}

// stopBelow starts one process as root and one as nobody, becomes nobody and
// stops both.
func stopBelow() {
	theirs, mine := exec.Command("sleep", "600"), exec.Command("sleep", "600")
	mine.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	err := theirs.Start()
	if err == nil {
		err = mine.Start()
	}
	self, serr := Self()
	if err = errors.Join(err, serr, syscall.Setuid(65534)); err != nil {
		fmt.Println(err)
		return
	}
	report, err := Tree{Under: []slot.Process{self}}.Stop(noDeadline(), Stop{Grace: time.Minute})
	fmt.Printf("termed %d, left %d: %v", report.Termed, len(report.Left), err)
	if !errors.Is(err, slot.ErrNotAllowed) {
		fmt.Print(" (and it is no ErrNotAllowed)")
	}
}

// endChild starts a process, holds on to it and ends it.
func endChild() error {
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		return err
	}
	p, err := Identify(cmd.Process.Pid)
	if err != nil {
		return err
	}
	gone, _, err := Watch(p)
	if err != nil {
		return err
	}
	pids, err := childrenOf(os.Getpid())
	if err != nil || len(pids) != 1 || pids[0] != cmd.Process.Pid {
		return fmt.Errorf("children: %v, %w", pids, err)
	}
	report, err := Tree{Processes: []slot.Process{p}, Groups: []Group{{PGID: p.PID, Leader: p}}}.Stop(noDeadline(), Stop{})
	if err != nil || report.Killed != 1 {
		return fmt.Errorf("%+v, %w", report, err)
	}
	<-gone
	return nil
}

func lockAndSleep(path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: 120, Len: 8})
	}
	fmt.Println(err)
	time.Sleep(time.Hour)
}

// part prepares the test binary to play a part.
func part(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Args = append([]string{exe}, args...)
	cmd.Env = append(os.Environ(), helperVariable+"="+name)
	return cmd
}

// start starts a command that is killed and collected with the test.
func start(t *testing.T, cmd *exec.Cmd) slot.Process {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p, err := Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shell prepares a shell script of a run.
func shell(run, script string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = append(os.Environ(), RunVariable+"="+run)
	return cmd
}

// newRun returns a run id of this test's own, and ends whatever carries it.
func newRun(t *testing.T) string {
	run := strings.ReplaceAll(t.Name(), "/", "-") + time.Now().Format("-150405.000000")
	t.Cleanup(func() { sweep(t, Tree{Run: run}) })
	return run
}

func sweep(t *testing.T, tree Tree) {
	if report, err := tree.Stop(noDeadline(), Stop{}); err != nil {
		t.Errorf("processes of the test are left: %v %+v", err, report.Left)
	}
}

// eventually waits for a condition that must come true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

func members(t *testing.T, tree Tree) []Member {
	t.Helper()
	ms, err := tree.Members()
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

// state reads the state letter of a process; '-' if there is none.
func state(pid int) byte {
	st, err := procfs("/proc").stat(pid, nil)
	if err != nil {
		return '-'
	}
	return st.state
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		missing(t, "root")
	}
}

// output runs a command and gives its words.
func output(t *testing.T, cmd *exec.Cmd) []string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd.Args, err, stderr.String())
	}
	return strings.Fields(string(b))
}

// missing skips with one clear line; where everything must be there it fails.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("ONESLOT_NO_SKIP") != "" {
		t.Fatalf("needs %s", what)
	}
	t.Skipf("needs %s", what)
}
