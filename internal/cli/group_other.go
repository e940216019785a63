//go:build !linux

package cli

import (
	"syscall"
	"time"

	"github.com/oneslot/oneslot/internal/proc"
)

func dieWithUs(*syscall.SysProcAttr) {}

// stopsOf tells when our child is stopped, until over is closed. There is no
// call here that waits for that and leaves the child's end to others.
func stopsOf(pid int, over <-chan struct{}) <-chan struct{} {
	stops := make(chan struct{})
	p, err := proc.Identify(pid)
	if err != nil {
		return stops
	}
	go func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-over:
				return
			}
			if !proc.Look(p).Stopped {
				continue
			}
			select {
			case stops <- struct{}{}:
			case <-over:
				return
			}
		}
	}()
	return stops
}
