package gate

import (
	"context"
	"path"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// again is how long a broken watch waits before it connects anew.
const again = time.Second

// Watch calls changed when a unit that may have been in somebody's way has ended.
func (g *systemd) Watch(ctx context.Context, changed func()) error {
	return keepWatching(ctx, changed, g.watch)
}

// keepWatching follows a source of changes until ctx ends. Whenever a watch has begun,
// something may have ended before it.
func keepWatching(ctx context.Context, changed func(), watch func(ctx context.Context, changed func(), started func()) error) error {
	for {
		_ = watch(ctx, changed, changed)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(again):
		}
	}
}

func (g *systemd) watch(ctx context.Context, changed, started func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, at, err := g.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	signals := make(chan *dbus.Signal, 256)
	conn.Signal(signals)
	if at.hello { // the manager's own socket tells everything without being asked
		for _, match := range [][]dbus.MatchOption{
			{dbus.WithMatchInterface(managerName + ".Manager"), dbus.WithMatchMember("UnitRemoved")},
			{dbus.WithMatchInterface("org.freedesktop.DBus.Properties"), dbus.WithMatchMember("PropertiesChanged"),
				dbus.WithMatchArg(0, managerName+".Unit")},
		} {
			if err := conn.AddMatchSignalContext(ctx, append(match, dbus.WithMatchSender(managerName))...); err != nil {
				return err
			}
		}
	}
	if err := manager(conn).CallWithContext(ctx, managerName+".Manager.Subscribe", 0).Err; err != nil {
		return err
	}
	started()
	for {
		select {
		case s, ok := <-signals:
			if !ok {
				return dbus.ErrClosed
			}
			if g.concerns(s) {
				changed()
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// concerns reports whether a signal tells of the end of a unit of somebody's.
func (g *systemd) concerns(s *dbus.Signal) bool {
	var unit, state string
	switch s.Name {
	case managerName + ".Manager.UnitRemoved":
		if len(s.Body) > 0 {
			unit, _ = s.Body[0].(string)
		}
	case "org.freedesktop.DBus.Properties.PropertiesChanged":
		if len(s.Body) > 1 {
			props, _ := s.Body[1].(map[string]dbus.Variant)
			state, _ = props["ActiveState"].Value().(string)
		}
		if state != "inactive" && state != "failed" {
			return false
		}
		unit = unitOf(s.Path)
	}
	for _, p := range g.units {
		if fits(globs(p.wide("*")), unit) {
			return true
		}
	}
	return false
}

// unitOf reads the name of a unit out of its object path, where all but letters and
// digits are written _xx.
func unitOf(p dbus.ObjectPath) string {
	name := path.Base(string(p))
	var out strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '_' || i+2 >= len(name) {
			out.WriteByte(name[i])
			continue
		}
		out.WriteByte(unhex(name[i+1])<<4 | unhex(name[i+2]))
		i += 2
	}
	return out.String()
}

func unhex(c byte) byte {
	if i := strings.IndexByte("0123456789abcdef", c); i >= 0 {
		return byte(i)
	}
	return 0
}
