package supervise

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
	noChar     = 0xff // _POSIX_VDISABLE
)
