package proc

import (
	"bytes"
	"strconv"
	"strings"
)

// Owner is somebody who holds a lock on a file.
type Owner struct {
	PID       int    // as seen from here; -1 if the lock belongs to an open file (OFDLCK), 0 if to a process of an outer namespace
	Kind      string // FLOCK, POSIX, OFDLCK
	Exclusive bool   // a write lock
	Start     int64  // first byte
	End       int64  // last byte; -1 is the end of the file, however it grows
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
