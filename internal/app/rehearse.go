package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/intake/hook"
	"github.com/oneslot/oneslot/internal/rule"
	"github.com/oneslot/oneslot/internal/slot"
)

// Rehearsal is what would become of a delivery. Nothing was written for it.
type Rehearsal struct {
	Event   string // as the forge names it
	Action  string
	Ignored string // why there are no events; empty if there are
	Events  []Rehearsed
}

// Rehearsed is what would become of one event.
type Rehearsed struct {
	Event slot.Event
	Trust gate.Answer // the one gate that the event alone decides
	Rules []Outlook
}

// Outlook is what one rule makes of an event.
type Outlook struct {
	Rule  string
	Wants bool
	Why   string   // why not, or why it could not start
	Run   []string // what would start
	Quiet time.Duration
}

// Rehearse reads a request to a configured hook as the daemon would, but for its
// signature. The error matches slot.ErrUsage if there is no such hook or the
// request is none.
func Rehearse(ctx context.Context, cfg *config.Config, name string, header http.Header, body []byte) (Rehearsal, error) {
	for _, h := range cfg.Hooks {
		if h.Name.V != name {
			continue
		}
		p, err := hook.Parse(unsealed(cfg, h), header, body)
		switch {
		case errors.Is(err, hook.ErrNoEvent), errors.Is(err, hook.ErrEmpty), errors.Is(err, hook.ErrBroken):
			return Rehearsal{}, fmt.Errorf("%w: %w", slot.ErrUsage, err)
		case err != nil:
			return Rehearsal{}, err
		}
		r := Rehearsal{Event: p.Delivery.Event, Action: p.Delivery.Action, Ignored: p.Ignored}
		for _, e := range p.Events {
			r.Events = append(r.Events, RehearseEvent(ctx, cfg, e))
		}
		return r, nil
	}
	return Rehearsal{}, fmt.Errorf("%w: no hook has the name %q", slot.ErrUsage, name)
}

// RehearseEvent says what the rules make of an event.
func RehearseEvent(ctx context.Context, cfg *config.Config, e slot.Event) Rehearsed {
	trust := gate.NewTrust(trustOf(cfg, nil)) // nothing is asked of a forge
	out := Rehearsed{Event: e, Trust: trust.Ask(ctx, gate.Ask{Ref: e.Ref, Sha: e.Sha, Path: e.Path, Events: []slot.Event{e}})}
	rules := rule.New(cfg)
	for _, x := range rules.Explain(e) {
		o := Outlook{Rule: x.Rule, Wants: x.Wants, Why: x.Why}
		r, _ := rules.Named(x.Rule)
		if x.Wants && !e.Ref.IsZero() {
			argv, err := r.Argv(e.Ref, e.Sha)
			if err != nil {
				o.Why = err.Error()
			}
			o.Run, o.Quiet = argv, r.Policy().Quiet
		}
		out.Rules = append(out.Rules, o)
	}
	return out
}

// unsealed is a hook for whoever reads requests that were verified or need not be.
func unsealed(cfg *config.Config, h config.Hook) hook.Hook {
	return hook.Hook{
		Name: h.Name.V, Forge: h.Forge.V, Host: h.Host.V, Unsigned: h.Unsigned.V, Commands: h.Commands.V,
		Own: ownOf(cfg), Labels: ticketLabels(cfg),
	}
}
