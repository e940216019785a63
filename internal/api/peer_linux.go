package api

import "golang.org/x/sys/unix"

// peerUID asks the kernel who connected.
func peerUID(fd int) (uid int, ok bool) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil || int32(cred.Uid) < 0 { // a user of a namespace that we cannot name
		return -1, false
	}
	return int(cred.Uid), true
}
