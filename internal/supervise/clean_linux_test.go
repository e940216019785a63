package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
)

// book is a journal that knows the given runs only.
type book struct {
	claim.Journal
	open []slot.Run
	gone map[string]slot.Outcome
}

func (b *book) OpenRuns(context.Context, slot.Ref) ([]slot.Run, error) { return b.open, nil }

func (b *book) TreeGone(_ context.Context, run string, out slot.Outcome) error {
	b.gone[run] = out
	return nil
}

func (b *book) Run(_ context.Context, id string) (slot.Run, error) {
	return slot.Run{}, fmt.Errorf("%w: no run %s", slot.ErrUsage, id)
}

// earlier leaves a run of this host behind, whose worker is the given process.
func earlier(t *testing.T, state string, ref slot.Ref, worker slot.Process) rundir.Dir {
	t.Helper()
	home := rundir.In(state)
	d, err := home.Create("old")
	if err != nil {
		t.Fatal(err)
	}
	dead := slot.Process{Boot: worker.Boot, NS: worker.NS, PID: worker.PID, Ticks: worker.Ticks - 1}
	err = d.WriteIdentity(rundir.Identity{
		Ref: ref.String(), Claim: "c", Boot: worker.Boot, Grace: 200 * time.Millisecond, Supervisor: dead, Worker: worker, Group: worker.PID,
	})
	if err := errors.Join(err, home.Enter(ref.Slug(), "old")); err != nil {
		t.Fatal(err)
	}
	return d
}

func sleeper(t *testing.T) slot.Process {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go cmd.Wait()
	t.Cleanup(func() { cmd.Process.Kill() })
	p, err := proc.Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func cleaner(state, boot string) (Cleaner, *book) {
	b := &book{gone: map[string]slot.Outcome{}}
	return Cleaner{Journal: b, State: state, Boot: boot, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}, b
}

func TestCleanEndsWhatOnlyTheRegistryKnows(t *testing.T) {
	ref := plan{Ref: "octo/hello#7"}.ref()
	for _, told := range []bool{false, true} {
		state, worker := t.TempDir(), sleeper(t)
		d := earlier(t, state, ref, worker)
		want := slot.Vanish
		if told {
			want = slot.Done
			d.WriteOutcome(slot.Outcome{Result: slot.Done})
		}
		c, b := cleaner(state, worker.Boot)
		if err := c.Clean(t.Context(), ref, "own", nil); err != nil {
			t.Fatal(err)
		}
		if proc.Look(worker).Life != proc.Dead {
			t.Error("the worker lives")
		}
		if b.gone["old"].Result != want {
			t.Errorf("outcome %+v, want %s", b.gone["old"], want)
		}
		if left, _ := rundir.In(state).Open(ref.Slug()); len(left) > 0 {
			t.Errorf("registry: %v", left)
		}
	}
}

// A run that our journal does not know, but whose supervisor is at work, belongs
// to another store in the same folder: it is told to look, and left alone.
func TestCleanLeavesAnotherStoresRunAlone(t *testing.T) {
	ref := plan{Ref: "octo/hello#7"}.ref()
	state := t.TempDir()
	supervisor := deaf(t)
	d := earlier(t, state, ref, sleeper(t))
	id, err := d.Identity()
	if err != nil {
		t.Fatal(err)
	}
	id.Supervisor = supervisor
	if err := d.WriteIdentity(id); err != nil {
		t.Fatal(err)
	}
	c, b := cleaner(state, id.Boot)
	err = c.Clean(t.Context(), ref, "own", nil)
	if !errors.Is(err, slot.ErrNotAllowed) || !strings.Contains(err.Error(), "another store") {
		t.Errorf("got %v, want not allowed", err)
	}
	for _, p := range []slot.Process{supervisor, id.Worker} {
		if proc.Look(p).Life != proc.Alive {
			t.Errorf("%+v was ended", p)
		}
	}
	if left, _ := rundir.In(state).Open(ref.Slug()); len(left) != 1 || len(b.gone) != 0 {
		t.Errorf("registry %v, closed %v", left, b.gone)
	}
}

// deaf is a process that a "look at the store" does not end.
func deaf(t *testing.T) slot.Process {
	t.Helper()
	cmd := exec.Command("sh", "-c", "trap '' USR1; echo; exec sleep 600")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go cmd.Wait()
	t.Cleanup(func() { cmd.Process.Kill() })
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	p, err := proc.Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The refusal names the store by its address.
func TestUnstoppedNamesTheStore(t *testing.T) {
	r := &run{Spec: Spec{Address: "sqlite:/some/oneslot.db"}}
	var busy *slot.BusyError
	err := r.unstopped(&UnstoppedError{"old", errors.New("stuck")})
	if !errors.As(err, &busy) || busy.Store != r.Address || busy.Reason != slot.ReasonUnstopped {
		t.Errorf("%+v", err)
	}
}

// C51: a run of another boot is over, whatever its numbers mean now.
func TestC51_CleanOfAnotherBoot(t *testing.T) {
	ref := plan{Ref: "octo/hello#7"}.ref()
	state, stranger := t.TempDir(), sleeper(t)
	old := stranger
	old.Boot = "another"
	earlier(t, state, ref, old)
	c, b := cleaner(state, stranger.Boot)
	if err := c.Clean(t.Context(), ref, "own", nil); err != nil {
		t.Fatal(err)
	}
	if proc.Look(stranger).Life != proc.Alive {
		t.Error("a stranger with that number was ended")
	}
	if len(b.gone) != 1 {
		t.Errorf("closed: %v", b.gone)
	}
}

// A child between fork and exec cannot be found by its environment: nobody looks
// before the fork lock is free.
func TestCleanWaitsForTheForkLock(t *testing.T) {
	ref := plan{Ref: "octo/hello#7"}.ref()
	state, worker := t.TempDir(), sleeper(t)
	lock, err := earlier(t, state, ref, worker).Lock()
	if err != nil {
		t.Fatal(err)
	}
	c, b := cleaner(state, worker.Boot)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	var stuck *UnstoppedError
	if err := c.Clean(ctx, ref, "own", nil); !errors.As(err, &stuck) || len(b.gone) > 0 {
		t.Errorf("with the lock held: %v, closed %v", err, b.gone)
	}
	lock.Close()
	if err := c.Clean(t.Context(), ref, "own", nil); err != nil || len(b.gone) != 1 {
		t.Errorf("with the lock free: %v, closed %v", err, b.gone)
	}
}

// Not allowed to end the old tree: the run stays open, and the refusal names pid
// and user.
func TestCleanNotPermitted(t *testing.T) {
	const nobody = 65534
	state := os.Getenv("SUPERVISE_TEST_STATE")
	ref := plan{Ref: "octo/hello#7"}.ref()
	if state != "" {
		self, _ := proc.Self()
		c, b := cleaner(state, self.Boot)
		err := c.Clean(t.Context(), ref, "own", nil)
		var denied *proc.NotPermittedError
		if !errors.As(err, &denied) || !errors.Is(err, slot.ErrNotAllowed) || !strings.Contains(err.Error(), "root") || len(b.gone) > 0 {
			t.Errorf("%v, closed %v", err, b.gone)
		}
		return
	}
	if os.Getuid() != 0 {
		missing(t, "root, to be two users")
	}
	state, err := os.MkdirTemp("", "oneslot-test")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(state)
	worker := sleeper(t)
	earlier(t, state, ref, worker)
	exe := state + "/test"
	if err := exec.Command("sh", "-c", `cp "$1" "$2" && chmod 755 "$2" && chown -R 65534 "$3"`, "sh", os.Args[0], exe, state).Run(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestCleanNotPermitted$")
	cmd.Dir, cmd.Env = state, append(os.Environ(), "SUPERVISE_TEST_STATE="+state)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if proc.Look(worker).Life != proc.Alive {
		t.Error("the worker was ended")
	}
}

// missing skips with one clear line; where everything must be there it fails.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("ONESLOT_NO_SKIP") != "" {
		t.Fatalf("needs %s", what)
	}
	t.Skipf("needs %s", what)
}

// How a supervisor came to its end is on record, as far as whoever cleared its run saw it.
func TestCleanTellsHowTheSupervisorEnded(t *testing.T) {
	for name, tt := range map[string]struct {
		sig  syscall.Signal // before it is cleared
		want string
	}{
		"dead":              {syscall.SIGKILL, "supervisor died, exit unknown"},
		"stopped":           {syscall.SIGSTOP, fmt.Sprintf("supervisor was stopped (SIGSTOP), and killed by process %d, exit unknown", os.Getpid())},
		"deaf, but at work": {0, fmt.Sprintf("supervisor did not end its run when told to, and was killed by process %d, exit unknown", os.Getpid())},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref := plan{Ref: "octo/hello#7"}.ref()
			state := t.TempDir()
			worker, sup := sleeper(t), deaf(t)
			d := earlier(t, state, ref, worker)
			err := d.WriteIdentity(rundir.Identity{
				Ref: ref.String(), Claim: "c", Boot: worker.Boot, Grace: 100 * time.Millisecond, Supervisor: sup, Worker: worker, Group: worker.PID,
			})
			if err := errors.Join(err, d.Forking()); err != nil {
				t.Fatal(err)
			}
			if err := proc.Signal(sup, tt.sig); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
				s := proc.Look(sup)
				if tt.sig == 0 || s.Stopped || s.Life == proc.Dead {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("the signal does nothing: %+v", s)
				}
			}
			c, b := cleaner(state, worker.Boot)
			b.open = []slot.Run{{ID: "old", Claim: "c", Dir: d.Path(), Ref: ref, Holder: slot.Holder{Process: sup}}}
			if err := c.Clean(t.Context(), ref, "", nil); err != nil {
				t.Fatal(err)
			}
			if got := b.gone["old"]; got.Result != slot.Vanish || got.Reason != tt.want {
				t.Errorf("on record: %+v; want %q", got, tt.want)
			}
		})
	}
}
