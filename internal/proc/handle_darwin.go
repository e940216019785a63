package proc

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// handle means one process by number and start time: there is nothing to hold
// on to it with, so between look and signal a moment remains.
type handle struct {
	v  view
	st stat
}

func (v view) hold(st stat) (*handle, error) {
	h := &handle{v, st}
	return h, h.verify()
}

// verify returns nil if the process lives and os.ErrProcessDone if it does not.
func (h *handle) verify() error {
	now, err := h.v.read(h.st.pid)
	if err == nil && (now.ticks != h.st.ticks || now.over()) {
		return os.ErrProcessDone
	}
	return err
}

func (h *handle) signal(sig syscall.Signal) error {
	if err := h.verify(); err != nil {
		return err
	}
	err := unix.Kill(h.st.pid, sig)
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// wait returns nil when the process has ended, and an error when it was closed
// before.
func (h *handle) wait(closed <-chan struct{}) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !errors.Is(h.verify(), os.ErrProcessDone) {
		select {
		case <-tick.C:
		case <-closed:
			return os.ErrClosed
		}
	}
	return nil
}

func (h *handle) close() {}
