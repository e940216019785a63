package machine

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Disk measures synced appends to a file in one folder.
type Disk struct {
	f    *os.File
	page [4096]byte
}

// NewDisk makes the file to append to.
func NewDisk(folder string) (*Disk, error) {
	f, err := os.OpenFile(filepath.Join(folder, "append"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &Disk{f: f}, nil
}

// Close removes the file.
func (d *Disk) Close() error { return errors.Join(os.Remove(d.f.Name()), d.f.Close()) }

// Sync appends 4 KiB n times, each followed by fdatasync, and gives the time of
// each.
func (d *Disk) Sync(n int) ([]time.Duration, error) {
	took := make([]time.Duration, n)
	for i := range took {
		at := time.Now()
		if _, err := d.f.Write(d.page[:]); err != nil {
			return nil, err
		}
		if err := unix.Fdatasync(int(d.f.Fd())); err != nil {
			return nil, err
		}
		took[i] = time.Since(at)
	}
	return took, nil
}

// Rate does Sync and gives syncs per second.
func (d *Disk) Rate(n int) (float64, error) {
	took, err := d.Sync(n)
	sum := time.Duration(0)
	for _, t := range took {
		sum += t
	}
	return float64(n) / sum.Seconds(), err
}
