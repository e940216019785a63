package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	systemdbus "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
)

// managerName is what a manager is called on its bus, and the beginning of the names
// of its interfaces.
const managerName = "org.freedesktop.systemd1"

func manager(conn *dbus.Conn) dbus.BusObject {
	return conn.Object(managerName, "/org/freedesktop/systemd1")
}

// busAddress is a socket that may lead to a manager. hello: it is a bus, where one
// has to introduce oneself; otherwise it is the manager itself.
type busAddress struct {
	addr  string
	hello bool
}

// addresses lists where the manager may be reached, the best first: the bus, then
// the manager's own socket, which is there without any bus.
func (g *systemd) addresses() ([]busAddress, error) {
	if !g.User {
		bus := g.Getenv("DBUS_SYSTEM_BUS_ADDRESS")
		if bus == "" {
			bus = "unix:path=/run/dbus/system_bus_socket"
		}
		return []busAddress{{bus, true}, {"unix:path=/run/systemd/private", false}}, nil
	}
	dir := g.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = "/run/user/" + strconv.Itoa(os.Getuid())
		if _, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("no bus: XDG_RUNTIME_DIR is not set, and there is no %s", dir)
		}
	}
	list := []busAddress{
		{socketAddress(filepath.Join(dir, "bus")), true},
		{socketAddress(filepath.Join(dir, "systemd", "private")), false},
	}
	if bus := g.Getenv("DBUS_SESSION_BUS_ADDRESS"); bus != "" && bus != list[0].addr {
		list = append(list, busAddress{bus, true})
	}
	return list, nil
}

func socketAddress(path string) string {
	return "unix:path=" + dbus.EscapeBusAddressValue(path)
}

// dial connects to the first address that answers. The connection ends with ctx.
func (g *systemd) dial(ctx context.Context) (*dbus.Conn, busAddress, error) {
	list, err := g.addresses()
	if err != nil {
		return nil, busAddress{}, err
	}
	var failed error
	for _, a := range list {
		conn, err := a.dial(ctx)
		if err == nil {
			return conn, a, nil
		}
		failed = errors.Join(failed, fmt.Errorf("no bus at %s: %w", a.addr, err))
	}
	return nil, busAddress{}, failed
}

func (a busAddress) dial(ctx context.Context) (*dbus.Conn, error) {
	conn, err := dbus.Dial(a.addr, dbus.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	err = conn.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Getuid()))})
	switch {
	case err != nil:
	case a.hello:
		err = findManager(ctx, conn)
	default:
		err = ping(ctx, conn)
	}
	if err != nil {
		conn.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	return conn, nil
}

// findManager introduces us to a bus, which may be one without a manager.
func findManager(ctx context.Context, conn *dbus.Conn) error {
	if err := conn.Hello(); err != nil {
		return err
	}
	there := false
	err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, managerName).Store(&there)
	if err == nil && !there {
		err = errors.New("systemd is not on it")
	}
	return err
}

// ping makes sure that the manager listens. What comes to it together with the end of
// the introduction lies there unread until more comes, so one ping may not do.
func ping(ctx context.Context, conn *dbus.Conn) error {
	answers := make(chan *dbus.Call, 32) // room for all, since the connection waits for it
	for wait := time.Millisecond; ; wait *= 2 {
		manager(conn).GoWithContext(ctx, "org.freedesktop.DBus.Peer.Ping", 0, answers)
		select {
		case call := <-answers:
			return call.Err
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// connect opens connections for one conversation that waits for jobs. Close it; it
// ends with ctx too.
func (g *systemd) connect(ctx context.Context) (*systemdbus.Conn, error) {
	return systemdbus.NewConnection(func() (*dbus.Conn, error) {
		conn, _, err := g.dial(ctx)
		return conn, err
	})
}
