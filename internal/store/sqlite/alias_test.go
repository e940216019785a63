package sqlite

import (
	"errors"
	"testing"

	"github.com/oneslot/oneslot/internal/slot"
)

func (d *desk) alias(host, id, name, want string) {
	d.Helper()
	for range 2 { // the second time it is on record
		if got, err := d.s.Alias(d.ctx, host, id, name); err != nil || got != want {
			d.Errorf("%s %s is called %s: its slots are kept under %q, %v; want %s", host, id, name, got, err, want)
		}
	}
}

func (d *desk) names(repo, canonical, current string) {
	d.Helper()
	if got, err := d.s.Canonical(d.ctx, repo); err != nil || got != canonical {
		d.Errorf("the slots of %s are kept under %q, %v; want %s", repo, got, err, canonical)
	}
	if got, err := d.s.Current(d.ctx, canonical); err != nil || got != current {
		d.Errorf("%s is called %q now, %v; want %s", canonical, got, err, current)
	}
}

// C40: identity is the forge's id; names are compared without regard to case.
func TestC40_ARepositoryKeepsItsSlots(t *testing.T) {
	d := newDesk(t)
	const h = "github.com"
	d.names("GitHub.com/Octo/Nobody", "github.com/octo/nobody", "github.com/octo/nobody")
	d.alias(h, "1", "github.com/octo-org/octo-repo", "github.com/octo-org/octo-repo")
	d.alias("GitHub.com", "1", "github.com/Octo-Org/Octo-Repo", "github.com/octo-org/octo-repo") // differently spelled
	d.alias(h, "1", "github.com/octo-org/renamed", "github.com/octo-org/octo-repo")              // renamed
	d.alias(h, "1", "github.com/else/renamed", "github.com/octo-org/octo-repo")                  // transferred
	d.alias(h, "1", "github.com/third/both", "github.com/octo-org/octo-repo")                    // both at once
	for _, name := range []string{"octo-org/octo-repo", "octo-org/renamed", "Else/Renamed", "third/both"} {
		d.names("github.com/"+name, "github.com/octo-org/octo-repo", "github.com/third/both")
	}
	// Another host counts ids of its own.
	d.alias("git.example.com", "1", "git.example.com/a/b", "git.example.com/a/b")
	d.names("git.example.com/a/b", "git.example.com/a/b", "git.example.com/a/b")
	// Another process finds it.
	other, err := Open(d.s.Path(), Options{Clock: d.clock})
	d.must("open", err)
	defer other.Close()
	if got, err := other.Canonical(d.ctx, "github.com/third/both"); err != nil || got != "github.com/octo-org/octo-repo" {
		t.Errorf("another process: %q, %v", got, err)
	}
}

// Two that swap their names keep their slots; what people type is what is called so
// now.
func TestC40_NamesThatAreSwapped(t *testing.T) {
	d := newDesk(t)
	const x, y, z = "h.example/o/x", "h.example/o/y", "h.example/o/z"
	d.alias("h.example", "1", x, x)
	d.alias("h.example", "2", y, y)
	d.alias("h.example", "1", z, x)
	d.alias("h.example", "2", x, y)
	d.alias("h.example", "1", y, x)
	d.names(y, x, y)
	d.names(x, y, x)
}

// A name that another repository had: they share slots for as long as anything is at
// work there, and nothing is read of the one for the other; then they part.
func TestC40_ANameThatIsUsedAgain(t *testing.T) {
	d := newDesk(t)
	const old, moved = "github.com/octo/again", "github.com/octo/again-old"
	d.alias("github.com", "1", old, old)
	held, err := slot.ParseCanonical(old + "#5")
	d.must("parse", err)
	req := detached(held)
	_, err = d.s.Acquire(d.ctx, req)
	d.must("acquire", err)
	d.alias("github.com", "1", moved, old)
	d.names(old, old, moved)

	d.alias("github.com", "2", old, old)
	d.alias("github.com", "1", moved, old)
	if name, err := d.s.Current(d.ctx, old); !errors.Is(err, slot.ErrUnknown) {
		t.Errorf("shared slots are those of %q, %v; want unknown", name, err)
	}
	_, err = d.s.Release(d.ctx, req.Key, slot.Outcome{Result: slot.Done})
	d.must("release", err)
	d.alias("github.com", "2", old, old)
	d.alias("github.com", "1", moved, moved)
	d.names(old, old, old)
	d.names(moved, moved, moved)
	// One that was deleted and made anew is the same to everybody.
	d.alias("github.com", "3", old, old)
	d.names(old, old, old)
}

func TestCursor(t *testing.T) {
	d := newDesk(t)
	want := func(key, text string) {
		t.Helper()
		if got, err := d.s.Cursor(d.ctx, key); err != nil || got != text {
			t.Errorf("%s: %q, %v; want %q", key, got, err, text)
		}
	}
	want("poll a", "")
	for _, text := range []string{"1", "1", "2"} {
		d.must("set", d.s.SetCursor(d.ctx, "poll a", text))
		want("poll a", text)
	}
	want("poll b", "")
	d.must("drop", d.s.SetCursor(d.ctx, "poll a", ""))
	want("poll a", "")
}
