package reserve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/slot"
)

// record is what is on disk of a reservation, from before its comment is sent until
// the comment is gone or says the outcome. So whoever comes after a crash knows what
// may be left on the thread.
type record struct {
	Claim  string   `json:"claim"` // of the local store: who asks whether it lives
	Ref    slot.Ref `json:"ref"`
	Place  place    `json:"place"` // that the marker is signed for
	Login  string   `json:"login"`
	Marker Marker   `json:"marker"`
	// Comment is the comment's id; 0 while no answer to the post is known.
	Comment int64     `json:"comment,omitempty"`
	Since   time.Time `json:"since"` // wall time, for people and for late posts
	Reason  string    `json:"reason,omitempty"`

	// Boot and Asked are when the last edit that was answered had been sent.
	Boot  string        `json:"boot,omitempty"`
	Asked time.Duration `json:"asked,omitempty"`

	Lock   lockState `json:"lock,omitempty"`
	LockAt time.Time `json:"lock_at,omitzero"` // wall time just before we asked for the lock
	Lost   bool      `json:"lost,omitempty"`   // others may have taken it
	End    *End      `json:"end,omitempty"`    // asked for, and not all done yet

	// Tries have failed to clear it, since Failing; the next is due at Next. Wall times.
	Tries   int       `json:"tries,omitempty"`
	Failing time.Time `json:"failing,omitzero"`
	Next    time.Time `json:"next,omitzero"`
}

// errBusyRecord says that another process works on a record.
var errBusyRecord = errors.New("another process works on this reservation")

// maxRecord bounds a record's file, in bytes.
const maxRecord = 64 << 10

// folder holds records, one file each.
type folder string

const suffix = ".reservation"

// entry is a record with its lock. The lock is on the file itself, and goes over to
// the file that replaces it; it ends with the process.
type entry struct {
	record
	path string
	file *os.File
}

// create writes a new record, durably, and locks it.
func (d folder) create(r record) (*entry, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	e := &entry{record: r, path: filepath.Join(string(d), r.Marker.ID+suffix)}
	return e, e.save()
}

// open locks a record. Errors: errBusyRecord, and fs.ErrNotExist once it is gone.
func (d folder) open(id string) (*entry, error) {
	path := filepath.Join(string(d), id+suffix)
	for {
		f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil {
			f.Close()
			return nil, err
		}
		// It may have been replaced between the two steps.
		if same, err := isAt(f, path); err != nil || !same {
			f.Close()
			if err != nil {
				return nil, err
			}
			continue
		}
		r, err := decode(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return &entry{record: r, path: path, file: f}, nil
	}
}

// await is open, for as long as ctx lives.
func (d folder) await(ctx context.Context, id string) (*entry, error) {
	for {
		e, err := d.open(id)
		if !errors.Is(err, errBusyRecord) {
			return e, err
		}
		select {
		case <-time.After(20 * time.Millisecond): // flock has no bounded wait
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", err, context.Cause(ctx))
		}
	}
}

// ids lists the records.
func (d folder) ids() ([]string, error) {
	list, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, f := range list {
		if id, ok := strings.CutSuffix(f.Name(), suffix); ok && isWord(id) {
			out = append(out, id)
		}
	}
	return out, err
}

// peek reads a record without its lock.
func (d folder) peek(id string) (record, error) {
	f, err := os.OpenFile(filepath.Join(string(d), id+suffix), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return record{}, err
	}
	defer f.Close()
	return decode(f)
}

func decode(f *os.File) (r record, err error) {
	data, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

// save replaces the file, durably, and holds the lock of the new one before anybody
// can see it.
func (e *entry) save() (err error) {
	data, err := json.Marshal(e.record)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(e.path+".tmp", os.O_RDWR|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(e.path + ".tmp")
		}
	}()
	if err = lock(f); err != nil {
		return err
	}
	if _, err = f.Write(append(data, '\n')); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = os.Rename(e.path+".tmp", e.path); err != nil {
		return err
	}
	e.close()
	e.file = f
	return syncDir(filepath.Dir(e.path))
}

// remove deletes the record and lets go of it.
func (e *entry) remove() error {
	err := os.Remove(e.path)
	e.close()
	return err
}

// close lets go of the record.
func (e *entry) close() {
	if e.file != nil {
		e.file.Close()
		e.file = nil
	}
}

func lock(f *os.File) error {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == unix.EINTR:
		case errors.Is(err, unix.EWOULDBLOCK):
			return errBusyRecord
		default:
			return err
		}
	}
}

// isAt reports whether the open file is the one that has this name.
func isAt(f *os.File, path string) (bool, error) {
	open, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	return os.SameFile(open, named), nil
}

// syncDir puts a new name on disk.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
