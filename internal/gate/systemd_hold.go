package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	systemdbus "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"

	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
)

// holdStart bounds how long a hold unit may take to begin.
const holdStart = 5 * time.Second

// Hold starts the hold unit of the ref: a service that does nothing and ends with
// the run. Names of units are unique, so whoever starts his work as a unit of that
// name fails while it is there, and it fails while his is.
func (g *systemd) Hold(ctx context.Context, a Ask, run Run) (Answer, func(context.Context)) {
	if g.hold == nil {
		return Answer{Detail: "no hold_unit is configured"}, nil
	}
	name, err := slot.ExpandFunc(g.hold.text, a.Ref, a.Sha, unitEscape)
	if err != nil {
		return cannotName("systemd", err), nil
	}
	conn, err := g.connect(ctx)
	if err != nil {
		return unknown("systemd", err.Error()), nil
	}
	defer conn.Close()
	// A failed unit keeps its name until it is reset (C48).
	for range 2 {
		if err = g.start(ctx, conn, name, run); err == nil {
			return g.held(ctx, conn, name)
		}
		if !taken(err) {
			return unknown("systemd", fmt.Sprintf("holding %s: %v", name, err)), nil
		}
		u, err := oneUnit(ctx, conn, name)
		if err != nil {
			return unknown("systemd", err.Error()), nil
		}
		if held, _ := unitHeld(u); held {
			return unitBusy(u), nil
		}
		if err := conn.ResetFailedUnitContext(ctx, name); err != nil && !gone(err) {
			return unknown("systemd", fmt.Sprintf("resetting %s: %v", name, err)), nil
		}
	}
	return unknown("systemd", fmt.Sprintf("holding %s: %v (is there a unit file of that name?)", name, err)), nil
}

// start starts the unit and waits until it holds.
func (g *systemd) start(ctx context.Context, conn *systemdbus.Conn, name string, run Run) error {
	if len(g.Program) == 0 {
		return errors.New("no program is set that could hold it")
	}
	argv := append(append([]string{}, g.Program...), holdUnitArgs(run)...)
	for i := range argv { // a manager puts variables into command lines
		argv[i] = strings.ReplaceAll(argv[i], "$", "$$")
	}
	ended := make(chan string, 1)
	_, err := conn.StartTransientUnitContext(ctx, name, "fail", []systemdbus.Property{
		systemdbus.PropDescription("held by oneslot for its run " + run.ID),
		systemdbus.PropExecStart(argv, true),
		systemdbus.PropType("notify"), // started means: it sees the supervisor
		property("NotifyAccess", "main"),
		property("CollectMode", "inactive-or-failed"),
		property("TimeoutStartUSec", uint64(holdStart.Microseconds())),
	}, ended)
	if err != nil {
		return err
	}
	select {
	case result := <-ended:
		if result != "done" {
			return fmt.Errorf("its start ended as %q", result)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// held returns the way to let go: by its process, since by its name one could hit
// the unit of somebody who came after it.
func (g *systemd) held(ctx context.Context, conn *systemdbus.Conn, name string) (Answer, func(context.Context)) {
	ans := proceed("systemd", "held", "the run holds "+name)
	prop, err := conn.GetServicePropertyContext(ctx, name, "MainPID")
	if err != nil {
		return unknown("systemd", fmt.Sprintf("%s ended at once: %v", name, err)), nil
	}
	pid, _ := prop.Value.Value().(uint32)
	p, err := proc.Identify(int(pid))
	if err != nil || pid == 0 {
		return unknown("systemd", name+" ended at once"), nil
	}
	return ans, func(ctx context.Context) {
		gone, cancel, err := proc.Watch(p)
		if err != nil {
			return
		}
		defer cancel()
		if proc.Signal(p, syscall.SIGTERM) != nil {
			return
		}
		ctx, end := context.WithTimeout(ctx, holdStart)
		defer end()
		select {
		case <-gone:
		case <-ctx.Done():
		}
	}
}

func oneUnit(ctx context.Context, conn *systemdbus.Conn, name string) (systemdbus.UnitStatus, error) {
	units, err := conn.ListUnitsByNamesContext(ctx, []string{name})
	switch {
	case err != nil:
		return systemdbus.UnitStatus{}, fmt.Errorf("looking at %s: %w", name, err)
	case len(units) != 1:
		return systemdbus.UnitStatus{}, fmt.Errorf("looking at %s: %d units are listed", name, len(units))
	}
	return units[0], nil
}

func property(name string, value any) systemdbus.Property {
	return systemdbus.Property{Name: name, Value: dbus.MakeVariant(value)}
}

// taken reports whether a unit could not be started because its name is in use.
func taken(err error) bool {
	var e dbus.Error
	return errors.As(err, &e) && e.Name == "org.freedesktop.systemd1.UnitExists"
}

// gone reports whether a unit does not exist.
func gone(err error) bool {
	var e dbus.Error
	return errors.As(err, &e) && e.Name == "org.freedesktop.systemd1.NoSuchUnit"
}
