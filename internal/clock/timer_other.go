//go:build !linux

package clock

import "time"

// Timer is a timer that looks once a second, because one that was due while the
// machine slept would not fire when it wakes.
type Timer struct {
	C    <-chan struct{}
	late *time.Timer
}

// NewTimer makes a timer that is not set yet. Stop it after use.
func NewTimer() *Timer { return fallback(make(chan struct{}, 1)) }

// Reset sets the timer to fire after d or sooner; an earlier setting is
// forgotten. One that has fired already may still be in C.
func (t *Timer) Reset(d time.Duration) { t.resetFallback(d) }

// Stop gives the timer back. It does not fire any more.
func (t *Timer) Stop() { t.late.Stop() }
