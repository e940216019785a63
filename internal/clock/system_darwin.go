package clock

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// CLOCK_MONOTONIC_RAW counts suspend and does not step (CLOCK_MONOTONIC there
// follows the calendar); CLOCK_UPTIME_RAW stands still in suspend.
const (
	bootClock  = unix.CLOCK_MONOTONIC_RAW
	awakeClock = unix.CLOCK_UPTIME_RAW
)

// System returns the clocks of this machine. It fails if this boot cannot be
// told from another one.
func System() (Clock, error) {
	id, err := BootID()
	if err != nil {
		return nil, err
	}
	for _, c := range []int32{bootClock, awakeClock} {
		if err := unix.ClockGettime(c, new(unix.Timespec)); err != nil {
			return nil, fmt.Errorf("clock %d: %w", c, err)
		}
	}
	return system{id}, nil
}

// BootID names this boot of the machine.
func BootID() (string, error) {
	if id, err := unix.Sysctl("kern.bootsessionuuid"); err == nil && id != "" {
		return id, nil
	}
	tv, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return "", fmt.Errorf("boot id: %w", err)
	}
	return fmt.Sprintf("boottime-%d", tv.Sec), nil
}

type system struct{ boot string }

func (system) Boot() time.Duration  { return read(bootClock) }
func (system) Awake() time.Duration { return read(awakeClock) }
func (system) Wall() time.Time      { return time.Now() }
func (s system) BootID() string     { return s.boot }

// read asks a clock that System has seen working; such a call does not fail.
func read(id int32) time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(id, &ts)
	return time.Duration(ts.Nano())
}
