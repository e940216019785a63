package rundir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked says that a process which may fork for the run is still there.
var ErrLocked = errors.New("the run's lock is held")

// Lock takes the run's fork lock. Whoever forks for the run holds it.
//
// Between fork and exec a child still shows its parent's environment, so that a
// scan by run id misses it. But until its exec the child has a copy of this open
// file. So once the supervisor and the warden are dead, whoever gets the lock
// knows that no such child is left, and that a scan finds everybody.
//
// The file is closed on exec, and the lock goes with its last copy.
func (d Dir) Lock() (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(d.path, "lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err != unix.EINTR {
			break
		}
	}
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		err = ErrLocked
	}
	f.Close()
	return nil, err
}

// Await takes the lock and gives it back: when it returns nil, nobody who may
// fork for the run is left. A run without a folder has nobody. It gives up with
// ErrLocked when ctx ends.
func (d Dir) Await(ctx context.Context) error {
	if _, err := os.Stat(d.path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	tick := time.NewTicker(2 * time.Millisecond) // flock has no bounded wait
	defer tick.Stop()
	for {
		f, err := d.Lock()
		if err == nil {
			return f.Close()
		}
		if !errors.Is(err, ErrLocked) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", d.path, err)
		}
	}
}
