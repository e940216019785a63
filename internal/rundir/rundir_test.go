package rundir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
	"golang.org/x/sys/unix"
)

func TestFolderIsPrivate(t *testing.T) {
	state := t.TempDir()
	d := create(t, state)
	if err := d.WriteOutcome(slot.Outcome{Result: slot.Done}); err != nil {
		t.Fatal(err)
	}
	filepath.WalkDir(filepath.Join(state, "runs"), func(path string, e fs.DirEntry, _ error) error {
		info, err := e.Info()
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		return nil
	})
	if _, err := In(state).Create("run-1"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second one of that name: %v", err)
	}
}

// C60: names from a database or a folder are never paths.
func TestC60_NamesAreNotPaths(t *testing.T) {
	h := In(t.TempDir())
	for _, name := range []string{"", ".", "..", "../x", "a/b", "-\n", "a\x00b", ".git", strings.Repeat("x", 65)} {
		if _, err := h.Create(name); err == nil {
			t.Errorf("run %q was created", name)
		}
		if err := h.Enter(name, "run"); err == nil {
			t.Errorf("slug %q was entered", name)
		}
		if err := h.Leave("slug", name); err == nil {
			t.Errorf("run %q was left", name)
		}
	}
}

func TestRegistry(t *testing.T) {
	h := In(t.TempDir())
	open := func(want string) {
		t.Helper()
		got, err := h.Open("slug")
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("open: %q, %v; want %q", got, err, want)
		}
	}
	open("")
	for _, run := range []string{"b", "a", "a"} {
		if err := h.Enter("slug", run); err != nil {
			t.Fatal(err)
		}
	}
	open("a b")
	os.Mkdir(filepath.Join(h.path, "live", "slug", "folder"), 0o700)
	os.WriteFile(filepath.Join(h.path, "live", "slug", ".hidden"), nil, 0o600)
	open("a b")
	for range 2 {
		if err := errors.Join(h.Leave("slug", "a"), h.Leave("slug", "b")); err != nil {
			t.Fatal(err)
		}
	}
	open("")
}

func TestIdentityAndOutcomeComeBack(t *testing.T) {
	d := create(t, t.TempDir())
	p := slot.Process{Boot: "b", NS: 7, PID: 12, Ticks: 99}
	id := Identity{Ref: "key:x", Claim: "c", Fence: 5, UID: 1, Boot: "b", Grace: time.Second, Supervisor: p, Worker: p, Group: 12}
	if err := d.WriteIdentity(id); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Identity(); err != nil || got != id {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := d.Outcome(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an outcome out of nowhere: %v", err)
	}
	seven := 7
	out := slot.Outcome{Result: slot.Failed, Exit: &seven, RetryAfter: time.Minute, Reason: "why"}
	if err := d.WriteOutcome(out); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Outcome(); err != nil || *got.Exit != 7 || got.RetryAfter != time.Minute || got.Reason != "why" {
		t.Errorf("%+v, %v", got, err)
	}
}

// What a stranger puts in the place of a file neither hangs nor misleads.
func TestStrangersFiles(t *testing.T) {
	d := create(t, t.TempDir())
	path := d.ResultPath()
	for name, put := range map[string]func() error{
		"a link":   func() error { return os.Symlink("/etc/passwd", path) },
		"a pipe":   func() error { return unix.Mkfifo(path, 0o600) },
		"a folder": func() error { return os.Mkdir(path, 0o700) },
		"too much": func() error { return os.WriteFile(path, make([]byte, ResultMax+1), 0o600) },
		"no JSON":  func() error { return os.WriteFile(path, []byte("{"), 0o600) },
		"a list":   func() error { return os.WriteFile(path, []byte("[]"), 0o600) },
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if r, complaint := d.Result(); complaint == "" || r != (Result{}) {
			t.Errorf("%s: %+v, %q", name, r, complaint)
		}
		os.RemoveAll(path)
	}
	if _, complaint := d.Result(); complaint != "" {
		t.Errorf("nothing: %q", complaint)
	}
}

func TestResultKeepsWhatIsRight(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  Result
		wrong string
	}{
		{`{"summary":"s","pr":"p","cost_usd":1.5,"tokens":3,"retry_after":"90s","outcome":"later","other":[1]}`,
			Result{"s", "p", 1.5, 3, 90 * time.Second, slot.Later}, ""},
		{`{"retry_after":90,"outcome":null}`, Result{RetryAfter: 90 * time.Second}, ""},
		{`{"summary":7,"tokens":3}`, Result{Tokens: 3}, "summary"},
		{`{"cost_usd":-1,"tokens":-1,"retry_after":"-1s","outcome":"stopped"}`, Result{}, "cost_usd, tokens, retry_after, outcome"},
		{`{"tokens":1e400,"retry_after":1e300,"cost_usd":"1"}`, Result{}, "cost_usd, tokens, retry_after"},
	} {
		got, complaint := parseResult([]byte(c.text))
		if got != c.want || (complaint == "") != (c.wrong == "") || !strings.HasSuffix(complaint, c.wrong) {
			t.Errorf("%s: %+v, %q", c.text, got, complaint)
		}
	}
}

func TestLock(t *testing.T) {
	d := create(t, t.TempDir())
	f, err := d.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lock(); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := d.Await(ctx); !errors.Is(err, ErrLocked) {
		t.Errorf("waited: %v", err)
	}
	time.AfterFunc(20*time.Millisecond, func() { f.Close() })
	if err := d.Await(context.Background()); err != nil {
		t.Error(err)
	}
	if err := At(filepath.Join(t.TempDir(), "none")).Await(context.Background()); err != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestLogThatIsFull(t *testing.T) {
	d := create(t, t.TempDir())
	l, err := d.OpenLog(4)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"abc", "def", "ghi"} {
		if n, err := l.Write([]byte(s)); n != 3 || err != nil {
			t.Errorf("wrote %d, %v", n, err)
		}
	}
	l.Close()
	if got, _ := os.ReadFile(d.LogPath()); string(got) != "abcd\n[oneslot: log cut here, 5 more bytes]\n" {
		t.Errorf("%q", got)
	}
}

func TestSocketOfALongPath(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, state := range []string{t.TempDir(), filepath.Join(t.TempDir(), strings.Repeat("x", 120))} {
		l, err := create(t, state).Listen()
		if err != nil {
			t.Fatal(err)
		}
		path := l.Addr().String()
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", path, err)
		}
		l.Close()
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there", path)
		}
	}
}

func TestSocketFolderOfAStranger(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "f")
	if err := privateFolder(folder); err != nil {
		t.Fatal(err)
	}
	os.Chmod(folder, 0o770)
	if err := privateFolder(folder); err == nil {
		t.Error("a folder that others write to was taken")
	}
	os.Remove(folder)
	os.Symlink(t.TempDir(), folder)
	if err := privateFolder(folder); err == nil {
		t.Error("a link was taken")
	}
}

func create(t *testing.T, state string) Dir {
	t.Helper()
	d, err := In(state).Create("run-1")
	if err != nil {
		t.Fatal(err)
	}
	return d
}
