package cli

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithUs has the kernel end the command if we are killed: nobody would renew
// its claim any more.
func dieWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// stopsOf tells each time that our child is stopped, until over is closed. It
// does not collect the child.
func stopsOf(pid int, over <-chan struct{}) <-chan struct{} {
	stops := make(chan struct{})
	go func() {
		for {
			err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED, nil)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil { // it has ended
				return
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
