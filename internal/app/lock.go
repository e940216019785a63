package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/slot"
)

// daemonLock is held by the one daemon of a store. The kernel lets go of it when
// the process ends, however it ends; no child inherits it.
type daemonLock struct{ file *os.File }

// lockDaemon makes this process the store's daemon, or says who is.
func lockDaemon(store string) (*daemonLock, error) {
	path := store + ".serve"
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil { // as the store's first write would
		return nil, fmt.Errorf("%w: the daemon's lock: %w", slot.ErrUnknown, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("%w: the store's folder is somebody else's: %w; ask that user's daemon instead (ONESLOT_STORE=unix:/path/of/its/socket)", slot.ErrNotAllowed, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the daemon's lock: %w", slot.ErrUnknown, err)
	}
	if err := tryLock(f); err != nil {
		defer f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: the daemon's lock: %w", slot.ErrUnknown, err)
		}
		return nil, &DaemonError{Store: store, PID: pidIn(f)}
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: the daemon's lock: %w", slot.ErrUnknown, err)
	}
	return &daemonLock{f}, nil
}

// tryLock takes the lock, or gives up after a while: somebody who only looks
// whether there is a daemon has it for a moment.
func tryLock(f *os.File) error {
	for deadline := time.Now().Add(lookMost); ; time.Sleep(lookPause) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(deadline) {
			return err
		}
	}
}

// How long a look at the lock may be in its way, all looks together.
const (
	lookMost  = time.Second
	lookPause = 5 * time.Millisecond
)

func (l *daemonLock) release() { l.file.Close() }

// pidIn reads whom the lock names; 0 if it is just being taken.
func pidIn(f *os.File) int {
	text, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// DaemonError says that the store has a daemon already.
type DaemonError struct {
	Store string
	PID   int // 0 if it is not known yet
}

func (e *DaemonError) Error() string {
	who := "another process"
	if e.PID > 0 {
		who = fmt.Sprintf("pid %d", e.PID)
	}
	return fmt.Sprintf("%s has a daemon already: %s; stop that one first, or give this one a store of its own", e.Store, who)
}

// Daemon tells the process that is the store's daemon: 0 for none.
func (a *App) Daemon() (int, error) {
	if a.Server != nil {
		return a.Server.PID()
	}
	f, err := os.OpenFile(a.Config.StorePath()+".serve", os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if err == nil {
		return 0, nil
	}
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return 0, err
	}
	return max(pidIn(f), 1), nil
}
