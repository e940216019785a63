package api

import "golang.org/x/sys/unix"

// peerUID asks the kernel who connected.
func peerUID(fd int) (uid int, ok bool) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, false
	}
	return int(cred.Uid), true
}
