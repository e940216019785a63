package supervise

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
	noChar     = 0 // _POSIX_VDISABLE
)
