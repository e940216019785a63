package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/bench/internal/machine"
	"github.com/oneslot/oneslot/bench/internal/report"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// Demand is one thing to measure.
type Demand struct {
	Number int
	What   string
	Takes  time.Duration // about, on a quiet machine
	Run    func(context.Context, *Bench) ([]report.Row, error)
}

// Demands lists all, in the order in which they are numbered.
func Demands() []Demand {
	return []Demand{
		{1, "start of the program", 5 * time.Second, start},
		{2, "oneslot run REF -- true", 10 * time.Second, runTrue},
		{3, "serial claim+release", 8 * time.Second, serial},
		{4, "32 goroutines, 32 refs", 12 * time.Second, group},
		{5, "32 processes, 32 refs", 15 * time.Second, processes},
		{6, "a long line", 80 * time.Second, line},
		{7, "a million slots on record", 40 * time.Second, scale},
		{8, "200 runs side by side", 75 * time.Second, resident},
		{9, "takeover after kill -9", 30 * time.Second, takeover},
		{10, "deliveries accepted", 25 * time.Second, accept},
		{11, "1,000 deliveries a second", 25 * time.Second, answers},
		{12, "from a delivery to its worker", 25 * time.Second, firstInstruction},
		{13, "from the end of a run to the next", 25 * time.Second, followUp},
		{14, "a million items wait", 60 * time.Second, pending},
		{15, "10,000 claims of one client", 60 * time.Second, renewals},
		{16, "a forge with 10,000 pull requests is polled", 90 * time.Second, tick},
		{17, "oneslot run with a forge", 40 * time.Second, runForge},
	}
}

// Bench is what the measurements work with.
type Bench struct {
	Folder string // of this run, removed at its end
	Self   string // this program, for helper processes

	program string // given, or built when first needed
	module  string // where it is built
	empty   string

	clock   clock.Clock
	process slot.Process
	stores  int
}

// New makes a folder below parent. program is the oneslot to measure; if it is
// empty it is built from module, the folder of oneslot's source.
func New(parent, program, module string) (*Bench, error) {
	b := &Bench{program: program, module: module}
	var err error
	if b.Self, err = os.Executable(); err != nil {
		return nil, err
	}
	if b.clock, err = clock.System(); err != nil {
		return nil, err
	}
	if b.process, err = proc.Self(); err != nil {
		return nil, err
	}
	if b.Folder, err = os.MkdirTemp(parent, "oneslot-bench-"); err != nil {
		return nil, err
	}
	b.Folder, err = filepath.Abs(b.Folder)
	return b, err
}

// Close removes the folder.
func (b *Bench) Close() error { return os.RemoveAll(b.Folder) }

// oneslot gives the program to measure.
func (b *Bench) oneslot(ctx context.Context) (string, error) {
	if b.program == "" {
		out := filepath.Join(b.Folder, "oneslot")
		if err := machine.Build(ctx, b.module, "./cmd/oneslot", out); err != nil {
			return "", err
		}
		b.program = out
	}
	return filepath.Abs(b.program)
}

// emptyProgram gives a Go program that does nothing.
func (b *Bench) emptyProgram(ctx context.Context) (_ string, err error) {
	if b.empty == "" {
		b.empty, err = machine.BuildEmpty(ctx, b.Folder)
	}
	return b.empty, err
}

// path is a fresh address for a database.
func (b *Bench) path() string {
	b.stores++
	return filepath.Join(b.Folder, fmt.Sprintf("s%d", b.stores), "oneslot.db")
}

// store opens a database, making it now if it is not there.
func (b *Bench) store(ctx context.Context, path string) (*sqlite.Store, error) {
	s, err := sqlite.Open(path, sqlite.Options{Clock: b.clock})
	if err != nil {
		return nil, err
	}
	if err := b.pair(ctx, s, refOf("warm", 0)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// request asks for a slot as a library caller does: the cheapest claim there is.
func (b *Bench) request(ref slot.Ref) claim.Request {
	return claim.Request{
		Ref: ref, Key: claim.NewKey(ref), Kind: slot.Detached, TTL: slot.DefaultTTL, Grace: slot.DefaultGrace,
		Holder: slot.Holder{Host: "bench", Process: b.process, UID: os.Geteuid(), Path: "api", Command: "bench"},
	}
}

// pair claims and releases.
func (b *Bench) pair(ctx context.Context, s claim.Store, ref slot.Ref) error {
	req := b.request(ref)
	if _, err := s.Acquire(ctx, req); err != nil {
		return err
	}
	_, err := s.Release(ctx, req.Key, done())
	return err
}

func done() slot.Outcome { return slot.Outcome{Result: slot.Done} }

// refOf names the n-th ref of a measurement.
func refOf(repo string, n int) slot.Ref {
	r, err := slot.ParseRef(fmt.Sprintf("octo-org/%s#%d", repo, n+1), slot.Grammar{})
	if err != nil {
		return slot.Ref{} // the store refuses it, with a word on why
	}
	return r
}

// environ is what the program under measure is given: a store of its own, and
// nothing of ours.
func (b *Bench) environ(path string, more ...string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.Folder, "ONESLOT_STORE=sqlite:" + path}
	return append(env, more...)
}

// command is a process that does not outlive ctx or us: it is told to end with
// TERM, and killed if it has not by two seconds later.
func command(ctx context.Context, env []string, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

// until polls a condition, for at most twenty seconds.
func until(ctx context.Context, what string, cond func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		ok, err := cond()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func ms(d time.Duration) float64 { return report.Ms(d) }

func trim(b []byte) string { return strings.TrimSpace(string(b)) }
