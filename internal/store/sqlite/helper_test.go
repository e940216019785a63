package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// A test that needs other processes runs this binary again with a job's name.
const jobVar = "SQLITE_TEST_JOB"

func TestMain(m *testing.M) {
	if name := os.Getenv(jobVar); name != "" {
		if err := jobs()[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func jobs() map[string]func(args []string) error {
	return map[string]func([]string) error{"hammer": hammer, "freeze": freeze, "once": onceJob, "grip": grip, "storm": storm}
}

// job is another process at work.
type job struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// start runs a job; it says "ready" and waits for its input to end: the barrier.
func start(t *testing.T, name string, args ...string) *job {
	t.Helper()
	j := &job{Cmd: exec.Command(os.Args[0], args...)}
	j.Env = append(os.Environ(), jobVar+"="+name)
	j.Stderr = os.Stderr
	var err error
	if j.in, err = j.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := j.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Process.Kill(); j.Wait() }) //nolint:errcheck // it may have ended
	j.out = bufio.NewScanner(out)
	j.say(t, "ready")
	return j
}

func (j *job) say(t *testing.T, want string) {
	t.Helper()
	if !j.out.Scan() || j.out.Text() != want {
		t.Fatalf("the job said %q, not %q", j.out.Text(), want)
	}
}

func barrier() {
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin) //nolint:errcheck // its end is the signal
}

func open(path string) (*Store, error) {
	clk, err := clock.System()
	if err != nil {
		return nil, err
	}
	return Open(path, Options{Clock: clk})
}

func mustOpen(t testing.TB, path string) *Store {
	t.Helper()
	s, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // the test is over
	return s
}

func fresh(t testing.TB) *Store {
	return mustOpen(t, filepath.Join(t.TempDir(), "state", "oneslot.db"))
}

func ref(n int) slot.Ref {
	r, err := slot.ParseRef(fmt.Sprintf("octo/hello#%d", n), slot.Grammar{})
	if err != nil {
		panic(err)
	}
	return r
}

func detached(r slot.Ref) claim.Request {
	return claim.Request{Ref: r, Key: claim.NewKey(r), Kind: slot.Detached, TTL: time.Minute, Grace: time.Second,
		Holder: slot.Holder{Host: "here", Path: "manual", Command: "test"}}
}

// hammer claims and releases a slot of its own again and again, and prints its
// longest wait in ms.
func hammer(args []string) error {
	var n, rounds int
	if _, err := fmt.Sscan(args[1]+" "+args[2], &n, &rounds); err != nil {
		return err
	}
	s, err := open(args[0])
	if err != nil {
		return err
	}
	barrier()
	var worst time.Duration
	for range rounds {
		req := detached(ref(n))
		at := time.Now()
		if _, err := s.Acquire(context.Background(), req); err != nil {
			return fmt.Errorf("claim: %w", err)
		}
		worst = max(worst, time.Since(at))
		at = time.Now()
		if _, err := s.Release(context.Background(), req.Key, slot.Outcome{Result: slot.Done}); err != nil {
			return fmt.Errorf("release: %w", err)
		}
		worst = max(worst, time.Since(at))
	}
	return json.NewEncoder(os.Stdout).Encode(worst.Milliseconds())
}

// onceJob claims one slot and exits without closing anything.
func onceJob(args []string) error {
	s, err := open(args[0])
	if err != nil {
		return err
	}
	barrier()
	_, err = s.Acquire(context.Background(), detached(ref(1)))
	return err
}

// freeze stops itself inside a transaction that has written.
func freeze(args []string) error {
	s, err := open(args[0])
	if err != nil {
		return err
	}
	return s.do(context.Background(), "freeze", func(t *tx) error {
		if err := t.exec("INSERT INTO hold (scope, reason, by, at) VALUES ('frozen', '', '', 0)"); err != nil {
			return err
		}
		fmt.Println("ready")
		p, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		err = p.Signal(syscall.SIGSTOP)
		if err == nil {
			time.Sleep(time.Minute) // another thread may take the signal: do not commit before it
		}
		return err
	})
}

// grip stops itself while it keeps a lock that is not the writers' turn: SQLite's
// own write lock, or that of the last one to close the file.
func grip(args []string) error {
	switch args[1] {
	case "write":
		db, err := sql.Open("sqlite", dsn(args[0], "rw", syncsAll, ""))
		if err != nil {
			return err
		}
		conn, err := db.Conn(context.Background())
		if err != nil {
			return err
		}
		if _, err := conn.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
			return err
		}
	case "close":
		f, err := os.OpenFile(args[0], os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		l := syscall.Flock_t{Type: syscall.F_WRLCK, Start: 0x40000000, Len: 512}
		if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &l); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		return err
	}
	time.Sleep(time.Minute) // another thread may take the signal: do not end before it
	return nil
}

func contains(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
}

func displacing(req claim.Request, id string) claim.Request {
	req.Displace = &claim.Displace{Claim: id, Why: claim.Dead, Detail: "the test says so"}
	return req
}
