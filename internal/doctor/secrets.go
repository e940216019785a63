package doctor

import (
	"context"

	"github.com/oneslot/oneslot/internal/config"
)

// secrets reads each secret that the daemon will want. A variable that is not set
// here may well be set where the daemon runs.
func secrets(_ context.Context, s *Subject, r *report) {
	if s.Config == nil {
		return
	}
	before, n := len(r.lines), 0
	look := func(at config.Secret, err error) {
		if n++; err == nil {
			return
		}
		if name := at.Env.V; name != "" {
			if _, set := s.Env(name); !set {
				r.bad("secret-unset", "%v", err)
				return
			}
		}
		r.bad("secret-bad", "%v", err)
	}
	for _, h := range s.Config.Hooks {
		_, _, err := s.Config.HookSecret(h)
		look(h.Secret, err)
	}
	for _, t := range s.Config.Tokens {
		_, _, err := s.Config.ReadSecret(t.Secret)
		look(t.Secret, err)
	}
	for _, f := range s.Config.Forges {
		if form := f.Token.Form(); form == config.TokenSecret || form == config.TokenApp {
			_, _, err := s.Config.ForgeSecret(f)
			look(f.Token.Secret, err)
		}
	}
	if key := s.Config.Reservation.Key; key.IsSet() {
		_, _, err := s.Config.ReservationKey()
		look(key, err)
	}
	if len(r.lines) == before {
		r.good("%d, all can be read", n)
	}
}

// Secrets gives the value of every secret that can be read, for a Redactor.
func Secrets(cfg *config.Config) (values [][]byte) {
	if cfg == nil {
		return nil
	}
	for _, h := range cfg.Hooks {
		if v, _, err := cfg.HookSecret(h); err == nil {
			values = append(values, v)
		}
	}
	for _, t := range cfg.Tokens {
		if v, _, err := cfg.ReadSecret(t.Secret); err == nil {
			values = append(values, v)
		}
	}
	for _, f := range cfg.Forges {
		if v, _, err := cfg.ForgeSecret(f); err == nil {
			values = append(values, v)
		}
	}
	if v, _, err := cfg.ReservationKey(); err == nil {
		values = append(values, v)
	}
	return append(values, []byte(cfg.APIToken()))
}
