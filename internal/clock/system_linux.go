package clock

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// System returns the clocks of this machine. It fails if this boot cannot be
// told from another one, or if its boot time cannot be compared with that of
// the other processes of the machine.
func System() (Clock, error) {
	id, err := BootID()
	if err != nil {
		return nil, err
	}
	for _, c := range []int32{unix.CLOCK_BOOTTIME, unix.CLOCK_MONOTONIC} {
		if err := unix.ClockGettime(c, new(unix.Timespec)); err != nil {
			return nil, fmt.Errorf("clock %d: %w", c, err)
		}
	}
	return system{id}, nil
}

// BootID names this boot of the machine. It is the same in every container,
// and another one after each start of the kernel.
func BootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("boot id: %w", err)
	}
	id := strings.TrimSpace(string(b))
	if id == "" {
		return "", errors.New("boot id: the kernel's is empty")
	}
	// Kernels before 5.6 have no time namespaces, and no such file.
	offsets, err := os.ReadFile("/proc/self/timens_offsets")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("time namespace: %w", err)
	}
	if shifted(string(offsets)) {
		return "", errors.New("time namespace: boot time is shifted here, so deadlines and start times mean something else than outside")
	}
	return id, nil
}

// shifted reports whether /proc/self/timens_offsets moves the boot clock.
func shifted(offsets string) bool {
	for line := range strings.Lines(offsets) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == "boottime" {
			return f[1] != "0" || f[2] != "0"
		}
	}
	return false
}

type system struct{ boot string }

func (system) Boot() time.Duration  { return read(unix.CLOCK_BOOTTIME) }
func (system) Awake() time.Duration { return read(unix.CLOCK_MONOTONIC) }
func (system) Wall() time.Time      { return time.Now() }
func (s system) BootID() string     { return s.boot }

// read asks a clock that System has seen working; such a call does not fail.
func read(id int32) time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(id, &ts)
	return time.Duration(ts.Nano())
}
