package standby

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
)

// TestMain is the supervisor, too: it notes what job it got, or that none came.
func TestMain(m *testing.M) {
	out := os.Getenv("STANDBY_TEST_OUT")
	if out == "" {
		os.Exit(m.Run())
	}
	Tell(nil)
	text := "none"
	if j, err := Receive(os.Stdin); err == nil {
		text = strings.Join(j.Argv, " ") + " " + j.Key.Token + " " + j.Claim.Ref.String()
	} else if !errors.Is(err, ErrNoJob) {
		text = err.Error()
	}
	if err := os.WriteFile(fmt.Sprintf("%s/%d", out, os.Getpid()), []byte(text), 0o600); err != nil {
		os.Exit(1)
	}
}

func pool(t *testing.T) (p *Pool, said func(pid int) string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("STANDBY_TEST_OUT", dir)
	p = NewPool([]string{os.Args[0]}, os.Environ, slog.New(slog.DiscardHandler))
	t.Cleanup(p.Close)
	return p, func(pid int) string {
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(pid)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

func ended(t *testing.T, s *Supervisor) {
	t.Helper()
	select {
	case <-s.ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the supervisor does not end")
	}
}

// The job comes by pipe, and the token is in no argument list.
func TestStart_HandsTheJobOver(t *testing.T) {
	ref, err := slot.ParseCanonical("github.com/octo/hello#1")
	if err != nil {
		t.Fatal(err)
	}
	p, said := pool(t)
	s, err := p.Get()
	if err != nil {
		t.Fatal(err)
	}
	if s.Process.IsZero() || s.Process.PID == os.Getpid() || s.Process.Ticks == 0 {
		t.Fatalf("the supervisor is not named: %+v", s.Process)
	}
	key := claim.NewKey(ref)
	if err := s.Start(Job{Claim: slot.Claim{Ref: ref}, Key: key, Argv: []string{"sh", "-c", "true"}}); err != nil {
		t.Fatal(err)
	}
	ended(t, s)
	if got, want := said(s.Process.PID), "sh -c true "+key.Token+" github.com/octo/hello#1"; got != want {
		t.Errorf("it got %q, want %q", got, want)
	}
}

// P1: a supervisor whose dispatcher is gone starts nothing, and is proved dead.
func TestClose_EndsItWithoutAJob(t *testing.T) {
	p, said := pool(t)
	s, err := p.Get()
	if err != nil {
		t.Fatal(err)
	}
	if proc.Look(s.Process).Life != proc.Alive {
		t.Error("it does not wait for its job")
	}
	s.Close()
	ended(t, s)
	if got := said(s.Process.PID); got != "none" {
		t.Errorf("it says %q", got)
	}
	if life := proc.Look(s.Process).Life; life != proc.Dead {
		t.Errorf("it is %s", life)
	}
}

// The one that waits is given first, and one that died waiting is not given at all.
func TestGet_GivesTheIdleOne(t *testing.T) {
	p, _ := pool(t)
	p.Refill()
	idle := p.idle
	if s, err := p.Get(); err != nil || s != idle {
		t.Fatalf("%v: not the one that waits", err)
	}
	idle.Close()
	ended(t, idle)
	p.Refill()
	dead := p.idle
	dead.Close()
	ended(t, dead)
	s, err := p.Get()
	if err != nil || s == dead || s.over() {
		t.Fatalf("%v: a dead one was given", err)
	}
	s.Close()
	ended(t, s)
}

// A supervisor that is stopped holds nobody up: a job larger than its pipe is not
// waited with for ever, and it never starts anything.
func TestStart_StoppedSupervisor(t *testing.T) {
	p, _ := pool(t)
	s, err := p.Get()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(s.Process.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.most = 50 * time.Millisecond
	if err := s.Start(Job{Argv: []string{strings.Repeat("x", 1<<20)}}); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it took the job: %v", err)
	}
	ended(t, s)
}

// Without Spare nobody waits in advance.
func TestRefill_WithoutSpare(t *testing.T) {
	p, _ := pool(t)
	p.Spare = false
	if p.Refill(); p.idle != nil {
		t.Error("one waits")
	}
}

// What the service manager told the daemon is for no worker.
func TestInherited(t *testing.T) {
	env := []string{"PATH=/bin", "NOTIFY_SOCKET=/run/n", "WATCHDOG_USEC=1", "WATCHDOG_PID=1", "INVOCATION_ID=x", "A=NOTIFY_SOCKET"}
	if got, want := strings.Join(inherited(env), " "), "PATH=/bin A=NOTIFY_SOCKET"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// One that there was no job for is given again; a second one that comes back goes.
func TestBack_IsGivenAgain(t *testing.T) {
	p, _ := pool(t)
	first, err := p.Get()
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.Get()
	if err != nil {
		t.Fatal(err)
	}
	p.Back(first)
	p.Back(second)
	ended(t, second)
	if s, err := p.Get(); err != nil || s != first || s.over() {
		t.Errorf("%v: not the one that came back", err)
	}
	p.Close()
	p.Back(first)
	ended(t, first)
}

// When a pool is closed, nobody who waited for a job has the store open any more.
func TestClose_SeesTheIdleOneOff(t *testing.T) {
	p, _ := pool(t)
	p.Refill()
	idle := p.idle
	p.Close()
	if !idle.over() {
		t.Error("it is still there")
	}
}

// A job that was cut off is none: nothing has been started for it.
func TestReceive_CutOff(t *testing.T) {
	for _, text := range []string{"", "{", `{"Argv":["true"`} {
		if _, err := Receive(strings.NewReader(text)); !errors.Is(err, ErrNoJob) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Receive(strings.NewReader(strings.Repeat(" ", jobMax+1))); err == nil || errors.Is(err, ErrNoJob) {
		t.Errorf("a job without bounds: %v", err)
	}
}
