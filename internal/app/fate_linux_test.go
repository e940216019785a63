package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// timed is an App on a clock that moves only when told to.
func timed(t *testing.T) (*App, *clock.Manual) {
	t.Helper()
	a, _ := from(t, "")
	clk := clock.NewManual(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC))
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "oneslot.db"), sqlite.Options{Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	a.Store, a.Clock = s, clk
	return a, clk
}

// fateOf is what is done about the reservation of a claim that is looked after now.
func fateOf(t *testing.T, a *App, c slot.Claim) (lives, forsaken bool) {
	t.Helper()
	r := ours(a)
	lives, _, err := r.fate(t.Context(), recordOf(c, c.Ref))
	if err != nil {
		t.Fatal(err)
	}
	_, forsaken = r.forsaken(t.Context(), recordOf(c, c.Ref))
	return lives, forsaken
}

// P1: what is told to other hosts goes after the claim, never before: a claim that can
// be renewed keeps them out.
func TestFate_TheClaimEndsFirst(t *testing.T) {
	a, clk := timed(t)
	ref, err := slot.ParseCanonical("forge.test/octo/hello#1")
	if err != nil {
		t.Fatal(err)
	}
	req := claim.Request{Ref: ref, Key: claim.NewKey(ref), Kind: slot.Detached, TTL: time.Minute,
		Holder: slot.Holder{Host: "here", Path: slot.PathManual, Command: "x"}}
	g, err := a.Store.Acquire(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	clk.Advance(time.Minute + 5*time.Second)
	if lives, forsaken := fateOf(t, a, g.Claim); !lives || forsaken {
		t.Errorf("late: lives %v, forsaken %v", lives, forsaken)
	}
	if _, err := a.Store.Renew(t.Context(), req.Key); err != nil {
		t.Errorf("late: %v", err)
	}
	clk.Advance(time.Minute + claim.LateMost + time.Second)
	if lives, forsaken := fateOf(t, a, g.Claim); !lives || !forsaken {
		t.Fatalf("too late: lives %v, forsaken %v", lives, forsaken)
	}
	if err := a.Ender().Reap(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if lives, _ := fateOf(t, a, g.Claim); lives {
		t.Error("it lives after its end")
	}
	if _, err := a.Store.Renew(t.Context(), req.Key); !errors.Is(err, slot.ErrLost) {
		t.Errorf("renewed after its end: %v", err)
	}
}

// P8: what waited for a person for too long keeps nobody out any more.
func TestFate_WaitingIsOver(t *testing.T) {
	a, clk := timed(t)
	ref, err := slot.ParseCanonical("forge.test/octo/hello#1")
	if err != nil {
		t.Fatal(err)
	}
	req := claim.Request{Ref: ref, Key: claim.NewKey(ref), Kind: slot.Supervised, Run: claim.NewID(), TTL: time.Minute, Grace: time.Second,
		Holder: slot.Holder{Host: "here", Path: slot.PathManual, Command: "x", Process: a.Self}, Dir: t.TempDir()}
	g, err := a.Store.Acquire(t.Context(), req)
	if err == nil {
		_, err = a.Store.Start(t.Context(), req.Key)
	}
	if err == nil {
		_, err = a.Store.Park(t.Context(), req.Key, slot.Outcome{Result: slot.Waits})
	}
	if err != nil {
		t.Fatal(err)
	}
	clk.Advance(slot.WaitingMax - time.Second)
	if lives, _ := fateOf(t, a, g.Claim); !lives {
		t.Error("it waits, and counts for nothing")
	}
	clk.Advance(2 * time.Second)
	if lives, _ := fateOf(t, a, g.Claim); lives {
		t.Error("it waits for ever")
	}
}

// Whoever has no token leaves a comment to those who have one, and says nothing of it.
func TestTend_WithoutTheToken(t *testing.T) {
	const host = "git.example.com"
	w, api := forgetest.NewGitea(t, nil)
	api = strings.TrimSuffix(api, "/api/v1")
	w.AddRepo("octo/hello")
	w.AddUser(forgetest.User{Login: "bot", Association: "collaborator", Writer: true, Token: "bot-token-1"})
	w.AddIssue("octo/hello", "bot", "A bug", "x")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("0123456789012345678901234567\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(env map[string]string) (*App, *Reservations) {
		src := sources(dir, env)
		write(t, src, "store = \"sqlite:"+dir+"/oneslot.db\"\n[[forge]]\nhost = \""+host+"\"\ntype = \"gitea\"\napi = \""+api+
			"\"\ntoken = {env = \"TOKEN\"}\n[reservation]\nenabled = true\nkey = {file = \"key\"}\n")
		cfg, err := config.Load(src)
		if err != nil {
			t.Fatal(err)
		}
		a, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.reservations()
		if err != nil {
			t.Fatal(err)
		}
		return a, r
	}
	daemon, hers := open(map[string]string{"TOKEN": "bot-token-1"})
	ref, err := slot.ParseCanonical(host + "/octo/hello#1")
	if err != nil {
		t.Fatal(err)
	}
	req := claim.Request{Ref: ref, Key: claim.NewKey(ref), Kind: slot.Detached, TTL: time.Minute, Holder: slot.Holder{Host: "here", Path: slot.PathPoll, Command: "x"}}
	g, err := daemon.Taker().Take(t.Context(), req)
	if err == nil {
		_, _, err = hers.Reserve(t.Context(), g)
	}
	if err == nil {
		_, err = daemon.Store.Release(t.Context(), req.Key, slot.Outcome{Result: slot.Done})
	}
	if err != nil {
		t.Fatal(err)
	}
	_, its := open(nil) // as a supervisor, whose environment is stripped of secrets
	if err := its.Tend(t.Context(), ref); err != nil {
		t.Errorf("without the token: %v", err)
	}
	if err := hers.Tend(t.Context()); err != nil {
		t.Errorf("with it: %v", err)
	}
	if list, err := daemon.verbs.at[host].Comments(t.Context(), ref); err != nil || len(list.List) != 0 {
		t.Errorf("%d comments are left, %v", len(list.List), err)
	}
	if said := saidOf(t, daemon, ref); len(said) != 0 {
		t.Errorf("on record: %+v", said)
	}
}
