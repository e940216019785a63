package app

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/slot"
)

// listen opens the daemon's address.
func listen(ctx context.Context, address string) (net.Listener, error) {
	path, local := strings.CutPrefix(address, "unix:")
	if !local {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return nil, fmt.Errorf("%w: listen on %s: %w", slot.ErrUnknown, address, err)
		}
		return l, nil
	}
	// One that nobody listens at was left by a killed daemon.
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, fmt.Errorf("%w: somebody serves %s already", slot.ErrUnknown, path)
	}
	if fi, err := os.Lstat(path); err == nil && fi.Mode().Type() == os.ModeSocket {
		os.Remove(path) //nolint:errcheck // listening tells
	}
	lc := net.ListenConfig{Control: ownersOnly}
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("%w: listen on %s: %w", slot.ErrUnknown, path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("%w: listen on %s: %w", slot.ErrUnknown, path, err)
	}
	return l, nil
}

// ownersOnly sets the mode that the socket's file is made with, where that can be
// done: nobody else gets in before it is set on the file.
func ownersOnly(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { _ = unix.Fchmod(int(fd), 0o600) })
}
