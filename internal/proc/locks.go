package proc

// Owner is somebody who holds a lock on a file.
type Owner struct {
	PID       int    // as seen from here; -1 if the lock belongs to an open file (OFDLCK), 0 if to a process of an outer namespace
	Kind      string // FLOCK, POSIX, OFDLCK
	Exclusive bool   // a write lock
	Start     int64  // first byte
	End       int64  // last byte; -1 is the end of the file, however it grows
}
