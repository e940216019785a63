package gate

import "golang.org/x/sys/unix"

// endGroup waits for the end of our child and then ends what it left in its group.
// The child is not collected yet, so that the number is still its own.
func endGroup(pid int) {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			break
		}
	}
	_ = unix.Kill(-pid, unix.SIGKILL) // usually nobody is left
}
