package supervise

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is the pty between our terminal and a worker that was started from
// one.
//
// Ctrl-Z is off in it. The worker could be stopped like any other job, but then
// somebody would stop us with it, and a stopped supervisor renews nothing.
type terminal struct {
	is     [3]bool // which of the three descriptors are the terminal
	ours   [3]*os.File
	master *os.File
	inner  *os.File // the worker's end

	mu     sync.Mutex
	saved  *unix.Termios // our terminal's mode, while it is raw
	over   bool
	winch  chan os.Signal
	fg     chan os.Signal
	ending chan struct{}
}

// openTerminal makes a pty if one of the three is a terminal; else it answers nil.
func openTerminal(in, out, err *os.File) (*terminal, error) {
	t := &terminal{ours: [3]*os.File{in, out, err}}
	any := false
	for i, f := range t.ours {
		t.is[i] = f != nil && term.IsTerminal(int(rawFD(f)))
		any = any || t.is[i]
	}
	if !any {
		return nil, nil
	}
	var e error
	if t.master, t.inner, e = pty.Open(); e != nil {
		return nil, e
	}
	if e := t.dress(); e != nil {
		t.master.Close()
		t.inner.Close()
		return nil, e
	}
	return t, nil
}

// dress gives the pty the size and the settings of our terminal.
func (t *terminal) dress() error {
	pty.InheritSize(t.any(), t.master) // a terminal may have no size
	mode, err := unix.IoctlGetTermios(int(rawFD(t.any())), getTermios)
	if err != nil {
		return err
	}
	mode.Cc[unix.VSUSP] = noChar
	if err := unix.IoctlSetTermios(int(rawFD(t.inner)), setTermios, mode); err != nil {
		return err
	}
	return blocking(t.inner)
}

// any is a descriptor of our terminal; outer is the one to print on.
func (t *terminal) any() *os.File { return t.pick(0, 1, 2) }

func (t *terminal) outer() *os.File { return t.pick(1, 2, 0) }

func (t *terminal) pick(order ...int) *os.File {
	for _, i := range order {
		if t.is[i] {
			return t.ours[i]
		}
	}
	return nil
}

// fd is the worker's descriptor that becomes its controlling terminal.
func (t *terminal) fd() int {
	for i, is := range t.is {
		if is {
			return i
		}
	}
	return 0
}

// start passes on keys and size. It is called after the fork, so that the worker
// does not inherit what is ignored here.
func (t *terminal) start() {
	// In the background, reading fails and writing works; neither stops us, so
	// that renewals never freeze.
	signal.Ignore(unix.SIGTTIN, unix.SIGTTOU)
	t.winch, t.fg, t.ending = make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(t.winch, unix.SIGWINCH)
	signal.Notify(t.fg, unix.SIGCONT)
	go func() {
		for {
			select {
			case <-t.winch:
				pty.InheritSize(t.any(), t.master)
			case <-t.fg: // the shell may have set its own mode meanwhile
				t.restore()
			case <-t.ending:
				return
			}
		}
	}()
	if t.is[0] {
		go t.keys()
	}
}

// keys copies what is typed, while we are the terminal's foreground job.
func (t *terminal) keys() {
	fd := int(rawFD(t.ours[0]))
	buf := make([]byte, 4<<10)
	for {
		select {
		case <-t.ending:
			return
		default:
		}
		if !t.raw(fd) {
			unix.Poll(nil, 200)
			continue
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 200)
		if n <= 0 || err != nil {
			continue
		}
		switch n, err := unix.Read(fd, buf); {
		case err == unix.EINTR, err == unix.EAGAIN, err == unix.EIO && !foreground(fd):
		case err != nil || n == 0: // it hung up
			return
		default:
			if _, err := t.master.Write(buf[:n]); err != nil {
				return
			}
		}
	}
}

func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}

// raw sees to it that keys reach the worker untouched, and reports whether we
// may read them.
func (t *terminal) raw(fd int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || !foreground(fd) {
		return false
	}
	if t.saved != nil {
		return true
	}
	mode, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return false
	}
	saved := *mode
	mode.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	mode.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	if t.is[1] { // else somebody else prints here, say tee, and needs its newlines
		mode.Oflag &^= unix.OPOST
	}
	if unix.IoctlSetTermios(fd, setTermios, mode) != nil {
		return false
	}
	t.saved = &saved
	return true
}

// restore gives our terminal back its mode.
func (t *terminal) restore() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.saved == nil {
		return
	}
	if fd := int(rawFD(t.ours[0])); foreground(fd) {
		unix.IoctlSetTermios(fd, setTermios, t.saved)
	}
	t.saved = nil
}

// stop ends the passing on, and restores our terminal. The pty's own end is
// closed with its pump.
func (t *terminal) stop() {
	t.restore()
	t.mu.Lock()
	over := t.over
	t.over = true
	t.mu.Unlock()
	if t.ending != nil && !over {
		signal.Stop(t.winch)
		signal.Stop(t.fg)
		close(t.ending)
	}
}
