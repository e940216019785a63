package remote

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

// Acquire implements claim.Store.
func (s *Store) Acquire(ctx context.Context, req claim.Request) (claim.Grant, error) {
	if err := req.Validate(); err != nil {
		return claim.Grant{}, err
	}
	q := step("claim", "/claims", wire.FromRequest(req))
	q.patient = req.Ticket != nil // it waits in line, also for the server
	g, err := ask(ctx, s, q, func(g wire.Grant) bool {
		// A server that knows of no covers would leave them out.
		return g.Claim.Claim == req.Key.Claim && g.Ref == req.Ref && slices.Equal(g.Slot().Also, req.Covers()) && g.Fence > 0 && !g.Ended && g.Left > 0
	})
	if err != nil {
		return claim.Grant{}, err
	}
	out := claim.Grant{Claim: g.Slot()}
	if g.Displaced != nil {
		d := g.Displaced.Slot()
		out.Displaced = &d
	}
	if req.Ticket != nil {
		s.forget(req.Ticket.ID)
	}
	return out, nil
}

// Renew implements claim.Store.
func (s *Store) Renew(ctx context.Context, key claim.Key) (claim.Lease, error) {
	return s.lease(ctx, "renew", key)
}

// Start implements claim.Store.
func (s *Store) Start(ctx context.Context, key claim.Key) (claim.Lease, error) {
	return s.lease(ctx, "start", key)
}

func (s *Store) lease(ctx context.Context, op string, key claim.Key) (claim.Lease, error) {
	if err := checkKey(key); err != nil {
		return claim.Lease{}, err
	}
	l, err := ask(ctx, s, step(op, of("claims", key.Claim, op), wire.Owner{Token: key.Token}), func(l wire.Lease) bool {
		return l.TTL > 0 && l.Phase != ""
	})
	return l.Lease(), err
}

// checkKey keeps what is no claim's id from being a path of its own.
func checkKey(key claim.Key) error {
	if claim.SlugOf(key.Claim) == "" {
		return &slot.LostError{Claim: key.Claim, Reason: "it is no claim's id"}
	}
	return nil
}

// Check implements claim.Store.
func (s *Store) Check(ctx context.Context, key claim.Key) (slot.Claim, error) {
	if err := checkKey(key); err != nil {
		return slot.Claim{}, err
	}
	c, err := ask(ctx, s, step("check", of("claims", key.Claim, "check"), wire.Owner{Token: key.Token}), func(c wire.Claim) bool {
		return c.Claim == key.Claim && !c.Ended && c.Fence > 0
	})
	return c.Slot(), err
}

// Release implements claim.Store.
func (s *Store) Release(ctx context.Context, key claim.Key, out slot.Outcome) (slot.Claim, error) {
	if err := checkKey(key); err != nil {
		return slot.Claim{}, err
	}
	o := wire.FromOutcome(out)
	q := step("release", of("claims", key.Claim, "release"), wire.Release{Token: key.Token, Outcome: &o})
	c, err := ask(ctx, s, q, func(c wire.Claim) bool { return c.Claim == key.Claim && c.Ended })
	return c.Slot(), err
}

// Park implements claim.Store. It is not sent again: once it is done the key is
// void, and would be answered lost.
func (s *Store) Park(ctx context.Context, key claim.Key, out slot.Outcome) (slot.Claim, error) {
	if err := checkKey(key); err != nil {
		return slot.Claim{}, err
	}
	o := wire.FromOutcome(out)
	q := post("park", of("claims", key.Claim, "park"), wire.Release{Token: key.Token, Outcome: &o})
	c, err := ask(ctx, s, q, func(c wire.Claim) bool { return c.Claim == key.Claim && c.Kind == slot.Waiting })
	return c.Slot(), err
}

// AskStop implements claim.Store.
func (s *Store) AskStop(ctx context.Context, id, reason string) (slot.Claim, error) {
	if err := checkKey(claim.Key{Claim: id}); err != nil {
		return slot.Claim{}, err
	}
	c, err := ask(ctx, s, step("stop", of("claims", id, "stop"), wire.Reason{Reason: reason}), func(c wire.Claim) bool {
		return c.Claim == id
	})
	return c.Slot(), err
}

// Look implements claim.Store.
func (s *Store) Look(ctx context.Context, ref slot.Ref) (claim.Slot, error) {
	l, err := ask(ctx, s, get("look", "/slot", about(ref)), func(l wire.Look) bool {
		return l.Ref == ref && (l.Newest == nil || l.Newest.Claim != "" && (l.Newest.Ref == ref || slices.Contains(l.Newest.Also, ref)))
	})
	return l.Slot(), err
}

// Slots is the name under which the server keeps the slots of a repository. One that
// knows of no other names keeps them under this one.
func (s *Store) Slots(ctx context.Context, repo string) (string, error) {
	a, err := ask(ctx, s, get("look", "/repo", url.Values{"repo": {repo}}), func(a wire.Repo) bool { return a.Slots != "" })
	if errors.Is(err, wire.ErrNoRoute) {
		return repo, nil
	}
	return a.Slots, err
}

// Live implements claim.Store.
func (s *Store) Live(ctx context.Context) ([]slot.Claim, error) {
	l, err := ask(ctx, s, get("look", "/claims", nil), func(l wire.Claims) bool { return l.Claims != nil })
	if err != nil {
		return nil, err
	}
	var out []slot.Claim
	for _, c := range l.Claims {
		if c.Claim == "" || c.Ended {
			return nil, s.unknown("look", fmt.Errorf("the answer has a claim in it that is none"))
		}
		out = append(out, c.Slot())
	}
	return out, nil
}

func about(ref slot.Ref) url.Values { return url.Values{"ref": {ref.String()}} }
