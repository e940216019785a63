package supervise

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// A test that needs a supervisor starts this test binary again, with its role in
// the environment.
const (
	roleVar = "SUPERVISE_TEST_ROLE"
	planVar = "SUPERVISE_TEST_PLAN"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "warden-internal" {
		os.Exit(WardenMain(context.Background()))
	}
	switch os.Getenv(roleVar) {
	case "":
		os.Exit(m.Run())
	case "run":
		os.Exit(roleRun())
	}
	os.Exit(2)
}

// plan is what a supervisor under test shall do.
type plan struct {
	Store   string // the database's path
	Ref     string
	Argv    []string
	Dir     string
	TTL     time.Duration
	Grace   time.Duration
	Timeout time.Duration
	Leave   bool
	Warden  bool
	Force   bool // take the slot from whoever has it
	// Rehearse: it does so first.
	Rehearse bool
	Strip    []string
	Chain    []string
	Events   string
	// Failing is how many calls of release and renew answer "unknown".
	FailRelease, FailRenew int
	Moved                  bool   // every renewal finds that the store was replaced
	Report                 string // file for the report
	LogBytes               int64
}

func (p plan) ref() slot.Ref {
	ref, err := slot.ParseRef(p.Ref, slot.Grammar{})
	if err != nil {
		panic(err)
	}
	return ref
}

// faulty answers "unknown" to the first calls, without making them.
type faulty struct {
	claim.Store
	release, renew int
	moved          bool
}

func (f *faulty) Release(ctx context.Context, k claim.Key, out slot.Outcome) (slot.Claim, error) {
	if f.release > 0 {
		f.release--
		return slot.Claim{}, &slot.UnknownError{Op: "release", Store: "test", Err: errors.New("disk full")}
	}
	return f.Store.Release(ctx, k, out)
}

func (f *faulty) Renew(ctx context.Context, k claim.Key) (claim.Lease, error) {
	if f.renew > 0 {
		f.renew--
		return claim.Lease{}, &slot.UnknownError{Op: "renew", Store: "test", Err: errors.New("disk full")}
	}
	if f.moved {
		return claim.Lease{}, &slot.UnknownError{Op: "renew", Store: "test", Err: slot.ErrMoved}
	}
	return f.Store.Renew(ctx, k)
}

// roleRun acquires and runs, as the command line does.
func roleRun() int {
	var p plan
	if err := json.Unmarshal([]byte(os.Getenv(planVar)), &p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	os.Unsetenv(planVar)
	os.Unsetenv(roleVar)
	code, err := supervised(p)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	return code
}

func supervised(p plan) (int, error) {
	clk, err := clock.System()
	if err != nil {
		return 2, err
	}
	db, err := sqlite.Open(p.Store, sqlite.Options{Clock: clk})
	if err != nil {
		return 2, err
	}
	defer db.Close()
	self, err := proc.Self()
	if err != nil {
		return 2, err
	}
	ref, run := p.ref(), claim.NewID()
	state := filepath.Dir(p.Store)
	req := claim.Request{
		Ref: ref, Key: claim.NewKey(ref), Kind: slot.Supervised, Run: run, Dir: filepath.Join(state, "runs", run),
		Holder: slot.Holder{Host: "test", Process: self, UID: os.Getuid(), Path: "manual", Command: filepath.Base(p.Argv[0])},
		TTL:    p.TTL, Grace: p.Grace, Warden: p.Warden,
	}
	ctx := context.Background()
	taker := claim.Taker{Store: db, Sight: sight{}, Clock: clk, Self: self}
	grant, err := taker.Take(ctx, req)
	var busy *slot.BusyError
	if p.Force && errors.As(err, &busy) {
		req.Displace = &claim.Displace{Claim: busy.Claim.ID, Why: claim.Forced, Detail: "test"}
		grant, err = db.Acquire(ctx, req)
	}
	if err != nil {
		return codeFor(err), err
	}
	spec := Spec{
		Store: &faulty{db, p.FailRelease, p.FailRenew, p.Moved}, Journal: db, Clock: clk,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Self: self, State: state,
		Claim: grant.Claim, Key: req.Key, Previous: grant.Displaced,
		Argv: p.Argv, Env: os.Environ(), Strip: p.Strip, Dir: p.Dir,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Timeout: p.Timeout, Leave: p.Leave, Chain: p.Chain, Tell: telling(p.Events), LogBytes: p.LogBytes,
		WardenArgv: []string{os.Args[0], "warden-internal"},
	}
	if p.Rehearse {
		if err := Rehearse(ctx, spec); err != nil {
			return 2, err
		}
	}
	report, err := Run(ctx, spec)
	if p.Report != "" {
		data, _ := json.Marshal(report)
		os.WriteFile(p.Report, data, 0o600)
	}
	return report.Code, err
}

// sight looks at processes as the program does.
type sight struct{}

func (sight) Life(p slot.Process) (claim.Life, string) {
	s := proc.Look(p)
	return claim.Life(s.Life), s.Detail
}

func (sight) Watch(p slot.Process) (<-chan struct{}, func(), error) { return proc.Watch(p) }

// world is one store with a supervisor or two.
type world struct {
	t   *testing.T
	dir string
	db  *sqlite.Store
	clk clock.Clock
}

func newWorld(t *testing.T) *world {
	t.Helper()
	clk, err := clock.System()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	db, err := sqlite.Open(filepath.Join(dir, "state", "oneslot.db"), sqlite.Options{Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &world{t, dir, db, clk}
}

func (w *world) plan(argv ...string) plan {
	return plan{
		Store: filepath.Join(w.dir, "state", "oneslot.db"), Ref: "octo/hello#7", Argv: argv, Dir: w.dir,
		TTL: 3 * time.Second, Grace: time.Second, Report: filepath.Join(w.dir, "report.json"),
	}
}

// supervisor is one under test.
type supervisor struct {
	*exec.Cmd
	t        *testing.T
	out, err bytes.Buffer
	done     chan struct{}
}

func (w *world) start(p plan, env ...string) *supervisor {
	w.t.Helper()
	s := w.prepare(p, env...)
	s.launch()
	return s
}

func (w *world) prepare(p plan, env ...string) *supervisor {
	w.t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		w.t.Fatal(err)
	}
	s := &supervisor{Cmd: exec.Command(os.Args[0]), t: w.t, done: make(chan struct{})}
	s.Env = append(append(os.Environ(), env...), roleVar+"=run", planVar+"="+string(data))
	s.Stdout, s.Stderr = &s.out, &s.err
	s.WaitDelay = 5 * time.Second
	return s
}

func (s *supervisor) launch() {
	s.t.Helper()
	if err := s.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		s.Wait()
		close(s.done)
	}()
	s.t.Cleanup(func() {
		s.Process.Kill()
		<-s.done
	})
}

// code waits for the end and tells the exit code.
func (s *supervisor) code() int {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(30 * time.Second):
		s.t.Fatalf("the supervisor does not end; stderr: %s", s.err.String())
	}
	if ws := s.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		return -int(ws.Signal())
	}
	return s.ProcessState.ExitCode()
}

func (w *world) report() Report {
	w.t.Helper()
	var r Report
	data, err := os.ReadFile(filepath.Join(w.dir, "report.json"))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) slot(p plan) slot.Claim {
	w.t.Helper()
	look, err := w.db.Look(context.Background(), p.ref())
	if err != nil {
		w.t.Fatal(err)
	}
	if look.Newest == nil {
		return slot.Claim{}
	}
	return *look.Newest
}

// until polls for something that has to come true.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatalf("not within 20 s: %s", what)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// marked lists the processes that carry the mark in their environment.
func marked(mark string) (pids []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		if data, _ := os.ReadFile(f); bytes.Contains(data, []byte(mark)) {
			stat, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "stat"))
			if _, after, ok := strings.Cut(string(stat), ") "); ok && after[0] != 'Z' {
				pids = append(pids, strings.Split(f, "/")[2])
			}
		}
	}
	return pids
}

// script writes an executable file.
func script(t *testing.T, dir, text string) string {
	t.Helper()
	path := filepath.Join(dir, "script")
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// telling tells the worker a text that is there already.
func telling(events string) func(context.Context, func(string, []byte) (string, error)) ([]byte, error) {
	if events == "" {
		return nil
	}
	return func(context.Context, func(string, []byte) (string, error)) ([]byte, error) {
		return []byte(events), nil
	}
}
