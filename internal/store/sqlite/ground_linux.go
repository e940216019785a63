package sqlite

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Magic numbers of statfs(2) whose file systems live on another machine, or
// hand their locks to one.
var network = map[int64]string{
	unix.NFS_SUPER_MAGIC:   "nfs",
	unix.SMB_SUPER_MAGIC:   "smb",
	unix.CIFS_SUPER_MAGIC:  "cifs",
	unix.SMB2_SUPER_MAGIC:  "smb2",
	unix.AFS_SUPER_MAGIC:   "afs",
	unix.AFS_FS_MAGIC:      "afs",
	unix.CODA_SUPER_MAGIC:  "coda",
	unix.CEPH_SUPER_MAGIC:  "ceph",
	unix.V9FS_MAGIC:        "9p",
	unix.OCFS2_SUPER_MAGIC: "ocfs2",
	unix.NCP_SUPER_MAGIC:   "ncp",
	0x0bd00bd0:             "lustre",
	0x01161970:             "gfs2",
	0x47504653:             "gpfs",
	0x19830326:             "fhgfs",
}

// networkFS names the network file system that dir is on, or "".
func networkFS(dir string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", fmt.Errorf("statfs %s: %w", dir, err)
	}
	magic := int64(uint32(st.Type))
	if name, ok := network[magic]; ok {
		return name, nil
	}
	if magic != unix.FUSE_SUPER_MAGIC {
		return "", nil
	}
	var at unix.Stat_t
	if err := unix.Stat(dir, &at); err != nil {
		return "", fmt.Errorf("stat %s: %w", dir, err)
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	defer f.Close()
	dev := fmt.Sprintf("%d:%d", unix.Major(at.Dev), unix.Minor(at.Dev))
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	kind := "fuse"
	for sc.Scan() {
		if d, k := mountOf(sc.Text()); d == dev {
			kind = k
		}
	}
	// The two that keep files and locks on this machine.
	if kind == "fuse.fuse-overlayfs" || kind == "fuseblk" {
		return "", nil
	}
	return kind, sc.Err()
}

// mountOf reads device and type from a line of mountinfo (proc(5)): the third
// field, and the first after the separator.
func mountOf(l string) (dev, kind string) {
	head, tail, ok := strings.Cut(l, " - ")
	fields, rest := strings.Fields(head), strings.Fields(tail)
	if !ok || len(fields) < 3 || len(rest) < 1 {
		return "", ""
	}
	return fields[2], rest[0]
}

func owner(fi os.FileInfo) (int, bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }

// identify asks for nothing but the number: a file whose times were looked at
// has finer ones written, through the journal, at its next change (multigrain
// timestamps, since Linux 6.13), and commits took a seventh longer.
// datasync puts what was written to f on disk, and its length if that is another one.
func datasync(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func identify(path string) (fileID, error) {
	var stx unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO, &stx) == nil {
		return fileID{unix.Mkdev(stx.Dev_major, stx.Dev_minor), stx.Ino}, nil
	}
	var st unix.Stat_t // statx may also be unknown, or forbidden in a container
	if err := unix.Stat(path, &st); err != nil {
		return fileID{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return fileID{uint64(st.Dev), st.Ino}, nil
}
