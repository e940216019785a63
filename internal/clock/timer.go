package clock

import "time"

// fallback is a timer on Go's own clock, which stands still while the machine
// sleeps.
func fallback(c chan struct{}) *Timer {
	t := &Timer{C: c, late: time.AfterFunc(time.Hour, func() { signal(c) })}
	t.late.Stop()
	return t
}

func (t *Timer) resetFallback(d time.Duration) { t.late.Reset(min(max(d, 0), time.Second)) }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is told already
	}
}
