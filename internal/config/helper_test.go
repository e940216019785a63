package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// world is a machine with nothing configured: a home, a working folder, no file.
type world struct {
	Sources
	root string
	vars map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{root: root, vars: map[string]string{"HOME": filepath.Join(root, "home")}}
	w.Sources = Sources{
		Flags:      map[string]string{},
		Env:        func(name string) (string, bool) { v, ok := w.vars[name]; return v, ok },
		Getwd:      func() (string, error) { return filepath.Join(root, "srv"), nil },
		Hostname:   func() (string, error) { return "host-a", nil },
		SystemFile: filepath.Join(root, "etc", "oneslot.toml"),
	}
	return w
}

// write makes a file below the world's root and returns its path.
func (w *world) write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	ago := time.Now().Add(-time.Minute) // one that is new is read twice
	if err := os.Chtimes(path, ago, ago); err != nil {
		t.Fatal(err)
	}
	return path
}

// user is where the world's user has a configuration file.
const user = "home/.config/oneslot/oneslot.toml"

func mustLoad(t *testing.T, w *world) *Config {
	t.Helper()
	c, err := Load(w.Sources)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// refused loads, wants it to be refused, and returns what is said, with the
// world's root taken out.
func refused(t *testing.T, w *world) string {
	t.Helper()
	c, err := Load(w.Sources)
	var p *Problems
	if c != nil || !errors.As(err, &p) || len(p.List) == 0 || !errors.Is(err, slot.ErrConfig) && !errors.Is(err, slot.ErrUsage) {
		t.Fatalf("Load = %v, %v; want problems that match ErrConfig or ErrUsage", c, err)
	}
	return strings.ReplaceAll(err.Error(), w.root, "")
}

func wantLine(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
