package supervise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
)

func TestC10_ReleaseIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	p := w.plan("true")
	p.FailRelease = 2
	s := w.start(p)
	if got := s.code(); got != 0 {
		t.Fatalf("exit %d: %s", got, s.err.String())
	}
	if n := strings.Count(s.err.String(), "ended, release pending"); n != 1 {
		t.Errorf("said %d times: %s", n, s.err.String())
	}
	if c := w.slot(p); !c.Ended {
		t.Errorf("still held: %+v", c)
	}
	if s := w.start(w.plan("true")); s.code() != 0 {
		t.Errorf("the next one: exit %d: %s", s.code(), s.err.String())
	}
}

func TestC10_OutcomeIsOnDiskWhileReleaseIsPending(t *testing.T) {
	w := newWorld(t)
	p := w.plan("sh", "-c", "exit 7")
	p.FailRelease = 1 << 30
	s := w.start(p)
	until(t, "the outcome is written", func() bool {
		out, err := rundir.At(w.slot(p).Dir).Outcome()
		return err == nil && out.Exit != nil && *out.Exit == 7
	})
	if c := w.slot(p); c.Ended {
		t.Error("released before the outcome was written")
	}
	s.Process.Kill() // whoever comes next settles from the file
	s.code()
	if s := w.start(w.plan("true")); s.code() != 0 {
		t.Fatalf("the next one: exit %d: %s", s.code(), s.err.String())
	}
	runs, err := w.db.Runs(context.Background(), p.ref(), 0)
	if err != nil || len(runs) != 2 || runs[1].Outcome.Exit == nil || *runs[1].Outcome.Exit != 7 {
		t.Errorf("runs %+v, %v", runs, err)
	}
}

func TestC19_WorkLongerThanTheClaim(t *testing.T) {
	w := newWorld(t)
	p := w.plan("sleep", "3")
	p.TTL, p.Grace = time.Second, 300*time.Millisecond
	s := w.start(p)
	w.identity(p)
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if c := w.slot(p); c.Expired() || c.Ended {
			t.Fatalf("not renewed: %+v", c)
		}
	}
	other := w.start(w.plan("true"))
	if got := other.code(); got != exitBusy {
		t.Errorf("a second one got exit %d", got)
	}
	if got := s.code(); got != 0 {
		t.Errorf("exit %d: %s", got, s.err.String())
	}
}

func TestC19_LostIsEndedAndItsReleaseChangesNothing(t *testing.T) {
	w := newWorld(t)
	p := w.plan("sh", "-c", `trap "" TERM; sleep 600 & sleep 600`)
	a := w.start(p)
	id := w.identity(p)
	q := w.plan("sleep", "2")
	q.Force, q.Report = true, ""
	b := w.start(q)
	if got := a.code(); got != exitLost {
		t.Errorf("the loser: exit %d: %s", got, a.err.String())
	}
	until(t, "the winner works", func() bool {
		c := w.slot(p)
		return c.Holder.Process.PID == b.Process.Pid && c.Phase == slot.Running
	})
	if r := w.report(); r.Outcome != slot.Lost || !r.Ran {
		t.Errorf("report %+v", r)
	}
	if exists("/proc/" + strconv.Itoa(id.Worker.PID)) {
		t.Error("the winner started beside the old worker")
	}
	if got := b.code(); got != 0 {
		t.Errorf("the winner: exit %d: %s", got, b.err.String())
	}
}

func TestC19_RenewalThatFailsEndsNoWork(t *testing.T) {
	w := newWorld(t)
	p := w.plan("sleep", "2")
	p.TTL, p.Grace, p.FailRenew = time.Second, 300*time.Millisecond, 3
	s := w.start(p)
	if got := s.code(); got != 0 {
		t.Errorf("exit %d: %s", got, s.err.String())
	}
	if n := strings.Count(s.err.String(), "cannot be renewed"); n != 1 {
		t.Errorf("said %d times: %s", n, s.err.String())
	}
}

func TestC52_Trees(t *testing.T) {
	const deaf = `trap "" TERM; sleep 600 & sleep 600`
	for _, c := range []struct {
		name, script string
		timeout      time.Duration
		code         int
		left         bool
	}{
		{"left behind with captured output", `sleep 60 & exit 0`, 0, 0, true},
		{"left behind, deaf, in a session of its own", `setsid sh -c 'trap "" TERM; sleep 60 & wait' & exit 5`, 0, 5, true},
		{"stopped and deaf", deaf, 500 * time.Millisecond, exitTimeout, false},
		{"stopped with a setsid grandchild", `setsid sleep 600 & sleep 600`, 500 * time.Millisecond, exitTimeout, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.plan("sh", "-c", c.script)
			p.Timeout, p.Grace = c.timeout, 500*time.Millisecond
			s := w.start(p)
			if got := s.code(); got != c.code {
				t.Errorf("exit %d, want %d: %s", got, c.code, s.err.String())
			}
			r := w.report()
			if left := marked("ONESLOT_RUN=" + r.Run); len(left) > 0 {
				t.Errorf("still there: %v", left)
			}
			if (r.LeftBehind > 0) != c.left {
				t.Errorf("left behind: %d", r.LeftBehind)
			}
		})
	}
}

func TestLeaveKeepsChildren(t *testing.T) {
	for _, warden := range []bool{false, true} {
		t.Run("warden "+strconv.FormatBool(warden), func(t *testing.T) {
			w := newWorld(t)
			p := w.plan("sh", "-c", "sleep 60 & exit 0")
			p.Leave, p.Warden = true, warden
			s := w.start(p)
			if got := s.code(); got != 0 {
				t.Fatalf("exit %d: %s", got, s.err.String())
			}
			r := w.report()
			kept := marked("ONESLOT_RUN=" + r.Run)
			if r.Kept != 1 || len(kept) != 1 {
				t.Errorf("kept %d, there %v", r.Kept, kept)
			}
			for _, pid := range kept {
				n, _ := strconv.Atoi(pid)
				syscall.Kill(n, syscall.SIGKILL)
			}
		})
	}
}

// C52: the next worker starts only when the old tree is gone, whoever of the
// old run was killed or stopped.
func TestC52_EarlierTreeIsEndedFirst(t *testing.T) {
	for _, c := range []struct {
		name string
		sig  syscall.Signal
	}{{"supervisor killed", syscall.SIGKILL}, {"supervisor frozen", syscall.SIGSTOP}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.plan("sh", "-c", `trap "" TERM; sleep 600 & setsid sleep 600 & sleep 600`)
			a := w.start(p)
			w.identity(p)
			mark := "ONESLOT_RUN=" + w.slot(p).Run
			until(t, "the tree", func() bool { return len(marked(mark)) >= 4 })
			syscall.Kill(a.Process.Pid, c.sig)
			if c.sig == syscall.SIGKILL {
				<-a.done
			}
			q := w.plan("sh", "-c", "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c '"+mark+"$'")
			q.Force = c.sig == syscall.SIGSTOP
			b := w.start(q)
			b.code()
			if got := strings.TrimSpace(b.out.String()); got != "0" {
				t.Errorf("the new worker saw %q of the old run; %s", got, b.err.String())
			}
			runs, err := w.db.Runs(context.Background(), p.ref(), 0)
			if err != nil || len(runs) != 2 || runs[1].TreeGoneAt.IsZero() {
				t.Errorf("runs %+v, %v", runs, err)
			}
		})
	}
}

// C52: who dropped every mark hangs below the old supervisor, or its warden, and
// nowhere else.
func TestC52_OrphanBelowAFrozenSupervisor(t *testing.T) {
	for i, warden := range []bool{false, true} {
		t.Run("warden "+strconv.FormatBool(warden), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			nap := fmt.Sprintf("600.%d%d", os.Getpid(), i)
			p := w.plan("sh", "-c", "env -i setsid -f sleep "+nap+"; exec sleep 600")
			p.Warden, p.TTL, p.Grace = warden, time.Minute, time.Second
			a := w.start(p)
			id := w.identity(p)
			naps := func() (pids []int) {
				files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
				for _, f := range files {
					if line, _ := os.ReadFile(f); string(line) == "sleep\x00"+nap+"\x00" {
						pid, _ := strconv.Atoi(strings.Split(f, "/")[2])
						pids = append(pids, pid)
					}
				}
				return pids
			}
			until(t, "the orphan", func() bool { return len(naps()) == 1 })
			t.Cleanup(func() {
				for _, pid := range naps() {
					syscall.Kill(pid, syscall.SIGKILL)
				}
			})
			syscall.Kill(a.Process.Pid, syscall.SIGSTOP)
			if warden {
				syscall.Kill(id.Warden.PID, syscall.SIGSTOP)
			}
			q := w.plan("sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c '[s]leep "+nap+" '; exit 0")
			q.Force, q.Report = true, ""
			b := w.start(q)
			if got := b.code(); got != 0 || strings.TrimSpace(b.out.String()) != "0" {
				t.Errorf("exit %d, the new worker saw %q of the old run; %s", got, b.out.String(), b.err.String())
			}
		})
	}
}

// A store that was replaced, and its folder with it: the run shows itself again,
// and is over in time.
func TestStoreThatMoved(t *testing.T) {
	w := newWorld(t)
	p := w.plan("sh", "-c", "touch up; exec sleep 600")
	p.Moved = true
	s := w.start(p)
	until(t, "the worker", func() bool { return exists(filepath.Join(w.dir, "up")) })
	at, home := w.slot(p), rundir.In(filepath.Join(w.dir, "state"))
	w.identity(p)
	if err := errors.Join(home.Leave(p.ref().Slug(), at.Run), os.RemoveAll(at.Dir)); err != nil {
		t.Fatal(err)
	}
	until(t, "the entry is there again", func() bool {
		open, _ := home.Open(p.ref().Slug())
		id, err := rundir.At(at.Dir).Identity()
		return len(open) == 1 && err == nil && id.Supervisor.PID == s.Process.Pid
	})
	if got := s.code(); got != exitLost {
		t.Errorf("exit %d", got)
	}
	for _, want := range []string{"unless the store comes back the run is ended in", "not at its address any more; ending it"} {
		if strings.Count(s.err.String(), want) != 1 {
			t.Errorf("no %q in %s", want, s.err.String())
		}
	}
	if r := w.report(); r.Outcome != slot.Lost || !r.Ran {
		t.Errorf("report %+v", r)
	}
}

func TestTimeoutIsTold(t *testing.T) {
	w := newWorld(t)
	p := w.plan("sleep", "600")
	p.Timeout = 500 * time.Millisecond
	s := w.start(p)
	if got := s.code(); got != exitTimeout {
		t.Errorf("exit %d", got)
	}
	if n := strings.Count(s.err.String(), "its time (--timeout 500ms) was up; ending it\n"); n != 1 {
		t.Errorf("said %d times: %s", n, s.err.String())
	}
}

func TestC54_CommandCannotBeStarted(t *testing.T) {
	w := newWorld(t)
	plain := filepath.Join(w.dir, "plain")
	os.WriteFile(plain, nil, 0o600)
	for _, c := range []struct {
		name string
		argv []string
		dir  string
		code int
		say  string
	}{
		{"not found", []string{"no-such-command"}, w.dir, 127, "PATH=/usr/bin:/bin"},
		{"not found by path", []string{"./no-such-command"}, w.dir, 127, "not found"},
		{"not executable", []string{plain}, w.dir, 126, "permission denied"},
		{"a folder", []string{"/"}, w.dir, 126, "directory"},
		{"no working folder", []string{"true"}, w.dir + "/none", 126, "working folder"},
		{"no interpreter", []string{script(t, w.dir, "#!/nonexistent/sh\n")}, w.dir, 127, "interpreter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := w.plan(c.argv...)
			p.Dir = c.dir
			s := w.start(p, "PATH=/usr/bin:/bin")
			if got := s.code(); got != c.code || !strings.Contains(s.err.String(), c.say) {
				t.Errorf("exit %d, %s", got, s.err.String())
			}
			if r := w.report(); r.Ran || r.Outcome != slot.NoStart {
				t.Errorf("report %+v", r)
			}
			if c := w.slot(p); !c.Ended || c.Outcome.Result != slot.NoStart {
				t.Errorf("the slot is not free: %+v", c)
			}
		})
	}
}

// C60, P12: what a forge wrote reaches the worker in a file, and arguments stay
// a list.
func TestC60_ForgeTextIsData(t *testing.T) {
	w := newWorld(t)
	nasty := "\"; touch pwned; \"\n$(touch pwned) `touch pwned` -rf"
	text, _ := json.Marshal([]string{nasty})
	p := w.plan("sh", "-c", `printf '%s\n' "$1" "$#"; cat "$ONESLOT_EVENTS"`, "sh", nasty)
	p.Events = string(text)
	s := w.start(p)
	if got := s.code(); got != 0 {
		t.Fatalf("exit %d: %s", got, s.err.String())
	}
	if want := nasty + "\n1\n" + string(text); s.out.String() != want {
		t.Errorf("got %q, want %q", s.out.String(), want)
	}
	if exists(filepath.Join(w.dir, "pwned")) {
		t.Error("it was run by a shell")
	}
}

// C61: secrets of the coordinator reach neither the worker, nor an argument
// list, nor a file.
func TestC61_Secrets(t *testing.T) {
	const canary = "canary-7f3a91"
	for _, warden := range []bool{false, true} {
		t.Run("warden "+strconv.FormatBool(warden), func(t *testing.T) {
			w := newWorld(t)
			p := w.plan("sh", "-c", "env; echo ready >started; sleep 600")
			p.Strip, p.Warden, p.Timeout = []string{"HELLO_SECRET", "ONESLOT_API_TOKEN"}, warden, 2*time.Second
			s := w.start(p, "HELLO_SECRET="+canary, "ONESLOT_API_TOKEN="+canary)
			until(t, "the worker works", func() bool { return exists(filepath.Join(w.dir, "started")) })
			files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, f := range files {
				if data, _ := os.ReadFile(f); strings.Contains(string(data), canary) && !strings.Contains(string(data), planVar) {
					t.Errorf("%s: %q", f, data)
				}
			}
			key := ""
			for _, pid := range marked("ONESLOT_RUN=" + w.slot(p).Run) {
				env, _ := os.ReadFile("/proc/" + pid + "/environ")
				if strings.Contains(string(env), canary) {
					t.Errorf("process %s of the run has the secret", pid)
				}
				for kv := range strings.SplitSeq(string(env), "\x00") {
					if token, ok := strings.CutPrefix(kv, "ONESLOT_TOKEN="); ok {
						key = token
					}
				}
			}
			s.code()
			if key == "" {
				t.Error("the worker got no token")
			}
			filepath.WalkDir(filepath.Join(w.dir, "state"), func(path string, e os.DirEntry, err error) error {
				data, _ := os.ReadFile(path)
				if strings.Contains(string(data), canary) || key != "" && !strings.HasSuffix(path, "/log") && strings.Contains(string(data), key) {
					t.Errorf("a secret lies in %s", path)
				}
				return nil
			})
		})
	}
}

func TestWorkerIsToldWhatItIs(t *testing.T) {
	w := newWorld(t)
	p := w.plan("env")
	p.Chain = []string{"outer"}
	s := w.start(p, "ONESLOT_EVENTS=/outer/events", "ONESLOT_RULE=outer", "KEEP=me")
	s.code()
	r := w.report()
	for _, want := range []string{
		"ONESLOT_REF=github.com/octo/hello#7", "ONESLOT_RUN=" + r.Run, "ONESLOT_RUNS=outer," + r.Run,
		"ONESLOT_CLAIM=" + r.Claim, "ONESLOT_FENCE=" + strconv.FormatInt(r.Fence, 10), "ONESLOT_ATTEMPT=1",
		"ONESLOT_PATH=manual", "KEEP=me",
	} {
		if !slices.Contains(strings.Split(s.out.String(), "\n"), want) {
			t.Errorf("no %s", want)
		}
	}
	for _, not := range []string{"ONESLOT_EVENTS=/outer", "ONESLOT_RULE=outer"} {
		if strings.Contains(s.out.String(), not) {
			t.Errorf("%s of the outer run came through", not)
		}
	}
}
