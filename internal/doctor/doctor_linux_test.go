package doctor_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/doctor"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// bench is a healthy subject, and what a case needs to break it.
type bench struct {
	*testing.T
	doctor.Subject
	store *sqlite.Store
	dir   string
	env   map[string]string
}

// sight sees the processes of this machine.
type sight struct{}

func (sight) Life(p slot.Process) (claim.Life, string) {
	s := proc.Look(p)
	return claim.Life(s.Life), s.Detail
}

func (sight) Watch(p slot.Process) (<-chan struct{}, func(), error) { return proc.Watch(p) }

func newBench(t *testing.T) *bench {
	t.Helper()
	clk, err := clock.System()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "s")
	b := &bench{T: t, dir: dir, env: map[string]string{"PATH": os.Getenv("PATH"), "HOME": t.TempDir()}}
	b.Subject = doctor.Subject{
		Clock: clk, Sight: sight{}, Machine: doctor.System(), Level: sqlite.Level(), TempDir: t.TempDir(),
		Env: func(n string) (string, bool) { v, ok := b.env[n]; return v, ok },
		UID: os.Getuid(), Limits: doctor.DefaultLimits(),
	}
	b.Limits.FreeWarn, b.Limits.FreeFail, b.Limits.Write = 1, 0, time.Minute
	b.Machine.Linger = func(int) (bool, bool) { return true, true }
	b.Daemon = func() (int, error) { return 0, nil }
	b.Peek = func(context.Context, config.Gate) error { return nil }
	b.Machine.FileSystem = func(string) (string, bool, error) { return "ext4", false, nil }
	b.configure("")
	b.open(dir)
	return b
}

// configure loads a configuration file of this text.
func (b *bench) configure(text string) {
	b.Helper()
	file := filepath.Join(b.TempDir, "oneslot.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Config, b.ConfigErr = config.Load(config.Sources{
		ConfigFlag: file, Env: b.Env, Getwd: os.Getwd, Hostname: os.Hostname,
	})
}

// open uses a store in dir, whose first write has been made.
func (b *bench) open(dir string) {
	b.Helper()
	s, err := sqlite.Open(filepath.Join(dir, "oneslot.db"), sqlite.Options{Clock: b.Clock})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	if err := s.Probe(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.Store, b.Queue, b.store, b.dir = s, s.Queue(), s, dir
}

// claim takes the slot of a key for a process, and returns the claim's key.
func (b *bench) claim(key string, change func(*claim.Request)) claim.Request {
	b.Helper()
	ref, err := slot.ParseCanonical("key:" + key)
	if err != nil {
		b.Fatal(err)
	}
	self, err := proc.Self()
	if err != nil {
		b.Fatal(err)
	}
	req := claim.Request{
		Ref: ref, Key: claim.NewKey(ref), Kind: slot.Supervised, Run: claim.NewID(), TTL: time.Minute,
		Holder: slot.Holder{Host: "h", Process: self, Path: "manual", Command: "worker"},
	}
	req.Dir = filepath.Join(b.dir, "runs", req.Run)
	if change != nil {
		change(&req)
	}
	if _, err := b.store.Acquire(context.Background(), req); err != nil {
		b.Fatal(err)
	}
	return req
}

// sleeper starts a process that ends with the test.
func (b *bench) sleeper(env ...string) *exec.Cmd {
	b.Helper()
	cmd := exec.Command("sleep", "300")
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

func (b *bench) identify(pid int) slot.Process {
	b.Helper()
	p, err := proc.Identify(pid)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// until waits for something that the kernel does soon.
func (b *bench) until(what string, ok func() bool) {
	b.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			b.Fatal("waited in vain: " + what)
		}
	}
}

func (b *bench) write(file, text string, mode os.FileMode) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		b.Fatal(err)
	}
}

func names(lines []doctor.Line) (all []string) {
	for _, l := range lines {
		if l.Finding != "" {
			all = append(all, l.Finding)
		}
	}
	return all
}

// A healthy machine gets an ok for each check, and nothing else.
func TestHealthy(t *testing.T) {
	b := newBench(t)
	b.claim("a", nil)
	lines := doctor.Examine(context.Background(), &b.Subject)
	var checks []string
	for _, l := range lines {
		if l.Status != doctor.OK {
			t.Errorf("%+v", l)
		}
		checks = append(checks, l.Check)
	}
	if want := doctor.Checks(); !slices.Equal(checks, want) {
		t.Errorf("checks %v, want %v", checks, want)
	}
	if doctor.Worst(lines) != doctor.OK {
		t.Error("worst is not ok")
	}
}

// Each line that doctor can print has a case that makes it fail.
func TestEachFinding(t *testing.T) {
	cases := breakages()
	for _, f := range doctor.Findings() {
		if cases[f.Name] == nil {
			t.Errorf("no case breaks %s", f.Name)
		}
	}
	for name, breakIt := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			breakIt(b)
			lines := doctor.Examine(context.Background(), &b.Subject)
			i := slices.IndexFunc(doctor.Findings(), func(f doctor.Finding) bool { return f.Name == name })
			if i < 0 {
				t.Fatal("not in the table")
			}
			want, seen := doctor.Findings()[i], false
			for _, l := range lines {
				t.Logf("%s %s: %s — %s", l.Status, l.Check, l.What, l.Do)
				seen = seen || l.Finding == name && l.Check == want.Check && l.Status == want.Status && l.Do == want.Do && l.What != ""
				if l.Finding != "" && l.Do == "" {
					t.Errorf("%s says nothing to do: not in the table?", l.Finding)
				}
			}
			if !seen {
				t.Errorf("it did not come up; found: %s", strings.Join(names(lines), ", "))
			}
		})
	}
}

var errBroken = errors.New("broken for the test")
