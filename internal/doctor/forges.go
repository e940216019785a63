package doctor

import (
	"context"
	"strings"

	"github.com/oneslot/oneslot/internal/config"
)

// forges tells what is read from where, and by what right. What is odd about that
// stands among the configuration's lines.
func forges(_ context.Context, s *Subject, r *report) {
	if s.Config == nil {
		return
	}
	if res := s.Config.Reservation; res.Enabled.V && s.Config.Remote() {
		r.bad("reservation-shown", "reservation.enabled (from %s): whoever asks %s is excluded there; between these, reservations decide nothing and only show",
			res.Enabled.Origin, s.Config.Store.V)
		return
	}
	var list []string
	for _, f := range s.Config.Forges {
		list = append(list, described(f))
	}
	if len(list) == 0 {
		r.good("none; gates that read from a forge are not asked")
		return
	}
	r.good("%s", strings.Join(list, "; "))
}

func described(f config.Forge) string {
	s := f.Host.V + " at " + f.API.V + ", token: " + f.Token.String()
	if f.Poll.V == 0 {
		return s + ", not polled"
	}
	return s + ", polled every " + config.FormatDuration(f.Poll.V)
}
