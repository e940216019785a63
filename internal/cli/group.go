package cli

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup starts the command in a process group of its own, which is the one in
// front if we are in front of a terminal. restore puts us in front again.
func ownGroup(cmd *exec.Cmd, in *os.File) (restore func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithUs(cmd.SysProcAttr)
	if !onTerminal(in) {
		return func() {}
	}
	fd, us := int(in.Fd()), unix.Getpgrp()
	if front, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || front != us {
		return func() {}
	}
	cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, fd
	return func() {
		signal.Ignore(syscall.SIGTTOU)                  // we are in the back now
		unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, us) //nolint:errcheck // the terminal went away
	}
}
