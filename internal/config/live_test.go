package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// applied counts what a Live puts in force and the errors that it tells of; it may
// refuse.
type applied struct {
	mu   sync.Mutex
	list []*Config
	errs []error
	err  error
}

func (a *applied) apply(c *Config) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.list = append(a.list, c)
	}
	return a.err
}

func (a *applied) failed(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.errs = append(a.errs, err)
}

func (a *applied) counts() (loads, errs int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.list), len(a.errs)
}

func TestReloadKeepsTheLastGoodOne(t *testing.T) {
	w := newWorld(t)
	path := w.write(t, user, "host = 'one'")
	first := mustLoad(t, w)
	a := &applied{}
	l := NewLive(w.Sources, first, a.apply)

	w.write(t, user, "hots = 'two'")
	if err := l.Reload(); err == nil || l.Current() != first || !l.Stale() {
		t.Error("a bad file:", err)
	}
	w.write(t, user, "host = 'two'")
	a.err = errors.New("no gate like that")
	if err := l.Reload(); !errors.Is(err, a.err) || l.Current() != first {
		t.Error("one that could not be applied:", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := l.Reload(); err == nil || !strings.HasSuffix(err.Error(), "is gone") || l.Current() != first {
		t.Error("no file:", err)
	}
	if len(a.list) > 0 {
		t.Error("applied", a.list)
	}
	w.write(t, user, "host = 'two'")
	a.err = nil
	if err := l.Reload(); err != nil || l.Current().Host.V != "two" || len(a.list) != 1 || a.list[0] != l.Current() || l.Stale() {
		t.Error("a good one:", err, l.Current().Host)
	}
}

// What an open store and an open port are made of stays, and it is said.
func TestReloadOfWhatNeedsARestart(t *testing.T) {
	w := newWorld(t)
	w.write(t, user, "store = 'a.db'\nlisten = '127.0.0.1:1'")
	first := mustLoad(t, w)
	l := NewLive(w.Sources, first, (&applied{}).apply)
	w.write(t, user, "store = 'b.db'\nhost = 'new'\nwaiting_max = '1d'\n[retention]\nlogs = '1d'")
	if err := l.Reload(); err != nil {
		t.Fatal(err)
	}
	c := l.Current()
	if c.Store != first.Store || c.Listen != first.Listen || c.WaitingMax != first.WaitingMax {
		t.Error("not kept:", c.Store, c.Listen, c.WaitingMax)
	}
	if c.Host.V != "new" || c.Retention.Logs.V != day {
		t.Error("not taken:", c.Host, c.Retention.Logs)
	}
	wantLine(t, strings.ReplaceAll(strings.Join(c.Warnings, "\n"), w.root, ""),
		"/"+user+":1:1: store: was changed, which takes effect with a restart\n"+
			"listen: was changed, which takes effect with a restart\n"+
			"/"+user+":3:1: waiting_max: was changed, which takes effect with a restart")
}

// Run sees a file that was written in place, one that was renamed over it, and
// another secret; it tells of a bad one once.
func TestRunFollowsTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		path := w.write(t, user, "host = 'one'")
		a := &applied{}
		l := NewLive(w.Sources, mustLoad(t, w), a.apply)
		ctx, cancel := context.WithCancel(t.Context())
		go l.Run(ctx, a.failed)
		wait := func() { time.Sleep(3 * lookEvery); synctest.Wait() }
		expect := func(what, host string, loads, problems int) {
			t.Helper()
			wait()
			if n, bad := a.counts(); l.Current().Host.V != host || n != loads || bad != problems {
				t.Errorf("%s: %s after %d loads, %d errors", what, l.Current().Host.V, n, bad)
			}
		}
		expect("nothing", "one", 0, 0)
		w.write(t, user, "host = 'two'\n"+hookOf+"secret.file = 's'")
		wait() // the secret's file joins those looked at
		expect("in place", "two", 2, 0)
		w.write(t, "home/.config/oneslot/s", "s3cret")
		expect("secret", "two", 3, 0)
		w.write(t, user, "host = 2")
		expect("bad", "two", 3, 1)
		wait()
		expect("still bad", "two", 3, 1)
		next := filepath.Join(filepath.Dir(path), ".next")
		if err := os.WriteFile(next, []byte("host = 'six'"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, path); err != nil {
			t.Fatal(err)
		}
		wait() // the secret's file is none any more
		expect("renamed", "six", 5, 1)
		cancel()
		synctest.Wait()
	})
}

// A file that is written in steps is not read before it rests.
func TestRunWaitsUntilTheFileRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.write(t, user, "host = 'one'")
		a := &applied{}
		l := NewLive(w.Sources, mustLoad(t, w), a.apply)
		ctx, cancel := context.WithCancel(t.Context())
		go l.Run(ctx, a.failed)
		time.Sleep(lookEvery / 2) // each write is between two looks
		for n := range 5 {
			w.write(t, user, "host = 'two'\n"+strings.Repeat("#", n))
			time.Sleep(lookEvery)
		}
		synctest.Wait()
		if n, _ := a.counts(); n > 0 {
			t.Error("read while it was written")
		}
		time.Sleep(2 * lookEvery)
		synctest.Wait()
		if n, bad := a.counts(); n != 1 || bad != 0 {
			t.Errorf("%d loads, %d errors", n, bad)
		}
		cancel()
		synctest.Wait()
	})
}
