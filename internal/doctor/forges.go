package doctor

import (
	"context"
	"strings"

	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/slot"
)

// forges tells what is read from where, and by what right. What is odd about that
// stands among the configuration's lines.
func forges(ctx context.Context, s *Subject, r *report) {
	if s.Config == nil {
		return
	}
	if res := s.Config.Reservation; res.Enabled.V && s.Config.Remote() {
		r.bad("reservation-shown", "reservation.enabled (from %s): whoever asks %s is excluded there, and no comments are made for claims in it",
			res.Enabled.Origin, s.Config.Store.V)
		return
	}
	var list []string
	before := len(r.lines)
	for _, f := range s.Config.Forges {
		text := described(f)
		if s.Greet != nil {
			found, err := s.Greet(ctx, f)
			if err != nil {
				r.bad("forge-unreachable", "%s: %v", text, err)
				continue
			}
			text += ", " + found
		}
		list = append(list, text)
	}
	switch {
	case len(s.Config.Forges) == 0:
		r.good("none; gates that read from a forge are not asked")
	case len(r.lines) == before:
		r.good("%s", strings.Join(list, "; "))
	}
}

func described(f config.Forge) string {
	s := f.Host.V + " at " + f.API.V + ", token: " + f.Token.String()
	if f.Poll.V == 0 {
		return s + ", not polled"
	}
	return s + ", polled every " + slot.Span(f.Poll.V)
}
