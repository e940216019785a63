package two

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/test/rig"
)

// packaged is the packaged daemon in a manager: the user's unit as it is, but for the
// program's path, the configuration and a short watchdog.
type packaged struct {
	*world
	manager *rig.Systemd
}

const packagedUnit = "../../packaging/systemd/user/oneslot.service"

func install(t *testing.T, s *rig.Systemd, w *world) packaged {
	t.Helper()
	unit, err := os.ReadFile(packagedUnit)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(s.RuntimeDir, "systemd", "user")
	dropIn := fmt.Sprintf("[Service]\nExecStart=\nExecStart=%s serve\nEnvironment=ONESLOT_CONFIG=%s HOME=%s\nWatchdogSec=1\n",
		program, w.path("oneslot.toml"), w.dir)
	if err := os.MkdirAll(dir+"/oneslot.service.d", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"oneslot.service": string(unit), "oneslot.service.d/test.conf": dropIn} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.MustRun(t, "systemctl", "--user", "daemon-reload")
	p := packaged{w, s}
	t.Cleanup(func() { s.Run("systemctl", "--user", "stop", "oneslot") })
	return p
}

func (p packaged) systemctl(verb string) {
	p.t.Helper()
	if out, err := p.manager.Run("systemctl", "--user", verb, "oneslot"); err != nil {
		said, _ := p.manager.Run("systemctl", "--user", "status", "oneslot")
		p.t.Fatalf("systemctl %s: %v\n%s%s", verb, err, out, said)
	}
}

func (p packaged) show(property string) string {
	out, _ := p.manager.Run("systemctl", "--user", "show", "--property="+property, "--value", "oneslot")
	return strings.TrimSpace(out)
}

func (p packaged) pid() int {
	p.t.Helper()
	n, err := strconv.Atoi(p.show("MainPID"))
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// alive reports whether a worker is at work.
func (s stint) alive() bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.pid))
	return err == nil && exe == worker
}

// C53: the packaged unit is restarted, reloaded, killed and stopped under a live
// worker. P1 P5: the worker lives on and is adopted, and nothing starts twice.
func testPackagedUnit(t *testing.T, s *rig.Systemd) {
	w := newWorld(t, s.Env(), unitGate+holdUnit, "0s", 10*time.Minute)
	p := install(t, s, w)
	p.systemctl("start") // it is back when the daemon is ready
	first := w.started(w.deliver("7"))
	still := func(when string) {
		t.Helper()
		held, reason := w.held("7")
		if !first.alive() || !held || len(w.stints(daemonSide, "")) != 1 {
			t.Errorf("%s: the worker lives: %v, its slot is held: %v (%s), workers: %v", when, first.alive(), held, reason, w.stints(daemonSide, ""))
		}
	}

	for range 2 { // WatchdogSec
		seen := p.show("WatchdogTimestampMonotonic")
		poll(t, patience, "a ping of the watchdog", func() bool { return p.show("WatchdogTimestampMonotonic") != seen })
	}
	daemon := p.pid()
	p.systemctl("reload")
	if still("after a reload"); p.pid() != daemon {
		t.Errorf("a reload changed the process: %d, now %d", daemon, p.pid())
	}
	p.systemctl("restart")
	if still("after a restart"); p.pid() == daemon {
		t.Errorf("a restart kept the process %d", daemon)
	}
	followUp := w.deliver("7") // it waits for the run that was adopted
	if err := unix.Kill(p.pid(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	poll(t, patience, "Restart=on-failure", func() bool { return p.show("NRestarts") == "1" && p.show("ActiveState") == "active" })
	still("after kill -9")

	// What was adopted is stopped as ever, and its end is seen.
	w.oneslot("stop", ref("7"))
	second := w.started(followUp)
	if first.alive() || len(w.stints(daemonSide, "")) != 2 {
		t.Errorf("after oneslot stop: %v", w.stints(daemonSide, ""))
	}
	p.systemctl("stop")
	if held, reason := w.held("7"); !second.alive() || !held || p.show("ActiveState") != "inactive" {
		t.Errorf("after the unit's stop (%s): the worker lives: %v, its slot is held: %v (%s)", p.show("ActiveState"), second.alive(), held, reason)
	}
	w.oneslot("stop", ref("7"))
	if second.alive() {
		t.Error("a worker without a daemon was not stopped")
	}
	if found := overlaps(w.journal()); len(found) > 0 {
		t.Errorf("something started twice: %v", found)
	}
}

// Both variants are the same but for who runs them, and systemd knows all of it.
func TestPackagedUnits(t *testing.T) {
	if _, err := os.Stat("/lib/systemd/systemd"); err != nil {
		if os.Getenv("ONESLOT_NO_SKIP") != "" {
			t.Fatal(err)
		}
		t.Skip("skipped: systemd is not installed")
	}
	exec := regexp.MustCompile(`(?m)^ExecStart=\S+`)
	for _, variant := range []struct{ flag, path string }{
		{"--system", "../../packaging/systemd/oneslot.service"}, {"--user", packagedUnit},
	} {
		text, err := os.ReadFile(variant.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"Type=notify", "WatchdogSec=60", "KillMode=process", "OOMPolicy=continue", "Restart=on-failure", "ExecReload=/bin/kill -HUP $MAINPID",
		} {
			if !strings.Contains(string(text), "\n"+want+"\n") {
				t.Errorf("%s has no %s", variant.path, want)
			}
		}
		w := &world{t: t, dir: t.TempDir()}
		w.write("oneslot.service", exec.ReplaceAllLiteralString(string(text), "ExecStart="+program))
		out, err := w.command("systemd-analyze", "verify", "--man=no", variant.flag, w.path("oneslot.service")).CombinedOutput()
		if strings.Contains(string(out), "oneslot.service") {
			t.Errorf("%s: %v\n%s", variant.path, err, out)
		}
	}
}
