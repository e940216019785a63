package supervise

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
	"golang.org/x/sys/unix"
)

func TestSignalsEndTheRun(t *testing.T) {
	// What is caught here is not ignored there, even if these tests run under nohup.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
	for _, c := range []struct {
		name, script string
		first        syscall.Signal
		second       bool
		code         int
	}{
		{"INT", "sleep 600", syscall.SIGINT, false, 130},
		{"TERM", "sleep 600", syscall.SIGTERM, false, 143},
		{"HUP", "sleep 600", syscall.SIGHUP, false, 129},
		{"a second one kills", `trap "" TERM INT; sleep 600 & sleep 600`, syscall.SIGINT, true, 130},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.plan("sh", "-c", c.script)
			p.TTL, p.Grace = time.Minute, 20*time.Second
			s := w.start(p)
			w.identity(p)
			began := time.Now()
			s.Process.Signal(c.first)
			if c.second {
				// The two must be two: one pending signal swallows another.
				time.AfterFunc(300*time.Millisecond, func() { s.Process.Signal(c.first) })
			}
			if got := s.code(); got != c.code {
				t.Errorf("exit %d: %s", got, s.err.String())
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if r := w.report(); r.Outcome != slot.Stopped || !w.slot(p).Ended {
				t.Errorf("report %+v", r)
			}
		})
	}
}

func TestStopAskedInTheStore(t *testing.T) {
	w := newWorld(t)
	p := w.plan("sleep", "600")
	p.TTL = time.Minute
	s := w.start(p)
	w.identity(p)
	if _, err := w.db.AskStop(context.Background(), w.slot(p).ID, "by hand"); err != nil {
		t.Fatal(err)
	}
	s.Process.Signal(syscall.SIGUSR1) // "look at the store now"
	if got := s.code(); got != 128+int(syscall.SIGTERM) {
		t.Errorf("exit %d: %s", got, s.err.String())
	}
	if r := w.report(); r.Outcome != slot.Stopped || r.Reason == nil || *r.Reason != "by hand" {
		t.Errorf("report %+v", r)
	}
}

// A reader that goes away ends the worker as it would without us, and the log has
// what was printed until then.
func TestReaderGoesAway(t *testing.T) {
	for _, warden := range []bool{false, true} {
		t.Run("warden "+strconv.FormatBool(warden), func(t *testing.T) {
			w := newWorld(t)
			p := w.plan("sh", "-c", `echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exec yes`)
			p.Warden, p.LogBytes, p.Timeout = warden, 1<<20, 20*time.Second
			r, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			s := w.prepare(p)
			s.Stdout = out
			s.launch()
			out.Close()
			if line, _ := bufio.NewReader(r).ReadString('\n'); line != "one\n" {
				t.Errorf("read %q", line)
			}
			r.Close()
			os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600)
			if got := s.code(); got != 128+int(syscall.SIGPIPE) || s.err.Len() > 0 {
				t.Errorf("exit %d: %s", got, s.err.String())
			}
			if log, _ := os.ReadFile(*w.report().Log); !strings.HasPrefix(string(log), "one\ntwo\n") {
				t.Errorf("log %.100q", log)
			}
		})
	}
}

// An output that takes no more is told, costs the log nothing, and is no success.
func TestOutputThatCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		missing(t, err.Error())
	}
	defer full.Close()
	blind, err := os.Open(os.DevNull) // for reading only
	if err != nil {
		t.Fatal(err)
	}
	defer blind.Close()
	for _, c := range []struct {
		name, script string
		out          *os.File
		code         int
		say          string
	}{
		{"full", "echo one; sleep 0.1; echo two", full, exitOutput, "standard output: no space left on device; the rest"},
		{"not for writing", "echo one; sleep 0.1; echo two", blind, exitOutput, "standard output: bad file descriptor; the rest"},
		{"the worker's own code stays", "echo one; echo two; exit 3", full, 3, "standard output: no space left on device; the rest"},
		{"nothing was printed", "exit 0", full, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			s := w.prepare(w.plan("sh", "-c", c.script))
			s.Stdout = c.out
			s.launch()
			if got := s.code(); got != c.code {
				t.Errorf("exit %d, want %d", got, c.code)
			}
			if c.say == "" {
				if s.err.Len() > 0 {
					t.Errorf("said %q", s.err.String())
				}
				return
			}
			if n := strings.Count(s.err.String(), c.say); n != 1 {
				t.Errorf("said %d times: %s", n, s.err.String())
			}
			r := w.report()
			if log, _ := os.ReadFile(*r.Log); string(log) != "one\ntwo\n" {
				t.Errorf("log %q", log)
			}
			if r.Exit == nil || *r.Exit != c.code%exitOutput {
				t.Errorf("report %+v", r)
			}
		})
	}
}

// A reader that does not read holds up the worker, but not the slot's end.
func TestReaderThatHangs(t *testing.T) {
	w := newWorld(t)
	p := w.plan("sh", "-c", `head -c 300000 /dev/zero; echo end >&2`)
	p.Timeout, p.Grace = time.Second, 300*time.Millisecond
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := w.prepare(p)
	s.Stdout = out
	s.launch()
	out.Close()
	until(t, "the slot is free", func() bool { return w.slot(p).Ended })
	if got := w.slot(p).Outcome.Result; got != slot.TimedUp {
		t.Errorf("ended as %s", got)
	}
}

func TestLogIsBounded(t *testing.T) {
	w := newWorld(t)
	p := w.plan("sh", "-c", "echo 0123456789; sleep 0.2; echo more")
	p.LogBytes = 5
	s := w.start(p)
	s.code()
	log, _ := os.ReadFile(*w.report().Log)
	if want := "01234\n[oneslot: log cut here, 11 more bytes]\n"; string(log) != want {
		t.Errorf("log %q", log)
	}
	if s.out.String() != "0123456789\nmore\n" {
		t.Errorf("stdout %q", s.out.String())
	}
}

func TestTerminalStaysATerminal(t *testing.T) {
	for _, warden := range []bool{false, true} {
		t.Run("warden "+strconv.FormatBool(warden), func(t *testing.T) {
			w := newWorld(t)
			p := w.plan("sh", "-c", `test -t 0 && test -t 1 && test -t 2 && stty size && stty -a | grep -o 'susp = [^;]*'; read line; echo "got $line"; exit 6`)
			p.Warden = warden
			master, tty, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer master.Close()
			pty.Setsize(master, &pty.Winsize{Rows: 33, Cols: 99})
			s := w.prepare(p)
			s.Stdin, s.Stdout, s.Stderr = tty, tty, tty
			s.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
			s.launch()
			seen := make(chan string, 100)
			go func() {
				lines := bufio.NewScanner(master)
				for lines.Scan() {
					seen <- lines.Text()
				}
				close(seen)
			}()
			var all []string
			expect := func(want string) {
				t.Helper()
				for {
					select {
					case line := <-seen:
						all = append(all, line)
						if strings.Contains(line, want) {
							return
						}
					case <-time.After(10 * time.Second):
						t.Fatalf("no %q in %q", want, all)
					}
				}
			}
			expect("33 99")
			expect("susp = <undef>")
			master.Write([]byte("hello\r"))
			expect("got hello")
			if got := s.code(); got != 6 {
				t.Errorf("exit %d; %q", got, all)
			}
			if mode := termios(t, tty); mode.Lflag&syscall.ECHO == 0 || mode.Lflag&syscall.ICANON == 0 {
				t.Error("the terminal was not restored")
			}
			tty.Close()
		})
	}
}

func TestSocket(t *testing.T) {
	w := newWorld(t)
	p := w.plan("sh", "-c", `env >env.tmp; mv env.tmp env; trap 'exit 9' TERM; while :; do sleep 0.05; done`)
	s := w.start(p)
	until(t, "the worker works", func() bool { return exists(filepath.Join(w.dir, "env")) })
	env, _ := os.ReadFile(filepath.Join(w.dir, "env"))
	vars := strings.Split(string(env), "\n")
	sock, _ := lookupEnv(vars, "ONESLOT_SOCKET")
	id, _ := lookupEnv(vars, "ONESLOT_CLAIM")
	token, _ := lookupEnv(vars, "ONESLOT_TOKEN")
	key := claim.Key{Claim: id, Token: token}
	ctx := context.Background()

	if a, err := Check(ctx, sock, key); err != nil || a.Ref != "github.com/octo/hello#7" || a.Fence == 0 {
		t.Errorf("check: %+v, %v", a, err)
	}
	if _, err := Renew(ctx, sock, key); err != nil {
		t.Errorf("renew: %v", err)
	}
	for _, wrong := range []claim.Key{{Claim: id, Token: token + "x"}, {Claim: id}, {Claim: "other", Token: token}} {
		for name, f := range map[string]func(context.Context, string, claim.Key) (Answer, error){
			"check": Check, "renew": Renew,
			"release": func(ctx context.Context, s string, k claim.Key) (Answer, error) { return Release(ctx, s, k, slot.Done) },
		} {
			if a, _ := f(ctx, sock, wrong); a.State != Gone {
				t.Errorf("%s with a wrong key: %+v", name, a)
			}
		}
	}
	if _, err := Release(ctx, sock, key, slot.Failed); err != nil {
		t.Errorf("release: %v", err)
	}
	// The slot is held for what is left of the run, but not for the worker.
	for name, f := range map[string]func(context.Context, string, claim.Key) (Answer, error){"check": Check, "renew": Renew} {
		if a, err := f(ctx, sock, key); a.State != Gone || a.Reason != "released" || !errors.Is(err, slot.ErrLost) {
			t.Errorf("%s after release: %+v, %v", name, a, err)
		}
	}
	if got := s.code(); got != 0 {
		t.Errorf("exit %d: %s", got, s.err.String())
	}
	if r := w.report(); r.Outcome != slot.Failed {
		t.Errorf("report %+v", r)
	}
	if exists(sock) {
		t.Error("the socket is still there")
	}
	if a, err := Check(ctx, sock, key); a.State != Unclear || err == nil {
		t.Errorf("check when all is over: %+v, %v", a, err)
	}
}

// The socket of a run whose folder has a long name lies elsewhere, and is gone
// at the end.
func TestSocketOfALongFolder(t *testing.T) {
	w := newWorld(t)
	p := w.plan("sh", "-c", "echo $ONESLOT_SOCKET; test -S $ONESLOT_SOCKET")
	p.Store = filepath.Join(w.dir, strings.Repeat("long", 25), "oneslot.db")
	s := w.start(p)
	if got := s.code(); got != 0 {
		t.Fatalf("exit %d: %s", got, s.err.String())
	}
	if sock := strings.TrimSpace(s.out.String()); len(sock) > 103 || exists(sock) {
		t.Errorf("socket %q", sock)
	}
}

// C21: the supervisor judges life, not what the worker says.
func TestC21_SilentButAlive(t *testing.T) {
	w := newWorld(t)
	p := w.plan("sleep", "600")
	p.TTL, p.Grace = time.Second, 300*time.Millisecond
	s := w.start(p)
	id := w.identity(p)
	for end := time.Now().Add(3 * p.TTL); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if c := w.slot(p); c.Expired() {
			t.Fatalf("not renewed: %+v", c)
		}
	}
	// Chatty but gone: its log is new, but it is freed at once.
	rundir.At(w.slot(p).Dir).OpenLog(0)
	syscall.Kill(id.Worker.PID, syscall.SIGKILL)
	if got := s.code(); got != 137 || !w.slot(p).Ended {
		t.Errorf("exit %d", got)
	}
}

func termios(t *testing.T, f *os.File) *unix.Termios {
	t.Helper()
	mode, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	if err != nil {
		t.Fatal(err)
	}
	return mode
}
