package gate_test

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/test/rig"
)

func TestC50_Docker(t *testing.T) {
	e := rig.StartDocker(t)
	testEngine(t, e, gate.NewDocker, "DOCKER_HOST", true)
}

func TestC50_Podman(t *testing.T) {
	e := rig.StartPodman(t)
	testEngine(t, e, gate.NewPodman, "CONTAINER_HOST", false)
}

func testEngine(t *testing.T, e *rig.Engine, newGate func(gate.Containers) (gate.Gate, error), variable string, pause bool) {
	config := gate.Containers{Name: "agent-*-{dashed}", Getenv: func(name string) string {
		if name == variable {
			return "unix://" + e.Socket
		}
		return ""
	}}
	byName := must(t)(newGate(config))
	config.Name, config.Label = "", "agent.ref={ref}"
	byLabel := must(t)(newGate(config))
	kind := byName.Type()
	start := func(number, script string, args ...string) {
		all := append([]string{"run", "-d", "--network", "none", "--name", "agent-x-octo-hello-" + number,
			"--label", "agent.ref=github.com/Octo/hello#" + number}, args...)
		e.MustRun(t, append(all, rig.Image, "/bin/sh", "-c", script)...)
	}
	ask := func(number string) gate.Ask {
		return gate.Ask{Ref: ref(t, "github.com/octo/hello#"+number), Claimed: true}
	}
	e.MustRun(t, "create", "--network", "none", "--name", "agent-x-octo-hello-1", "--label", "agent.ref=github.com/Octo/hello#1", rig.Image, "/bin/true")
	start("2", "sleep 600")
	start("4", "exit 1", "--restart", "always")
	start("5", "exit 0")
	start("15", "sleep 600", "--label", gate.LabelRun+"=own")
	cases := []struct {
		number, state string
		verdict       slot.Verdict
	}{
		{"1", "created", slot.Defer},
		{"2", "running", slot.Defer},
		{"5", "exited", slot.Proceed},
		{"15", "running", slot.Defer},
		{"7", "", slot.Proceed}, // there is none; P9
	}
	if pause {
		start("3", "sleep 600")
		e.MustRun(t, "pause", "agent-x-octo-hello-3")
		cases = append(cases, struct {
			number, state string
			verdict       slot.Verdict
		}{"3", "paused", slot.Defer}, struct {
			number, state string
			verdict       slot.Verdict
		}{"4", "restarting", slot.Defer})
	}
	t.Run("states", func(t *testing.T) {
		for _, c := range cases {
			if c.state != "" {
				eventually(t, c.number+" "+c.state, func() bool {
					out, _ := e.Run("inspect", "--format", "{{.State.Status}}", "agent-x-octo-hello-"+c.number)
					return out == c.state
				})
			}
			for _, g := range []gate.Gate{byName, byLabel} {
				ans := g.Ask(t.Context(), ask(c.number))
				words := kind + ": free"
				if c.verdict == slot.Defer {
					words = kind + ": agent-x-octo-hello-" + c.number + " is "
				}
				wants(t, ans, c.verdict, words)
			}
		}
	})
	t.Run("own", func(t *testing.T) {
		own := ask("15")
		own.Self = "own"
		wants(t, byName.Ask(t.Context(), own), slot.Proceed, "free")
	})
	t.Run("one list per tick", func(t *testing.T) {
		set := gate.NewSet(newClock(), nil, gate.Entry{Gate: byName})
		a := ask("20")
		a.Claimed = false
		set.Decide(t.Context(), a)
		start("20", "sleep 600")
		if d := set.Decide(t.Context(), a); d.Verdict != slot.Proceed {
			t.Errorf("%+v", d)
		}
		set.Tick()
		if d := set.Decide(t.Context(), a); d.Verdict != slot.Defer {
			t.Errorf("%+v", d)
		}
	})
	t.Run("watch", func(t *testing.T) { testEngineWatch(t, e, byName, start) })
	t.Run("hanging", func(t *testing.T) {
		if err := e.Process().Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = e.Process().Signal(syscall.SIGCONT) }()
		began := time.Now()
		d := gate.NewSet(newClock(), nil, gate.Entry{Gate: byName, Timeout: 300 * time.Millisecond}).Decide(t.Context(), ask("1"))
		if d.Verdict != slot.Proceed || d.Evidence[0].Verdict != slot.Unknown || !strings.Contains(d.Evidence[0].Detail, "on_error = open: went on") {
			t.Errorf("%+v", d)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// P6: the end of a container is known within a second.
func testEngineWatch(t *testing.T, e *rig.Engine, g gate.Gate, start func(number, script string, args ...string)) {
	ctx, cancel := context.WithCancel(t.Context())
	changed, done := make(chan struct{}, 100), make(chan struct{})
	go func() {
		gate.NewSet(newClock(), nil, gate.Entry{Gate: g}).Watch(ctx, func(string) { changed <- struct{}{} })
		close(done)
	}()
	defer func() { cancel(); <-done }()
	e.MustRun(t, "rm", "-f", "agent-x-octo-hello-4") // it would tell of its ends again and again
	start("30", "sleep 600")
	start("31", "exit 0")
	eventually(t, "the watch", func() bool {
		e.MustRun(t, "start", "agent-x-octo-hello-31")
		select {
		case <-changed:
			return true
		case <-time.After(200 * time.Millisecond):
			return false
		}
	})
	eventually(t, "31 exited", func() bool {
		out, _ := e.Run("inspect", "--format", "{{.State.Status}}", "agent-x-octo-hello-31")
		return out == "exited"
	})
	for quiet := false; !quiet; {
		select {
		case <-changed:
		case <-time.After(300 * time.Millisecond):
			quiet = true
		}
	}
	e.MustRun(t, "kill", "agent-x-octo-hello-30")
	select {
	case <-changed:
	case <-time.After(time.Second):
		t.Error("nobody told of the container's end")
	}
}
