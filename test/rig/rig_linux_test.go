package rig_test

import (
	"strings"
	"testing"

	"github.com/oneslot/oneslot/test/rig"
)

func TestSystemd(t *testing.T) {
	s := rig.StartSystemd(t)
	s.MustRun(t, "systemd-run", "--user", "--unit=rig-probe.service", "sleep", "60")
	if out := s.MustRun(t, "systemctl", "--user", "is-active", "rig-probe.service"); strings.TrimSpace(out) != "active" {
		t.Errorf("the unit is %q", out)
	}
	s.MustRun(t, "systemctl", "--user", "stop", "rig-probe.service")
}

func TestDocker(t *testing.T) { runsAContainer(t, rig.StartDocker(t)) }
func TestPodman(t *testing.T) { runsAContainer(t, rig.StartPodman(t)) }

func runsAContainer(t *testing.T, e *rig.Engine) {
	if out := e.MustRun(t, "run", "--rm", "--network", "none", rig.Image, "/bin/echo", "here"); !strings.Contains(out, "here") {
		t.Errorf("the container said %q", out)
	}
}
