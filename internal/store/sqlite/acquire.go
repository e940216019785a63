package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// maxFence keeps fences exact in every JSON reader (2^53).
const maxFence = 1<<53 - 1

// Acquire implements claim.Store.
func (s *Store) Acquire(ctx context.Context, req claim.Request) (g claim.Grant, err error) {
	if err := req.Validate(); err != nil {
		return g, err
	}
	if req.Ticket != nil {
		if err := s.line.listen(); err != nil {
			return g, s.unknown("wait", err)
		}
	}
	var refused error
	err = s.do(ctx, "claim", func(t *tx) (err error) {
		g, refused, err = t.acquire(req)
		return err
	})
	if err != nil {
		return claim.Grant{}, err
	}
	if req.Ticket != nil && refused == nil {
		s.line.forget(req.Ticket.ID)
	}
	return g, refused
}

// acquire checks and takes. The free slot, which is the usual one, costs one
// statement beside its decision; everything else reads first.
func (t *tx) acquire(req claim.Request) (claim.Grant, error, error) {
	if req.Displace == nil && req.Ticket == nil && req.Limits.IsZero() && len(req.Also) == 0 {
		g, err := t.take(req, 0, nil, slot.ReasonFree, "", "WHERE slot.live = 0 AND slot.waiting = 0 AND slot.claim <> excluded.claim AND NOT "+covered)
		if err != nil || g.Claim.ID != "" {
			return g, nil, err
		}
	}
	r, err := t.find(req.Ref.Slug())
	if err != nil {
		return claim.Grant{}, nil, err
	}
	if r != nil && r.claim.ID == req.Key.Claim {
		return t.again(req, r)
	}
	if r == nil {
		if r, err = t.empty(req.Ref); err != nil {
			return claim.Grant{}, nil, err
		}
	}
	g, err := t.gather(req, r)
	if err != nil {
		return claim.Grant{}, nil, err
	}
	for _, s := range g.slots {
		hold, err := t.holdOn(s.claim.Ref)
		if err != nil {
			return claim.Grant{}, nil, err
		}
		if hold != nil && !(req.Ends() && g.has(req.Displace.Claim)) {
			return t.refuse(req, r, s, &slot.DeferError{Ref: req.Ref, Reason: slot.ReasonHold, Hold: hold,
				Detail: hold.String()})
		}
	}
	for i := range g.holders {
		h := &g.holders[i]
		var ok bool
		if h.reason, h.detail, ok = t.takeable(req, h.row); !ok {
			return t.refuse(req, r, h.row, &slot.BusyError{Ref: req.Ref, Reason: slot.ReasonHeld, Claim: h.row.claim,
				Detail: claim.Shared(req, h.of, h.row.claim), Store: t.w.s.Address()})
		}
	}
	if !req.Head && g.reason() != slot.ReasonResumed {
		for _, s := range g.slots {
			first, err := t.first(s, req.Ticket)
			if err != nil {
				return claim.Grant{}, nil, err
			}
			if !first {
				return t.refuse(req, r, s, &slot.BusyError{Ref: req.Ref, Reason: slot.ReasonLine, Store: t.w.s.Address()})
			}
		}
	}
	if full, err := t.over(req, g); err != nil {
		return claim.Grant{}, nil, err
	} else if full != nil {
		return t.refuse(req, r, r, full)
	}
	if err := t.unsay(r, req); err != nil {
		return claim.Grant{}, nil, err
	}
	out, err := t.takeAll(req, g)
	return out, nil, err
}

// takeable says whether the slot can be had, and on what ground.
func (t *tx) takeable(req claim.Request, r *row) (reason, detail string, ok bool) {
	if !r.live {
		return slot.ReasonFree, "", true
	}
	if d := req.Displaces(r.claim.ID); d != nil {
		parked := r.claim.Kind == slot.Waiting // nobody works under it, so nobody is dead or overdue
		switch {
		case d.Why == claim.Ended:
			return slot.ReasonForced, d.Detail, true
		case d.Why == claim.Forced,
			d.Why == claim.Dead && !parked,
			d.Why == claim.Overdue && !parked && r.claim.Expired(),
			d.Why == claim.Resumed && parked:
			return string(d.Why), d.Detail, true
		}
	}
	switch {
	case r.ownBootOver(t.w.s.opt.Clock.BootID()):
		return slot.ReasonDead, "the machine was restarted since", true
	case r.claim.Expired() && selfEnding(r.claim):
		return slot.ReasonExpired, "", true
	}
	return "", "", false
}

// take writes the new claim over the slot's row (or makes the row) where cond
// holds, unless a hold pauses the ref and the claim is for more than to end another;
// and the decision and the run that belong to it. Where it does not hold, the grant is empty.
//
// The fence is at least floor: what was covered had others.
func (t *tx) take(req claim.Request, floor int64, displaced *slot.Claim, reason, detail, cond string) (g claim.Grant, err error) {
	ttl, phase := req.TTL, slot.Running
	if req.Kind == slot.Supervised {
		ttl, phase = slot.StartTTL+req.Grace, slot.Starting
	}
	h, d := req.Holder, claim.Granted(req, 0, displaced, reason, detail)
	var id, seq int64
	n, err := t.count(`INSERT INTO slot (slug, ref, fence, live, seq, said, claim, token, program, kind, phase, host, boot, ns, pid,
			ticks, holder_boot, uid, path, command, run, dir, warden, bound, ttl, grace, began, deadline, since_at, renewed_at, expires, also)
		SELECT ?, ?, ?, 1, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
		WHERE (? OR NOT EXISTS (SELECT 1 FROM hold WHERE scope IN (?, ?, ?)))
		ON CONFLICT (slug) DO UPDATE SET fence = max(slot.fence + 1, excluded.fence), live = 1, seq = slot.seq + 1,
			said = excluded.said, claim = excluded.claim,
			token = excluded.token, program = excluded.program, kind = excluded.kind, phase = excluded.phase, host = excluded.host,
			boot = excluded.boot, ns = excluded.ns, pid = excluded.pid, ticks = excluded.ticks, holder_boot = excluded.holder_boot,
			uid = excluded.uid, path = excluded.path, command = excluded.command, run = excluded.run, dir = excluded.dir,
			warden = excluded.warden, bound = excluded.bound, ttl = excluded.ttl, grace = excluded.grace, began = excluded.began,
			deadline = excluded.deadline, since_at = excluded.since_at, renewed_at = excluded.renewed_at,
			expires = excluded.expires, stop = '', ended_at = 0, outcome = '', asked = '', also = excluded.also `+cond,
		req.Ref.Slug(), req.Ref.String(), max(min(t.ms(), maxFence), floor), saying(d), req.Key.Claim, claim.HashToken(req.Key.Token),
		level(), string(req.Kind), string(phase), h.Host, t.w.s.opt.Clock.BootID(), int64(h.Process.NS), h.Process.PID,
		int64(h.Process.Ticks), h.Process.Boot, h.UID, h.Path, h.Command, req.Run, req.Dir, req.Warden, req.Bound,
		int64(req.TTL), int64(req.Grace), int64(t.boot), int64(t.boot+ttl), t.ms(), t.ms(), t.wall.Add(ttl).UnixMilli(), alsoText(req),
		req.Ends(), req.Ref.String(), req.Ref.Repo(), slot.Everything)
	if err != nil || n == 0 {
		return g, err
	}
	_, err = t.one("SELECT id, seq, fence FROM slot WHERE slug = ?", []any{req.Ref.Slug()}, &id, &seq, &d.Fence)
	switch {
	case err != nil:
		return g, err
	case d.Fence > maxFence:
		return g, fmt.Errorf("the fence of %s has no number left", req.Ref)
	}
	if req.Run != "" {
		err = t.exec(`INSERT INTO run (id, slot, rule, path, claim, fence, state, host, boot, ns, pid, ticks, uid, command, dir)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, req.Run, id, req.Rule, h.Path, req.Key.Claim, d.Fence,
			string(slot.RunStarting), h.Host, h.Process.Boot, int64(h.Process.NS), h.Process.PID, int64(h.Process.Ticks),
			h.UID, h.Command, req.Dir)
		if err != nil {
			return g, err
		}
	}
	return claim.Grant{Claim: t.claimOf(req, d.Fence), Displaced: displaced}, t.insert(id, seq, d)
}

// claimOf is the record that take has just written.
func (t *tx) claimOf(req claim.Request, fence int64) slot.Claim {
	c := slot.Claim{
		ID: req.Key.Claim, Ref: req.Ref, Kind: req.Kind, Phase: slot.Running, Fence: fence, Holder: req.Holder,
		Run: req.Run, Dir: req.Dir, Warden: req.Warden, Bound: req.Bound, TTL: req.TTL, Grace: req.Grace,
		Also: req.Covers(), Since: t.wall.UTC().Truncate(time.Millisecond), Left: req.TTL,
	}
	if req.Kind == slot.Supervised {
		c.Phase, c.Left = slot.Starting, slot.StartTTL+req.Grace
	}
	c.RenewedAt, c.ExpiresAt = c.Since, c.Since.Add(c.Left)
	return c
}

// again answers a request whose first answer was lost.
func (t *tx) again(req claim.Request, r *row) (claim.Grant, error, error) {
	switch {
	case !claim.SameToken(req.Key.Token, r.token):
		return claim.Grant{}, &slot.LostError{Claim: req.Key.Claim, Reason: "the token is not its own"}, nil
	case !r.live:
		return claim.Grant{}, &slot.LostError{Claim: req.Key.Claim, Reason: "it has ended", Newest: &r.claim}, nil
	}
	return claim.Grant{Claim: r.claim}, nil, nil
}

// refuse records a refusal and, for a caller that waits, its place in line. The end
// of what is in the way, in the slot by, has it look again.
func (t *tx) refuse(req claim.Request, r, by *row, refusal error) (claim.Grant, error, error) {
	place, err := t.place(r, req)
	if err != nil {
		return claim.Grant{}, nil, err
	}
	if err := t.want(by.id, r.id); err != nil {
		return claim.Grant{}, nil, err
	}
	switch e := refusal.(type) {
	case *slot.BusyError:
		e.Place = place
		if e.Reason == slot.ReasonLine && by != r {
			e.Detail = "it goes together with " + by.claim.Ref.String() + ", for which others wait"
		}
	case *slot.DeferError:
		e.Place = place
	}
	if err := t.note(r, claim.Refused(req, refusal)); err != nil {
		return claim.Grant{}, nil, err
	}
	return claim.Grant{}, refusal, t.exec("UPDATE slot SET asked = ? WHERE id = ?", req.Key.Claim, r.id)
}

// empty makes the row of a slot that was never claimed, to hang decisions and
// waiters on.
func (t *tx) empty(ref slot.Ref) (*row, error) {
	if err := t.exec("INSERT INTO slot (slug, ref) VALUES (?, ?) ON CONFLICT (slug) DO NOTHING", ref.Slug(), ref.String()); err != nil {
		return nil, err
	}
	r, err := t.find(ref.Slug())
	if err == nil && r == nil {
		err = errors.New("a slot just made is not there")
	}
	return r, err
}

// holdOn is the hold that pauses a ref, the narrowest first.
func (t *tx) holdOn(ref slot.Ref) (*slot.Hold, error) {
	var h slot.Hold
	var at int64
	ok, err := t.one("SELECT scope, reason, by, at FROM hold WHERE scope IN (?, ?, ?) ORDER BY length(scope) DESC LIMIT 1",
		[]any{ref.String(), ref.Repo(), slot.Everything}, &h.Scope, &h.Reason, &h.By, &at)
	if err != nil || !ok {
		return nil, err
	}
	h.At = wallTime(at)
	return &h, nil
}
