package clock

import (
	"testing"
	"time"
)

func TestSystemClocksRunForward(t *testing.T) {
	c, err := System()
	if err != nil {
		t.Fatal(err)
	}
	if c.BootID() == "" {
		t.Error("a boot without a name")
	}
	boot, awake := c.Boot(), c.Awake()
	if boot <= 0 || awake <= 0 || awake > boot+time.Second {
		t.Errorf("boot %v, awake %v: awake cannot be ahead", boot, awake)
	}
	if c.Boot() < boot || c.Awake() < awake {
		t.Error("a clock went back")
	}
	again, err := System()
	if err != nil || again.BootID() != c.BootID() {
		t.Errorf("another boot id within one boot: %v", err)
	}
}

func TestManualTellsSuspendAndStepsApart(t *testing.T) {
	start := time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)
	m := NewManual(start)
	boot, awake := m.Boot(), m.Awake()

	m.Advance(time.Second)
	m.Suspend(time.Minute)
	m.StepWall(-time.Hour)

	if got := m.Boot() - boot; got != time.Minute+time.Second {
		t.Errorf("boot time passed: %v", got)
	}
	if got := m.Awake() - awake; got != time.Second {
		t.Errorf("awake time passed: %v", got)
	}
	if got := m.Wall().Sub(start); got != time.Minute+time.Second-time.Hour {
		t.Errorf("wall time passed: %v", got)
	}
	m.Reboot("boot-2")
	if m.BootID() != "boot-2" || m.Boot() != 0 {
		t.Errorf("after a reboot: %s, %v", m.BootID(), m.Boot())
	}
}
