package gate

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/proc"
)

// lookLock says whether somebody holds a lock on a file. The kernel's list of locks
// answers without touching any.
func lookLock(path string) Answer {
	f, err := openPlain(path)
	if errors.Is(err, os.ErrNotExist) {
		return proceed("process", "free", "there is no "+path)
	}
	if err != nil {
		return unknown("process", err.Error())
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return unknown("process", fmt.Sprintf("%s: %v", path, err))
	}
	owners, err := proc.LockOwners(uint64(st.Dev), st.Ino) //nolint:unconvert // int32 on darwin
	switch {
	case err == nil && len(owners) > 0:
		return locked(path, owners[0].PID)
	case err == nil && proc.FirstNamespace():
		return proceed("process", "free", "nobody holds a lock on "+path)
	case err != nil && !errors.Is(err, errors.ErrUnsupported):
		return unknown("process", fmt.Sprintf("the kernel's list of locks: %v", err))
	}
	return tryLock(path, f)
}

// tryLock finds the locks of those that no list shows us (other containers; systems
// without a list) by taking a shared one for a moment. Somebody who tries for an
// exclusive lock in that moment fails, which a list spares him.
func tryLock(path string, f *os.File) Answer {
	fd := int(f.Fd())
	l := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &l); err != nil {
		return unknown("process", fmt.Sprintf("%s: %v", path, err))
	}
	if l.Type != unix.F_UNLCK {
		return locked(path, int(l.Pid))
	}
	switch err := unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return locked(path, 0)
	case err != nil:
		return unknown("process", fmt.Sprintf("%s: %v", path, err))
	}
	_ = unix.Flock(fd, unix.LOCK_UN) // closing the file does it too
	return proceed("process", "free", "nobody holds a lock on "+path)
}

func locked(path string, pid int) Answer {
	by := "somebody"
	if pid > 0 {
		by = fmt.Sprintf("process %d", pid)
	}
	return deferral("process", "locked", path+" is locked by "+by)
}
