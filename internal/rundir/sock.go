package rundir

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// socketMax is the longest path that fits a unix socket's address everywhere
// (darwin has 104 bytes with the final zero, Linux 108).
const socketMax = 103

// Listen opens the run's socket, which only this user may use. A path that is too
// long for a socket is replaced by a short one under the temporary folder. The
// path in use is that of the listener's Addr; closing the listener removes it.
func (d Dir) Listen() (net.Listener, error) {
	path := filepath.Join(d.path, "sock")
	if len(path) > socketMax {
		folder := filepath.Join(os.TempDir(), "oneslot-"+strconv.Itoa(os.Getuid()))
		if err := privateFolder(folder); err != nil {
			return nil, err
		}
		path = filepath.Join(folder, fmt.Sprintf("%.8x", sha256.Sum256([]byte(d.path))))
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	// Both folders are 0700 already; this is for those who loosen them.
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// privateFolder makes or checks a folder in a place that others can write to.
func privateFolder(path string) error {
	if err := os.Mkdir(path, 0o700); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(owner.Uid) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is not a private folder of this user", path)
	}
	return nil
}
