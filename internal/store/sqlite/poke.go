package sqlite

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/claim"
)

// poke tells the process at addr that ticket should look again. An address in
// the store's own folder is noted without it: another mount namespace may know
// the folder by another name.
type poke struct{ addr, ticket string }

// line is this process's end of the waking: one datagram socket for all of its
// tickets, made when the first of them waits.
type line struct {
	mu    sync.Mutex
	dir   string // where sockets lie
	conn  *net.UnixConn
	path  string
	name  string // what others are told
	wakes map[string]chan struct{}
	queue string // who works the queue in this process, as others are told of it
}

// sunPath is the longest unix socket address every system takes (unix(7)).
const sunPath = 103

func (l *line) listen() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		return nil
	}
	dir, elsewhere := l.dir, len(l.dir)+32 > sunPath
	if elsewhere {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("oneslot-%d", os.Geteuid()))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	sweep(dir)
	name := claim.NewID() + ".sock"
	path := filepath.Join(dir, name)
	if elsewhere {
		name = path
	}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return err
	}
	l.conn, l.path, l.name = conn, path, name
	if l.wakes == nil {
		l.wakes = map[string]chan struct{}{}
	}
	go l.receive(conn)
	return nil
}

// sweep removes sockets that killed processes left.
func sweep(dir string) {
	old, err := filepath.Glob(filepath.Join(dir, "*.sock"))
	if err != nil {
		return
	}
	for _, p := range old[:min(len(old), 256)] {
		c, err := net.Dial("unixgram", p)
		if err == nil {
			c.Close()
		} else if errors.Is(err, unix.ECONNREFUSED) {
			os.Remove(p) //nolint:errcheck // the next one tries again
		}
	}
}

func (l *line) receive(conn *net.UnixConn) {
	buf := make([]byte, 256)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		l.wake(string(buf[:n]))
	}
}

func (l *line) addr() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.name
}

func (l *line) channel(ticket string) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.wakes[ticket]
	if !ok {
		c = make(chan struct{}, 1)
		l.wakes[ticket] = c
	}
	return c
}

func (l *line) forget(ticket string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.wakes, ticket)
}

func (l *line) wake(ticket string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.wakes[ticket] <- struct{}{}:
	default: // nobody waits any more, or it is already told
	}
}

func (l *line) works(me string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = me
}

func (l *line) worker() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queue
}

// poke wakes a ticket of this or another process. A receiver that is gone or
// frozen is not waited for: the one behind it was woken too.
func (l *line) poke(p poke) {
	if p.addr == l.addr() {
		l.wake(p.ticket)
		return
	}
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return
	}
	if !filepath.IsAbs(p.addr) {
		p.addr = filepath.Join(l.dir, p.addr)
	}
	to := &unix.SockaddrUnix{Name: p.addr}
	err = unix.Sendto(fd, []byte(p.ticket), unix.MSG_DONTWAIT, to)
	if !errors.Is(err, unix.EAGAIN) {
		unix.Close(fd) //nolint:errcheck // nothing was to be flushed
		return
	}
	go func() { // its queue is full: it is slow, or frozen
		defer unix.Close(fd) //nolint:errcheck
		tv := unix.NsecToTimeval(int64(claim.TurnTime))
		if unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv) == nil {
			unix.Sendto(fd, []byte(p.ticket), 0, to) //nolint:errcheck // it will look by itself
		}
	}()
}

func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		l.conn.Close()
		os.Remove(l.path) //nolint:errcheck
		l.conn = nil
	}
}
