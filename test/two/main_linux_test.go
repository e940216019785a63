package two

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

// What is built once: the program as it is released, and the worker of both sides.
var program, worker string

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "oneslot-two-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program, worker = filepath.Join(dir, "oneslot"), filepath.Join(dir, "worker")
	for to, from := range map[string]string{program: "../../cmd/oneslot", worker: "./worker"} {
		cmd := exec.Command("go", "build", "-o", to, from)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if err := cmd.Run(); err != nil {
			fmt.Fprintf(os.Stderr, "go build %s: %v\n", from, err)
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

// patience bounds every wait for something that has to come; nothing is read into
// how long it took.
const patience = 60 * time.Second

// poll waits for a condition.
func poll(t testing.TB, most time.Duration, what string, cond func() bool) {
	t.Helper()
	for end := boot() + most; !cond(); time.Sleep(5 * time.Millisecond) {
		if boot() > end {
			t.Fatalf("not within %v: %s", most, what)
		}
	}
}

// boot is the time since the machine was started, the same in all processes and in
// containers.
func boot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
