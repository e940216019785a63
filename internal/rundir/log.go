package rundir

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Log is the file of what the worker printed, cut at a number of bytes. Many
// may write to it at once.
type Log struct {
	mu      sync.Mutex
	f       *os.File
	left    int64
	dropped int64
}

// OpenLog creates the log, which keeps the first limit bytes (all if limit is 0
// or less). What comes after them is counted, and told in a last line.
func (d Dir) OpenLog(limit int64) (*Log, error) {
	f, err := os.OpenFile(d.LogPath(), os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = 1<<63 - 1
	}
	return &Log{f: f, left: limit}, nil
}

// Write keeps what fits. It reports no error: a log that cannot be written must
// not end the work, so what could not be written counts as dropped.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	keep := p
	if int64(len(keep)) > l.left {
		keep = keep[:l.left]
	}
	n, err := l.f.Write(keep)
	l.left -= int64(n)
	if err != nil { // full disk: leave room for the note, try no more
		l.left = 0
	}
	l.dropped += int64(len(p) - n)
	return len(p), nil
}

// Close ends the log, with a note if it is not the whole.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dropped > 0 {
		fmt.Fprintf(l.f, "\n[oneslot: log cut here, %d more bytes]\n", l.dropped)
	}
	return l.f.Close()
}
