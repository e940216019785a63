package supervise

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
)

// identity waits for the run's worker and tells who it is made of.
func (w *world) identity(p plan) rundir.Identity {
	w.t.Helper()
	var id rundir.Identity
	until(w.t, "the worker is noted", func() bool {
		c := w.slot(p)
		var err error
		id, err = rundir.At(c.Dir).Identity()
		return err == nil && !id.Worker.IsZero()
	})
	return id
}

func TestWardenNormalEnd(t *testing.T) {
	w := newWorld(t)
	p := w.plan("sh", "-c", "cat; echo err >&2; exit 4")
	p.Warden = true
	s := w.start(p)
	if got := s.code(); got != 4 {
		t.Fatalf("exit %d; %s", got, s.err.String())
	}
	if s.err.String() != "err\n" {
		t.Errorf("stderr %q", s.err.String())
	}
	if c := w.slot(p); !c.Ended || c.Outcome.Result != slot.Failed {
		t.Errorf("claim %+v", c)
	}
}

func TestWardenSpeaksOfAMissingInterpreter(t *testing.T) {
	w := newWorld(t)
	p := w.plan(script(t, w.dir, "#!/nonexistent/sh\n"))
	p.Warden = true
	if s := w.start(p); s.code() != exitNotFound {
		t.Errorf("exit %d: %s", s.code(), s.err.String())
	}
}

// A host that was frozen with the job in the pipe: the claim may be somebody
// else's by now.
func TestWardenGetsItsJobTooLate(t *testing.T) {
	w := newWorld(t)
	theirIn, down, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	up, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer up.Close()
	cmd := exec.Command(os.Args[0], "warden-internal")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut, theirIn} // the last is the lock's place
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	started := filepath.Join(w.dir, "started")
	const ttl = 30 * time.Second
	// In the past by less than the claim: what is left is too little for the end.
	first := toWarden{
		Job:   &job{Path: "/bin/sh", Argv: []string{"sh", "-c", "touch " + started}, Env: []string{}, Dir: w.dir},
		Grace: 10 * time.Second, Lease: &lease{Sent: w.clk.Boot() - ttl + 10*time.Second, TTL: ttl},
	}
	if err := json.NewEncoder(down).Encode(first); err != nil {
		t.Fatal(err)
	}
	var answer fromWarden
	if err := json.NewDecoder(up).Decode(&answer); err != nil || answer.Errno != syscall.ETIMEDOUT {
		t.Errorf("answer %+v, %v", answer, err)
	}
	down.Close()
	cmd.Wait()
	if exists(started) {
		t.Error("the job was started")
	}
}

// P11: whichever of the two is killed or frozen, the tree is gone before the
// claim's deadline.
func TestP11_TreeEndsBeforeTheDeadline(t *testing.T) {
	const loop = `trap "" TERM; setsid sh -c 'trap "" TERM; sleep 600 & sleep 600' & sleep 600 & sleep 600`
	for _, c := range []struct {
		name   string
		sig    syscall.Signal
		warden bool
	}{
		{"supervisor killed", syscall.SIGKILL, false},
		{"supervisor frozen", syscall.SIGSTOP, false},
		{"warden killed", syscall.SIGKILL, true},
		{"warden frozen", syscall.SIGSTOP, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.plan("sh", "-c", loop)
			p.Warden = true
			s := w.start(p)
			id := w.identity(p)
			mark := "ONESLOT_RUN=" + w.slot(p).Run
			until(t, "the whole tree", func() bool { return len(marked(mark)) >= 5 })
			who := id.Supervisor.PID
			if c.warden {
				who = id.Warden.PID
			}
			at := w.slot(p)
			read := time.Now()
			syscall.Kill(who, c.sig)
			until(t, "the tree is gone", func() bool {
				return !slices.ContainsFunc(marked(mark), func(pid string) bool { return pid != strconv.Itoa(id.Warden.PID) })
			})
			// The deadline may have moved once between our look and the signal.
			if took := time.Since(read); took > at.Left+p.TTL/3 {
				t.Errorf("took %v of %v", took, at.Left)
			}
			t.Logf("gone after %v, deadline in %v", time.Since(read), at.Left)
			syscall.Kill(id.Supervisor.PID, syscall.SIGCONT)
			if !c.warden && c.sig == syscall.SIGKILL {
				return
			}
			if code := s.code(); c.warden && code != exitUnknown && code != exitLost || !c.warden && code != exitLost {
				t.Errorf("exit %d: %s", code, s.err.String())
			}
			if c := w.slot(p); !c.Ended {
				t.Errorf("not released: %+v", c)
			}
		})
	}
}

// P11: also in a pid namespace of its own, which others may not see into.
func TestP11_InAPIDNamespace(t *testing.T) {
	shell := []string{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", `"$@" & wait; exec sleep 600`, "sh"}
	if err := exec.Command(shell[0], append(shell[1:5:5], "true")...).Run(); err != nil {
		missing(t, "pid namespaces: "+err.Error())
	}
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.plan("sh", "-c", `trap "" TERM; setsid sleep 600 & sleep 600`)
			p.Warden = true
			s := w.prepare(p)
			inner := exec.Command(shell[0], append(shell[1:len(shell):len(shell)], s.Path)...)
			inner.Env, inner.Stdout, inner.Stderr, inner.WaitDelay = s.Env, s.Stdout, s.Stderr, s.WaitDelay
			s.Cmd = inner
			s.launch()
			id := w.identity(p)
			mark := "ONESLOT_RUN=" + w.slot(p).Run
			until(t, "the tree", func() bool { return len(marked(mark)) >= 4 })
			began := time.Now()
			if err := proc.Signal(id.Supervisor, sig); err != nil {
				t.Fatal(err)
			}
			until(t, "the tree is gone", func() bool { return len(marked(mark)) <= 1 }) // the warden may stay
			if took := time.Since(began); took > p.TTL+time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
