package race

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What is built once: the program as it is released, the same with hooks, the one
// after it, whose store has more than ours, and this test without the race detector, for the roles that it plays as a worker
// or another process.
var plainProgram, hookedProgram, nextProgram, helperProgram string

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		os.Exit(play(role))
	}
	os.Exit(testMain(m))
}

// play is this binary as another process.
func play(role string) int {
	roles := map[string]func() error{"worker": workerMain, "queued": queuedMain, "later": laterMain, "waiting": waitingMain, "keep": keepMain, "child": childMain, "load": loadMain}
	f := roles[role]
	if f == nil {
		fmt.Fprintln(os.Stderr, "no such role:", role)
		return 2
	}
	if err := f(); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		return 2
	}
	return 0
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "oneslot-race-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	plainProgram, hookedProgram = filepath.Join(dir, "oneslot"), filepath.Join(dir, "hooked", "oneslot")
	nextProgram, helperProgram = filepath.Join(dir, "next", "oneslot"), filepath.Join(dir, "helper")
	for _, args := range [][]string{
		{"build", "-o", plainProgram, "../../cmd/oneslot"},
		{"build", "-tags", "oneslot_hooks", "-o", hookedProgram, "../../cmd/oneslot"},
		{"build", "-tags", "oneslot_next", "-o", nextProgram, "../../cmd/oneslot"},
		{"test", "-c", "-o", helperProgram, "."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if err := cmd.Run(); err != nil {
			fmt.Fprintf(os.Stderr, "go %v: %v\n", args, err)
			return 1
		}
	}
	return m.Run()
}

// number is a setting of the environment.
func number(t *testing.T, name string, def int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return def
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s", name, text)
	}
	return n
}

// seed is where the choices of a test begin.
func seed(t *testing.T) uint64 {
	t.Helper()
	return uint64(number(t, "ONESLOT_SEED", int(time.Now().UnixNano()&0xffffff)+1))
}

// boot is the time since the machine was started, suspend included: the same in
// all processes.
func boot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// poll waits for a condition.
func poll(t testing.TB, most time.Duration, what string, cond func() bool) {
	t.Helper()
	for end := boot() + most; !cond(); time.Sleep(5 * time.Millisecond) {
		if boot() > end {
			t.Fatalf("not within %v: %s", most, what)
		}
	}
}
