package doctor

import (
	"context"
	"strings"
)

// peekable reports whether a gate can be asked about a ref that is nobody's. A command
// or a web address may do more than look.
func peekable(kind string) bool {
	switch kind {
	case "systemd", "docker", "podman", "process":
		return true
	}
	return false
}

// gates asks each gate whether it can find out anything at all.
func gates(ctx context.Context, s *Subject, r *report) {
	if s.Config == nil || s.Peek == nil {
		return
	}
	before := len(r.lines)
	var asked []string
	for _, g := range s.Config.GatesInForce() {
		if !peekable(g.Type.V) {
			continue
		}
		asked = append(asked, g.Type.V)
		if err := s.Peek(ctx, g); err != nil {
			r.bad("gate-blind", "%s (%s): %v; on_error is %s", g.Type.V, g.Type.Origin, err, g.OnError.V)
		}
	}
	switch {
	case len(r.lines) > before:
	case len(asked) == 0:
		r.good("none that looks at what others do on this host")
	default:
		r.good("%s can be asked", strings.Join(asked, ", "))
	}
}
