package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/slot"
)

// sources are those of a machine with one configuration file.
func sources(dir string, env map[string]string) config.Sources {
	return config.Sources{
		ConfigFlag: filepath.Join(dir, "c.toml"), Hostname: func() (string, error) { return "here", nil },
		Getwd: func() (string, error) { return dir, nil },
		Env:   func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	}
}

// from opens what a configuration file with this text describes.
func from(t *testing.T, text string) (*App, config.Sources) {
	t.Helper()
	dir := t.TempDir()
	src := sources(dir, map[string]string{"OLD": "old-secret", "NEW": "new-secret"})
	write(t, src, "store = \"sqlite:"+dir+"/oneslot.db\"\n"+text)
	cfg, err := config.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a, src
}

func write(t *testing.T, src config.Sources, text string) {
	t.Helper()
	if err := os.WriteFile(src.ConfigFlag, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A reload brings new tokens, hosts and names in force, and takes revoked tokens out.
func TestReload_WhatIsInForce(t *testing.T) {
	a, src := from(t, "[api]\ntokens = [{name = 'old', role = 'read', env = 'OLD'}]\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &server{App: a, ServeOptions: ServeOptions{Log: slog.New(slog.DiscardHandler)}, ctx: ctx}
	s.live = config.NewLive(src, a.Config, s.apply)
	if err := s.apply(a.Config); err != nil {
		t.Fatal(err)
	}
	old := *s.tokens.Load()
	write(t, src, "store = \""+a.Config.Store.V+"\"\nhost = 'there'\ndefault_host = 'git.example'\n[api]\ntokens = [{name = 'new', role = 'read', env = 'NEW'}]\n[retention]\nlogs = '365d'\n")
	if err := s.live.Reload(); err != nil {
		t.Fatal(err)
	}
	if now := *s.tokens.Load(); len(now) != 2 || now[0] == old[0] || now[1] != old[1] {
		t.Errorf("tokens in force: %v, before: %v", now, old)
	}
	d := s.dispatcher(nil)
	if got := d.Holder("poll", "x", a.Self).Host; got != "there" {
		t.Errorf("its claims name the host %q", got)
	}
	write(t, src, "store = \""+a.Config.Store.V+"\"\n[api]\ntokens = [{name = 'none', role = 'read', env = 'NONE'}]\n")
	if err := s.live.Reload(); err == nil {
		t.Error("a token that cannot be read is in force")
	}
	if s.live.Current().Retention.Logs.V != 365*24*time.Hour {
		t.Error("the last good configuration did not stay")
	}
}

// peek answers as `run` would: a detached claim that has expired takes no room.
func TestPeek_CountsAsTheClaimDoes(t *testing.T) {
	a, _ := from(t, "[limits]\nrunning = 1\n")
	ref := func(n string) slot.Ref {
		r, err := slot.ParseCanonical("github.com/o/r#" + n)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	take := func(n string, ttl time.Duration) error {
		r := ref(n)
		_, err := a.Store.Acquire(t.Context(), claim.Request{
			Ref: r, Key: claim.NewKey(r), Kind: slot.Detached, Holder: slot.Holder{Host: "here", Path: "manual", Command: "x"}, TTL: ttl,
			Limits: a.RunLimits(),
		})
		return err
	}
	peek := func() error {
		ad, err := a.Admission(true, "")
		if err != nil {
			t.Fatal(err)
		}
		_, err = ad.Before(t.Context(), ref("2"))
		return err
	}
	if err := take("1", time.Second); err != nil {
		t.Fatal(err)
	}
	var full *slot.DeferError
	if err := peek(); !errors.As(err, &full) {
		t.Fatalf("while it is held: %v", err)
	}
	for end := time.Now().Add(10 * time.Second); peek() != nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("a claim that has expired takes room: %v", peek())
		}
	}
	if err := take("2", time.Minute); err != nil {
		t.Errorf("peek let it pass, and the claim did not: %v", err)
	}
}

// Nobody else may connect to the socket, from its first moment on.
func TestListen_OwnersOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	lc := net.ListenConfig{Control: ownersOnly}
	l, err := lc.Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("made with %v, %v", fi.Mode(), err)
	}
}

// The service manager hears of a round that was made, and of nothing else.
func TestWatchdog_PingsFromRounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "30000")
	ctx, cancel := context.WithCancel(t.Context())
	var w watchdog
	asked, done := make(chan struct{}, 100), make(chan struct{})
	go func() {
		defer close(done)
		w.run(ctx, func() { asked <- struct{}{} })
	}()
	<-asked
	<-asked
	if err := l.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64)
	if n, err := l.Read(buf); err == nil {
		t.Errorf("told %q by a dispatcher that hangs", buf[:n])
	}
	cancel()
	<-done
	w.due.Store(true)
	w.round()
	if err := l.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := l.Read(buf); err != nil || string(buf[:n]) != "WATCHDOG=1" {
		t.Errorf("told %q, %v", buf[:n], err)
	}
}

// A process that is known by hearsay is not one of this host, before its restart.
func TestOvertaken_FarProcesses(t *testing.T) {
	a, _ := from(t, "")
	c := slot.Claim{Kind: slot.Supervised}
	for boot, want := range map[string]bool{"": false, a.Clock.BootID(): false, "another": true, slot.FarBoot + "another": false} {
		if c.Holder.Process.Boot = boot; a.Ender().Overtaken(c) != want {
			t.Errorf("boot %q: overtaken %v, want %v", boot, !want, want)
		}
	}
}
