package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// LockOwners tells who holds (not: waits for) a lock on the file with this
// device and inode, as stat gives them.
func LockOwners(dev, ino uint64) ([]Owner, error) {
	v, err := newView()
	if err != nil {
		return nil, err
	}
	return v.lockOwners(dev, ino)
}

func (v view) lockOwners(dev, ino uint64) ([]Owner, error) {
	b, err := slurp(string(v.fs)+"/locks", nil)
	if err != nil {
		return nil, err
	}
	var owners []Owner
	for _, l := range parseLocks(b) {
		if l.ino != ino {
			continue
		}
		// Some file systems (btrfs, overlay) give stat another device than the
		// one that the kernel lists; then an open file of the owner decides.
		same := l.major == unix.Major(dev) && l.minor == unix.Minor(dev)
		if !same && (l.PID <= 0 || !v.hasOpen(l.PID, dev, ino)) {
			continue
		}
		if l.PID > 0 && v.foreign {
			l.PID = v.number(stat{pid: l.PID})
		}
		owners = append(owners, l.Owner)
	}
	return owners, nil
}

// hasOpen reports whether a process has this file open, as far as we may know.
func (v view) hasOpen(pid int, dev, ino uint64) bool {
	files, err := os.ReadDir(v.fs.path(pid, "fd"))
	if err != nil {
		return false
	}
	for _, f := range files {
		var st unix.Stat_t
		if unix.Stat(v.fs.path(pid, "fd/"+f.Name()), &st) == nil && uint64(st.Dev) == dev && st.Ino == ino {
			return true
		}
	}
	return false
}

// SameProgram reports whether a process runs a program of our own program's
// name, even if its file was replaced since.
func SameProgram(pid int) bool {
	fs := procfs("/proc")
	own, err := fs.program("self")
	if err != nil {
		return false
	}
	its, err := fs.program(strconv.Itoa(pid))
	return err == nil && its == own
}

// lockLine is one held lock in /proc/locks.
type lockLine struct {
	Owner
	major, minor uint32
	ino          uint64
}

// parseLocks reads /proc/locks. Who only waits for a lock, leases and lines of
// another form are left out.
func parseLocks(b []byte) []lockLine {
	var held []lockLine
	for line := range bytes.Lines(b) {
		// 1: POSIX  ADVISORY  WRITE 3568 fd:00:2531452 0 EOF
		f := strings.Fields(string(line))
		if len(f) != 8 || f[1] == "->" {
			continue
		}
		switch f[1] {
		case "FLOCK", "POSIX", "OFDLCK":
		default:
			continue
		}
		l := lockLine{Owner: Owner{Kind: f[1], Exclusive: f[3] == "WRITE", End: -1}}
		dev := strings.Split(f[5], ":")
		if len(dev) != 3 {
			continue
		}
		major, err1 := strconv.ParseUint(dev[0], 16, 32)
		minor, err2 := strconv.ParseUint(dev[1], 16, 32)
		ino, err3 := strconv.ParseUint(dev[2], 10, 64)
		pid, err4 := strconv.Atoi(f[4])
		start, err5 := strconv.ParseInt(f[6], 10, 64)
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil || err5 != nil {
			continue
		}
		if f[7] != "EOF" {
			end, err := strconv.ParseInt(f[7], 10, 64)
			if err != nil {
				continue
			}
			l.End = end
		}
		l.major, l.minor, l.ino, l.PID, l.Start = uint32(major), uint32(minor), ino, pid, start
		held = append(held, l)
	}
	return held
}
