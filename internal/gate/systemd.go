package gate

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/coreos/go-systemd/v22/dbus"
	"github.com/oneslot/oneslot/internal/slot"
)

// Systemd names the units that others work under.
type Systemd struct {
	// User: those of the user's manager, not of the system's.
	User bool
	// Units are patterns with placeholders; one without a unit's suffix is a
	// service.
	Units []string
	// HoldUnit is the unit, with placeholders, that a run holds while it lives, and
	// one of Units by that; empty: none.
	HoldUnit string
	// Program is what starts the verb hold-unit: this program, and what goes
	// before the verb.
	Program []string
	// Getenv looks up a variable; nil: os.Getenv.
	Getenv func(string) string
}

// systemd answers from a list of all units that could be somebody's, and starts and
// watches units over the manager's own socket or the bus.
type systemd struct {
	Systemd
	units []pattern
	hold  *pattern
	list  shared[[]dbus.UnitStatus]
}

// NewSystemd is the gate "systemd": it defers while a unit of the ref is at work.
// Errors match slot.ErrUsage.
func NewSystemd(s Systemd) (Gate, error) {
	if s.Getenv == nil {
		s.Getenv = os.Getenv
	}
	g := &systemd{Systemd: s}
	for _, text := range s.Units {
		p, err := newPattern(unitName(text), unitEscape)
		if err != nil {
			return nil, fmt.Errorf("units: %w", err)
		}
		g.units = append(g.units, p)
	}
	if s.HoldUnit == "" {
		return g, nil
	}
	p, err := newPattern(unitName(s.HoldUnit), unitEscape)
	if err != nil {
		return nil, fmt.Errorf("hold_unit: %w", err)
	}
	if strings.ContainsAny(p.text, "*?[") || !strings.HasSuffix(p.text, ".service") {
		return nil, fmt.Errorf("%w: hold_unit %q is not the name of one service", slot.ErrUsage, s.HoldUnit)
	}
	g.hold, g.units = &p, append(g.units, p)
	return g, nil
}

func (g *systemd) Type() string { return "systemd" }

func (g *systemd) Tick() { g.list.Tick() }

func (g *systemd) Ask(ctx context.Context, a Ask) Answer {
	if len(g.units) == 0 {
		return Answer{Detail: "no units are configured"}
	}
	matches, err := matchAny(g.units, a.Ref, a.Sha)
	if err != nil {
		return cannotName("systemd", err)
	}
	all, err := g.list.get(ctx, a.Claimed, g.read)
	if err != nil {
		return unknown("systemd", err.Error())
	}
	odd := ""
	for _, u := range all {
		if !matches(u.Name) {
			continue
		}
		switch held, known := unitHeld(u); {
		case held:
			return unitBusy(u)
		case !known:
			odd = fmt.Sprintf("%s is %q, whatever that means", u.Name, u.ActiveState)
		}
	}
	if odd != "" {
		return unknown("systemd", odd)
	}
	return proceed("systemd", "free", fmt.Sprintf("none of %d units is in the way", len(all)))
}

func unitBusy(u dbus.UnitStatus) Answer {
	state := u.ActiveState
	if held, _ := unitState(state); !held {
		state = "queued to " + u.JobType
	}
	return deferral("systemd", u.Name+" is "+state, after("", u.Description))
}

// unitHeld says what a unit's state means. One that is about to start is as good as
// started.
func unitHeld(u dbus.UnitStatus) (held, known bool) {
	if u.JobId != 0 && (u.JobType == "start" || u.JobType == "restart") {
		return true, true
	}
	return unitState(u.ActiveState)
}

func unitState(active string) (held, known bool) {
	switch active {
	case "active", "reloading", "refreshing", "activating", "deactivating",
		"maintenance": // inactive, but something of it is at work
		return true, true
	case "inactive", "failed":
		return false, true
	}
	return false, false
}

// read lists the units that could be anybody's. Units that are not loaded do not
// exist for a manager, and so are not in the list.
func (g *systemd) read(ctx context.Context) ([]dbus.UnitStatus, error) {
	conn, _, err := g.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	wide := make([]string, len(g.units))
	for i, p := range g.units {
		wide[i] = p.wide("*")
	}
	var all []dbus.UnitStatus
	err = manager(conn).CallWithContext(ctx, managerName+".Manager.ListUnitsByPatterns", 0, []string{}, wide).Store(&all)
	if err != nil {
		return nil, fmt.Errorf("listing units: %w", err)
	}
	return all, nil
}

// unitName gives a name the suffix that every unit has.
func unitName(s string) string {
	for _, suffix := range []string{"service", "socket", "target", "device", "mount", "automount", "swap", "timer", "path", "slice", "scope", "*"} {
		if strings.HasSuffix(s, "."+suffix) {
			return s
		}
	}
	return s + ".service"
}

// unitEscape writes what may not be in a unit's name as systemd-escape does. It
// leaves '-' alone, which people put into names as it is.
func unitEscape(s string) string {
	var out strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(":-_.@", c) >= 0:
			out.WriteByte(c)
		case c == '/':
			out.WriteByte('-')
		default:
			fmt.Fprintf(&out, `\x%02x`, c)
		}
	}
	return out.String()
}
