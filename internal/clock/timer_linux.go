package clock

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Timer is a timer in boot time: one that was due while the machine slept fires
// when it wakes (timerfd_create(2), CLOCK_BOOTTIME), which Go's own do not.
type Timer struct {
	C    <-chan struct{}
	file *os.File
	late *time.Timer // where there is no timerfd
}

// NewTimer makes a timer that is not set yet. Stop it after use.
func NewTimer() *Timer {
	c := make(chan struct{}, 1)
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return fallback(c)
	}
	t := &Timer{C: c, file: os.NewFile(uintptr(fd), "timerfd")}
	go func() {
		for count := make([]byte, 8); ; {
			if _, err := t.file.Read(count); err != nil {
				return // stopped
			}
			signal(c)
		}
	}()
	return t
}

// Reset sets the timer to fire once, after d; an earlier setting is forgotten.
// One that has fired already may still be in C.
func (t *Timer) Reset(d time.Duration) {
	if t.file == nil {
		t.resetFallback(d)
		return
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(d, 1)))}
	if conn, err := t.file.SyscallConn(); err == nil {
		conn.Control(func(fd uintptr) { unix.TimerfdSettime(int(fd), 0, &spec, nil) }) //nolint:errcheck // it cannot fail for a timer of ours
	}
}

// Stop gives the timer back. It does not fire any more.
func (t *Timer) Stop() {
	if t.file != nil {
		t.file.Close()
	}
	if t.late != nil {
		t.late.Stop()
	}
}
