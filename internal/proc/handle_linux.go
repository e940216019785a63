package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
	"golang.org/x/sys/unix"
)

// handle holds on to one process, whatever becomes of its number.
type handle struct {
	v   view
	st  stat
	pid int      // in our own namespace; 0 if it has no number there
	fd  *os.File // its pidfd; nil where the kernel or a sandbox gives none
}

// hold takes hold of the process that st was read of. The error is
// os.ErrProcessDone if that one has ended.
func (v view) hold(st stat) (*handle, error) {
	h := &handle{v: v, st: st, pid: v.number(st)}
	if h.pid == 0 {
		return nil, fmt.Errorf("process %d of /proc: %w: it has no number in our pid namespace", st.pid, slot.ErrUnknown)
	}
	fd, err := unix.PidfdOpen(h.pid, 0)
	switch {
	case errors.Is(err, unix.ESRCH):
		return nil, os.ErrProcessDone
	case err == nil:
		// Only a file that does not block is waited for without a thread.
		if err := unix.SetNonblock(fd, true); err != nil {
			unix.Close(fd)
			return nil, fmt.Errorf("pidfd: %w", err)
		}
		h.fd = os.NewFile(uintptr(fd), "pidfd")
	}
	// Only now that nobody can take its place: is it the right one?
	if err := h.verify(); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// verify returns nil if the handle's process is the one that was meant and has
// not ended, os.ErrProcessDone if it has, and slot.ErrUnknown if /proc does not
// tell.
func (h *handle) verify() error {
	if h.v.foreign && h.fd != nil {
		// The kernel tells which process of /proc the pidfd is.
		var info []byte
		var err error
		if cerr := h.control(func(fd int) {
			info, err = slurp(string(h.v.fs)+"/self/fdinfo/"+strconv.Itoa(fd), nil)
		}); cerr != nil || err != nil {
			return errors.Join(slot.ErrUnknown, cerr, err)
		}
		if !bytes.Contains(info, []byte("\nPid:\t"+strconv.Itoa(h.st.pid)+"\n")) {
			return os.ErrProcessDone
		}
	}
	now, err := h.v.fs.stat(h.st.pid, nil)
	switch {
	case err == nil && now.ticks == h.st.ticks && !now.over():
		return nil
	case err == nil, errors.Is(unix.Kill(h.pid, 0), unix.ESRCH):
		return os.ErrProcessDone
	}
	return errors.Join(slot.ErrUnknown, err)
}

// signal sends sig. The error is os.ErrProcessDone if the process has ended,
// and an os.ErrPermission if it belongs to somebody else.
func (h *handle) signal(sig syscall.Signal) (err error) {
	if h.fd == nil {
		if err := h.verify(); err != nil {
			return err
		}
		err = unix.Kill(h.pid, sig)
	} else if cerr := h.control(func(fd int) { err = unix.PidfdSendSignal(fd, sig, nil, 0) }); cerr != nil {
		return cerr
	}
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// control works on the pidfd while nobody can close it. The error is
// os.ErrClosed if somebody did.
func (h *handle) control(f func(fd int)) error {
	c, err := h.fd.SyscallConn()
	if err == nil {
		err = c.Control(func(fd uintptr) { f(int(fd)) })
	}
	if err != nil {
		return os.ErrClosed
	}
	return nil
}

// wait returns nil when the process has ended, and os.ErrClosed when closed was
// before. It parks in the poller of the runtime and takes no thread.
func (h *handle) wait(closed <-chan struct{}) error {
	if h.fd != nil {
		c, err := h.fd.SyscallConn()
		if err == nil && c.Read(over) == nil {
			return nil
		}
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !errors.Is(h.verify(), os.ErrProcessDone) {
		select {
		case <-closed:
			return os.ErrClosed
		case <-tick.C:
		}
	}
	return nil
}

// over reports whether the process of a pidfd has ended.
func over(fd uintptr) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := retry(func() (int, error) { return unix.Poll(p, 0) })
	return n > 0 && err == nil
}

func (h *handle) close() {
	if h.fd != nil {
		h.fd.Close()
	}
}
