package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// FollowUp works the queue of a ref whose run has ended, for as long as no daemon
// does. One process does that for a ref: whoever comes second leaves it to the first,
// which looks again after it has let go.
func (a *App) FollowUp(ctx context.Context, supervisor []string, ref slot.Ref) error {
	if a.Queue == nil {
		return nil
	}
	for {
		if left, err := a.unserved(ctx, ref); err != nil || !left {
			return err
		}
		f, err := lockFollow(filepath.Join(a.Store.Dir(), "follow", ref.Slug()))
		if err != nil || f == nil {
			return err
		}
		err = a.Work(ctx, supervisor, ref, nil)
		os.Remove(f.Name()) //nolint:errcheck // it is only in the way of tidiness
		f.Close()
		if err != nil {
			return err
		}
	}
}

// unserved reports whether work of a ref is left that no daemon will do.
func (a *App) unserved(ctx context.Context, ref slot.Ref) (bool, error) {
	if pid, err := a.Daemon(); err != nil || pid != 0 {
		return false, err
	}
	items, err := a.Queue.Items(ctx, queue.Filter{Ref: ref})
	for _, it := range items {
		if it.State == queue.Pending || it.State == queue.Running {
			return true, err
		}
	}
	return false, err
}

// lockFollow makes this process the one that follows up; nil if another is. The
// kernel lets go of the lock when the process ends, however it ends.
func lockFollow(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil && isAt(f, path) {
			return f, nil
		}
		f.Close()
		switch {
		case errors.Is(err, unix.EWOULDBLOCK):
			return nil, nil
		case err != nil && !errors.Is(err, unix.EINTR):
			return nil, err
		}
		// The one before us took the file along: its lock is of no use.
	}
}

func isAt(f *os.File, path string) bool {
	mine, err1 := f.Stat()
	there, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(mine, there)
}
