package gate_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/test/rig"
)

// monitor is the configuration beside a monitor that starts units by timer.
func monitor(s *rig.Systemd) gate.Systemd {
	return gate.Systemd{
		User:     true,
		Units:    []string{"bob-pm-*-slot-{dashed}.service"},
		HoldUnit: "bob-pm-fast-slot-{dashed}.service",
		Program:  []string{os.Args[0]},
		Getenv:   s.Getenv,
	}
}

// One manager for all: its start takes a second.
func TestSystemd(t *testing.T) {
	s := rig.StartSystemd(t)
	t.Run("C47", func(t *testing.T) { testC47UnitStates(t, s) })
	t.Run("exact names", func(t *testing.T) { testUnitNames(t, s) })
	t.Run("one list per tick", func(t *testing.T) { testTick(t, s) })
	t.Run("watch", func(t *testing.T) { testUnitWatch(t, s, s.Getenv) })
	t.Run("watch without a bus", func(t *testing.T) { testUnitWatch(t, s, socketOnly(t, s)) })
	t.Run("C48 hold", func(t *testing.T) { testHoldUnit(t, s) })
	t.Run("C48 taken", func(t *testing.T) { testHoldUnitTaken(t, s) })
	t.Run("C47 hanging", func(t *testing.T) { testManagerHangs(t, s) }) // the last: it stops the manager
}

func unitsOf(t *testing.T, s *rig.Systemd, name, script string, props ...string) {
	t.Helper()
	args := []string{"--user", "--no-block", "--unit=" + name}
	for _, p := range props {
		args = append(args, "--property="+p)
	}
	s.MustRun(t, "systemd-run", append(args, "/bin/sh", "-c", script)...)
}

func state(s *rig.Systemd, unit string) string {
	out, _ := s.Run("systemctl", "--user", "show", "--property=ActiveState", "--value", unit)
	return strings.TrimSpace(out)
}

func testC47UnitStates(t *testing.T, s *rig.Systemd) {
	g := must(t)(gate.NewSystemd(monitor(s)))
	unit := func(n string) string { return "bob-pm-slow-slot-octo-hello-" + n + ".service" }
	unitsOf(t, s, unit("1"), "sleep 600")
	unitsOf(t, s, unit("2"), "sleep 600", "Type=oneshot")
	unitsOf(t, s, unit("3"), "trap '' TERM; touch "+filepath.Join(s.RuntimeDir, "up")+"; while :; do sleep 1; done", "TimeoutStopSec=600", "KillMode=process")
	unitsOf(t, s, unit("4"), "exit 3")
	unitsOf(t, s, unit("5"), "exit 0")
	unitsOf(t, s, unit("6"), "sleep 600", "ExecReload=/bin/sleep 600")
	unitsOf(t, s, unit("9"), "sleep 600", "Type=oneshot")
	eventually(t, "the trap", func() bool { _, err := os.Stat(filepath.Join(s.RuntimeDir, "up")); return err == nil })
	eventually(t, "active", func() bool { return state(s, unit("6")) == "active" })
	s.MustRun(t, "systemctl", "--user", "--no-block", "stop", unit("3"))
	s.MustRun(t, "systemctl", "--user", "--no-block", "reload", unit("6"))
	// One that waits in the manager's line is as good as started.
	unitsOf(t, s, unit("8"), "sleep 600", "After="+unit("9"))

	for _, c := range []struct {
		number, state string
		verdict       slot.Verdict
		words         string
	}{
		{"1", "active", slot.Defer, "systemd: " + unit("1") + " is active"},
		{"2", "activating", slot.Defer, "is activating"},
		{"3", "deactivating", slot.Defer, "is deactivating"},
		{"4", "failed", slot.Proceed, "systemd: free"},
		{"5", "inactive", slot.Proceed, "systemd: free"},
		{"6", "reloading", slot.Defer, "is reloading"},
		{"7", "inactive", slot.Proceed, "systemd: free"}, // not found; P9
		{"8", "inactive", slot.Defer, "is queued to start"},
	} {
		eventually(t, c.number+" "+c.state, func() bool { return state(s, unit(c.number)) == c.state })
		wants(t, g.Ask(t.Context(), gate.Ask{Ref: ref(t, "github.com/octo/hello#"+c.number), Claimed: true}), c.verdict, c.words)
	}
	s.MustRun(t, "systemctl", "--user", "kill", "--signal=KILL", "--kill-whom=all", unit("3"))
	s.Run("systemctl", "--user", "stop", unit("*"))
	s.Run("systemctl", "--user", "reset-failed")
}

func testUnitNames(t *testing.T, s *rig.Systemd) {
	unitsOf(t, s, "bob-pm-a-slot-octo-hello-15.service", "sleep 600")
	unitsOf(t, s, "bob-pm-a-slot-Octo-World.x-2.service", "sleep 600")
	eventually(t, "both", func() bool {
		return state(s, "bob-pm-a-slot-octo-hello-15.service") == "active" && state(s, "bob-pm-a-slot-Octo-World.x-2.service") == "active"
	})
	g := must(t)(gate.NewSystemd(monitor(s)))
	for r, verdict := range map[string]slot.Verdict{
		"github.com/octo/hello#15":  slot.Defer,
		"github.com/octo/hello#1":   slot.Proceed,
		"github.com/octo/hello#5":   slot.Proceed,
		"github.com/cto/hello#15":   slot.Proceed,
		"github.com/octo/world.x#2": slot.Defer, // others write names as people do
		"github.com/octo/worldsx#2": slot.Proceed,
		"key:octo-hello-15":         "",
		"github.com/octo/hello@15":  "",
	} {
		for _, claimed := range []bool{false, true} {
			wants(t, g.Ask(t.Context(), gate.Ask{Ref: ref(t, r), Claimed: claimed}), verdict, "")
		}
	}
	s.MustRun(t, "systemctl", "--user", "stop", "bob-pm-*.service")
}

// The list is read once per tick, and anew under the claim.
func testTick(t *testing.T, s *rig.Systemd) {
	const unit = "bob-pm-a-slot-octo-hello-1.service"
	set := gate.NewSet(newClock(), nil, gate.Entry{Gate: must(t)(gate.NewSystemd(monitor(s)))})
	ask := gate.Ask{Ref: ref(t, "github.com/octo/hello#1")}
	claimed := ask
	claimed.Claimed = true
	if d := set.Decide(t.Context(), ask); d.Verdict != slot.Proceed {
		t.Fatalf("%+v", d)
	}
	unitsOf(t, s, unit, "sleep 600")
	eventually(t, "active", func() bool { return state(s, unit) == "active" })
	if d := set.Decide(t.Context(), ask); d.Verdict != slot.Proceed {
		t.Errorf("the list was read twice in a tick: %+v", d)
	}
	if d := set.Decide(t.Context(), claimed); d.Verdict != slot.Defer {
		t.Errorf("what was read before the claim answered under it: %+v", d)
	}
	set.Tick()
	if d := set.Decide(t.Context(), ask); d.Verdict != slot.Defer || d.Reason != "systemd: "+unit+" is active" {
		t.Errorf("%+v", d)
	}
	s.MustRun(t, "systemctl", "--user", "stop", unit)
}

// socketOnly leads to the manager's own socket, as where there is no bus.
func socketOnly(t *testing.T, s *rig.Systemd) func(string) string {
	dir := t.TempDir()
	if err := os.Symlink(s.RuntimeDir+"/systemd", dir+"/systemd"); err != nil {
		t.Fatal(err)
	}
	return func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return dir
		}
		return ""
	}
}

// P6: the end of a unit is known within a second.
func testUnitWatch(t *testing.T, s *rig.Systemd, getenv func(string) string) {
	const unit = "bob-pm-a-slot-octo-hello-1.service"
	config := monitor(s)
	config.Getenv = getenv
	g := must(t)(gate.NewSystemd(config))
	set := gate.NewSet(newClock(), nil, gate.Entry{Gate: g})
	ctx, cancel := context.WithCancel(t.Context())
	changed, done := make(chan string, 100), make(chan struct{})
	go func() {
		set.Watch(ctx, func(gateType string) { changed <- gateType })
		close(done)
	}()
	defer func() { cancel(); <-done }()
	// The watch has begun when it tells of an end; until then, more units end.
	began := func() bool {
		unitsOf(t, s, "bob-pm-b-slot-x-y-1.service", "exit 0")
		select {
		case <-changed:
			return true
		case <-time.After(200 * time.Millisecond):
			return false
		}
	}
	eventually(t, "the watch", began)
	unitsOf(t, s, unit, "sleep 600")
	unitsOf(t, s, "other.service", "exit 0")
	eventually(t, "active", func() bool { return state(s, unit) == "active" })
	eventually(t, "other ended", func() bool { return state(s, "other.service") == "inactive" })
	for len(changed) > 0 {
		<-changed
	}
	s.MustRun(t, "systemctl", "--user", "stop", unit)
	select {
	case name := <-changed:
		if name != "systemd" {
			t.Errorf("%q changed", name)
		}
	case <-time.After(time.Second):
		t.Error("nobody told of the unit's end")
	}
}

func testHoldUnit(t *testing.T, s *rig.Systemd) {
	const unit = "bob-pm-fast-slot-octo-hello-1.service"
	g := must(t)(gate.NewSystemd(monitor(s)))
	set := gate.NewSet(newClock(), nil, gate.Entry{Gate: g, OnError: gate.OnError{Closed: true}})
	ask := gate.Ask{Ref: ref(t, "github.com/octo/hello#1"), Claimed: true}
	run, end := supervisor(t, ask.Ref)

	d, _ := set.Hold(t.Context(), ask, run)
	if d.Verdict != slot.Proceed || state(s, unit) != "active" {
		t.Fatalf("%+v, and the unit is %s", d, state(s, unit))
	}
	if out, err := s.Run("systemd-run", "--user", "--unit="+unit, "true"); err == nil {
		t.Errorf("a monitor started beside us: %s", out)
	}
	if d := set.Decide(t.Context(), ask); d.Verdict != slot.Defer {
		t.Errorf("%+v", d)
	}
	// The supervisor is gone, its tree is not known to be.
	home := rundir.In(run.State)
	if err := home.Enter(run.Slug, run.ID); err != nil {
		t.Fatal(err)
	}
	end()
	if st := state(s, unit); st != "active" {
		t.Errorf("the unit is %s while the run is in the registry", st)
	}
	if err := home.Leave(run.Slug, run.ID); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the unit's end", func() bool { return state(s, unit) == "inactive" })
	s.MustRun(t, "systemd-run", "--user", "--unit="+unit, "true") // its name is free again
	eventually(t, "true", func() bool { return state(s, unit) == "inactive" })

	// A start that did not happen lets go at once.
	run, end = supervisor(t, ask.Ref)
	defer end()
	d, undo := set.Hold(t.Context(), ask, run)
	if d.Verdict != slot.Proceed {
		t.Fatalf("%+v", d)
	}
	undo(t.Context())
	eventually(t, "free again", func() bool { return set.Decide(t.Context(), ask).Verdict == slot.Proceed })
}

// supervisor is a process that stands for the supervisor of a run; end ends it.
func supervisor(t *testing.T, r slot.Ref) (run gate.Run, end func()) {
	t.Helper()
	p, err := os.StartProcess("/bin/sleep", []string{"sleep", "600"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	end = func() { _ = p.Kill(); _, _ = p.Wait() }
	t.Cleanup(end)
	id, err := proc.Identify(p.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return gate.Run{ID: "run-1", Slug: r.Slug(), State: filepath.Join(t.TempDir(), "with $HOME and %n"), Supervisor: id}, end
}

func testHoldUnitTaken(t *testing.T, s *rig.Systemd) {
	const unit = "bob-pm-fast-slot-octo-hello-1.service"
	g := must(t)(gate.NewSystemd(monitor(s))).(gate.Holder)
	ask := gate.Ask{Ref: ref(t, "github.com/octo/hello#1"), Claimed: true}
	run, end := supervisor(t, ask.Ref)
	defer end()

	unitsOf(t, s, unit, "sleep 600")
	eventually(t, "active", func() bool { return state(s, unit) == "active" })
	ans, _ := g.Hold(t.Context(), ask, run)
	wants(t, ans, slot.Defer, "systemd: "+unit+" is active")
	s.MustRun(t, "systemctl", "--user", "stop", unit)

	unitsOf(t, s, unit, "exit 3") // it failed, and keeps its name
	eventually(t, "failed", func() bool { return state(s, unit) == "failed" })
	ans, undo := g.Hold(t.Context(), ask, run)
	if wants(t, ans, slot.Proceed, "holds "+unit); undo != nil {
		undo(t.Context())
	}

	// A hold that cannot see its supervisor is none.
	blind := run
	blind.Supervisor.Boot = "another"
	ans, _ = g.Hold(t.Context(), ask, blind)
	wants(t, ans, slot.Unknown, "failed")
	if st := state(s, unit); st == "active" {
		t.Errorf("the unit is %s", st)
	}
	// Two at once: one holds.
	other, end2 := supervisor(t, ask.Ref)
	defer end2()
	answers := make(chan gate.Answer, 2)
	for _, r := range []gate.Run{run, other} {
		go func() { ans, _ := g.Hold(t.Context(), ask, r); answers <- ans }()
	}
	a, b := <-answers, <-answers
	if (a.Verdict == slot.Proceed) == (b.Verdict == slot.Proceed) {
		t.Errorf("%+v, %+v", a, b)
	}
	end()
	end2()
	eventually(t, "the unit's end", func() bool { return state(s, unit) == "inactive" })
}

func testManagerHangs(t *testing.T, s *rig.Systemd) {
	if err := s.Manager().Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Manager().Signal(syscall.SIGCONT) }()
	for name, getenv := range map[string]func(string) string{"bus": s.Getenv, "socket": socketOnly(t, s)} {
		config := monitor(s)
		config.Getenv = getenv
		began := time.Now()
		g := must(t)(gate.NewSystemd(config))
		d := gate.NewSet(newClock(), nil, gate.Entry{Gate: g, Timeout: 300 * time.Millisecond, OnError: gate.OnError{Closed: true}}).
			Decide(t.Context(), gate.Ask{Ref: ref(t, "github.com/octo/hello#1")})
		if d.Verdict != slot.Defer || d.Reason != "systemd: unknown" {
			t.Errorf("%s: %+v", name, d)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
	}
}
