package machine

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Hz is the unit of the times in /proc on every Linux that Go runs on.
const Hz = 100

// Moment is a reading of how much processor time was used so far: by the whole
// machine, and by this process and its collected children.
type Moment struct {
	at        time.Time
	all, ours time.Duration
}

// Now takes a reading.
func Now() (Moment, error) {
	m := Moment{at: time.Now()}
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return m, err
	}
	var user, nice, system, idle, wait, irq, soft, steal int64
	if _, err := fmt.Sscanf(string(b), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal); err != nil {
		return m, fmt.Errorf("/proc/stat: %w", err)
	}
	m.all = time.Duration(user+nice+system+irq+soft+steal) * time.Second / Hz
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if err := unix.Getrusage(who, &u); err != nil {
			return m, err
		}
		m.ours += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return m, nil
}

// Others is the share of the machine, in percent, that was used by others
// between then and now.
func (m Moment) Others(then Moment) float64 {
	used := (m.all - then.all) - (m.ours - then.ours)
	return max(0, 100*used.Seconds()/m.at.Sub(then.at).Seconds()/float64(runtime.NumCPU()))
}

// Used is the processor time that this process and its collected children have
// used since then, in ms.
func (m Moment) Used(then Moment) float64 {
	return float64(m.ours-then.ours) / float64(time.Millisecond)
}

// Load1 is the kernel's one-minute load average, -1 if it is not told.
func Load1() float64 {
	b, err := os.ReadFile("/proc/loadavg")
	v := -1.0
	if err == nil {
		fmt.Sscan(string(b), &v) //nolint:errcheck // -1 says so
	}
	return v
}

// Describe names the machine: kernel, processors, their model, Go.
func Describe() string {
	var u unix.Utsname
	unix.Uname(&u) //nolint:errcheck // an empty name says so
	model := ""
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				model = ", " + strings.TrimSpace(v)
				break
			}
		}
	}
	return fmt.Sprintf("Linux %s %s, %d processors%s, %s", unix.ByteSliceToString(u.Release[:]), runtime.GOARCH,
		runtime.NumCPU(), model, runtime.Version())
}
