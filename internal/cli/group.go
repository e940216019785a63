package cli

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is the one that a command in a process group of its own shares with us.
type terminal struct {
	fd     int  // -1 if there is none
	us     int  // our process group
	them   int  // the command's
	theirs bool // the command was put in front
}

// ownGroup starts the command in a process group of its own, which is the one in
// front if we are in front of a terminal.
func ownGroup(cmd *exec.Cmd, in *os.File) *terminal {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithUs(cmd.SysProcAttr)
	t := &terminal{fd: -1, us: unix.Getpgrp()}
	if !onTerminal(in) {
		return t
	}
	fd := int(in.Fd())
	front, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil { // not the one that controls us
		return t
	}
	if t.fd = fd; front == t.us {
		cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty, t.theirs = true, fd, true
	}
	return t
}

// signals are those that a guard handles. SIGTSTP is left to the kernel at a
// terminal of ours, where we stop with the command: once Go has handled it, it
// has no effect any more. Elsewhere that is wanted.
func (t *terminal) signals() []os.Signal {
	list := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT}
	if t.fd < 0 {
		list = append(list, syscall.SIGTSTP)
	}
	return list
}

// started says which group the command has. From here on we may be in the back,
// and change who is in front all the same.
func (t *terminal) started(group int) {
	t.them = group
	signal.Ignore(syscall.SIGTTOU)
}

// take puts us in front if the command was put there.
func (t *terminal) take() {
	if t.theirs {
		unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, t.us) //nolint:errcheck // the terminal went away
	}
	t.theirs = false
}

// give puts the command in front if we are, and reports whether it did.
func (t *terminal) give() bool {
	if t.fd < 0 {
		return false
	}
	if front, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP); err != nil || front != t.us {
		return false
	}
	t.theirs = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, t.them) == nil
	return t.theirs
}

// stopMax is how long a stop of our own may take to come.
const stopMax = time.Second

// stopUs stops our process group, as a terminal would, and returns when it was
// continued. Where nobody could continue it, the kernel does not stop it.
func stopUs() {
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	syscall.Kill(0, syscall.SIGTSTP) //nolint:errcheck // to ourselves
	select {
	case <-on:
	case <-time.After(stopMax):
	}
}
