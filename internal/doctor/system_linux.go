package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/proc"
)

// System asks this machine.
func System() Machine {
	return Machine{
		Proc:       func() error { _, err := proc.Self(); return err },
		Pidfd:      pidfd,
		Subreaper:  proc.Adopt,
		First:      proc.FirstNamespace(),
		FileSystem: fileSystem,
		Free:       free,
		Cgroup:     cgroup,
		Linger:     lingers,
	}
}

func cgroup(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// lingers looks where logind notes it.
func lingers(uid int) (on, known bool) {
	who, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return false, false
	}
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return false, false // systemd is not process 1
	}
	_, err = os.Stat(filepath.Join("/var/lib/systemd/linger", who.Username))
	return err == nil, err == nil || errors.Is(err, fs.ErrNotExist)
}

func pidfd() error {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// fileSystem names the common local ones; others are shown by their number. A
// network one was refused before.
func fileSystem(path string) (kind string, volatile bool, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return "", false, err
	}
	switch magic := uint32(st.Type); magic {
	case unix.TMPFS_MAGIC:
		return "tmpfs", true, nil
	case unix.RAMFS_MAGIC:
		return "ramfs", true, nil
	case unix.EXT4_SUPER_MAGIC:
		return "ext4", false, nil
	case unix.XFS_SUPER_MAGIC:
		return "xfs", false, nil
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs", false, nil
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlay", false, nil
	case unix.F2FS_SUPER_MAGIC:
		return "f2fs", false, nil
	case 0x2fc12fc1:
		return "zfs", false, nil
	default:
		return fmt.Sprintf("file system %#x", magic), false, nil
	}
}
