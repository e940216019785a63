package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// owned reads the claim of key, or says why it is not the caller's. Ended
// claims are found too: releasing one again is harmless.
func (t *tx) owned(key claim.Key) (*row, error, error) {
	r, err := t.find(claim.SlugOf(key.Claim))
	if err != nil {
		return nil, nil, err
	}
	return r, ownership(r, key), nil
}

func ownership(r *row, key claim.Key) error {
	switch {
	case r == nil:
		return &slot.LostError{Claim: key.Claim, Reason: "the store knows no such claim"}
	case r.claim.ID != key.Claim:
		reason := "the slot was taken since"
		if !r.live {
			reason = "the slot was taken and given back since"
		}
		return &slot.LostError{Claim: key.Claim, Reason: reason, Newest: &r.claim}
	case !claim.SameToken(key.Token, r.token):
		return &slot.LostError{Claim: key.Claim, Reason: "the token is not its own"}
	}
	return nil
}

// live is owned for claims that must not have ended.
func (t *tx) liveOwned(key claim.Key) (*row, error, error) {
	r, lost, err := t.owned(key)
	if err == nil && lost == nil && !r.live {
		lost = &slot.LostError{Claim: key.Claim, Reason: "it has ended", Newest: &r.claim}
	}
	return r, lost, err
}

// step runs one owner's step and tells refusals from faults.
func (s *Store) step(ctx context.Context, name string, fn func(*tx) (refused, err error)) error {
	var refused error
	err := s.do(ctx, name, func(t *tx) (err error) {
		refused, err = fn(t)
		return err
	})
	if err != nil {
		return err
	}
	return refused
}

// Renew implements claim.Store.
func (s *Store) Renew(ctx context.Context, key claim.Key) (lease claim.Lease, err error) {
	err = s.step(ctx, "renew", func(t *tx) (error, error) {
		r, lost, err := t.liveOwned(key)
		if err != nil || lost != nil {
			return lost, err
		}
		c := &r.claim
		if r.ownBootOver(s.opt.Clock.BootID()) {
			return &slot.LostError{Claim: key.Claim, Reason: "the machine was restarted since"}, nil
		}
		ttl := c.TTL
		if c.Phase == slot.Starting {
			if ttl = min(slot.StartTTL+c.Grace, r.began+slot.StartMax-t.boot); ttl <= 0 {
				return &slot.LostError{Claim: key.Claim, Reason: fmt.Sprintf("it was starting for more than %v", slot.StartMax)}, nil
			}
		}
		lease = claim.Lease{TTL: ttl, Phase: c.Phase, StopReason: c.StopReason}
		return nil, t.extend(r.id, ttl, c.Phase)
	})
	return lease, err
}

func (t *tx) extend(id int64, ttl time.Duration, phase slot.Phase) error {
	return t.exec("UPDATE slot SET boot = ?, deadline = ?, renewed_at = ?, expires = ?, phase = ? WHERE id = ?",
		t.w.s.opt.Clock.BootID(), int64(t.boot+ttl), t.ms(), t.wall.Add(ttl).UnixMilli(), string(phase), id)
}

// Start implements claim.Store. The usual one is two statements; whatever is in
// its way is found out after that.
func (s *Store) Start(ctx context.Context, key claim.Key) (lease claim.Lease, err error) {
	err = s.step(ctx, "start", func(t *tx) (refused, err error) {
		lease, refused, err = t.start(key)
		return refused, err
	})
	return lease, err
}

func (t *tx) start(key claim.Key) (lease claim.Lease, refused, err error) {
	var run string
	var id, ttl int64
	ok, err := t.one(`SELECT id, run, ttl FROM slot
		WHERE slug = ? AND claim = ? AND token = ? AND live = 1 AND kind = 'supervised' AND phase = 'starting'
			AND boot = ? AND began >= ? AND also = '' AND NOT EXISTS (SELECT 1 FROM cover WHERE cover.slot = slot.id) AND NOT EXISTS (SELECT 1 FROM run
				WHERE run.slot = slot.id AND run.tree_gone_at = 0 AND run.id <> slot.run AND run.boot = slot.holder_boot)`,
		[]any{claim.SlugOf(key.Claim), key.Claim, claim.HashToken(key.Token), t.w.s.opt.Clock.BootID(), int64(t.boot - slot.StartMax)},
		&id, &run, &ttl)
	switch {
	case err != nil:
		return lease, nil, err
	case ok:
		lease = claim.Lease{TTL: time.Duration(ttl), Phase: slot.Running}
		if err := t.extend(id, lease.TTL, slot.Running); err != nil {
			return lease, nil, err
		}
		return lease, nil, t.started(run)
	}
	r, lost, err := t.liveOwned(key)
	if err != nil || lost != nil {
		return lease, lost, err
	}
	c := &r.claim
	lease = claim.Lease{TTL: c.TTL, Phase: slot.Running, StopReason: c.StopReason}
	switch {
	case r.ownBootOver(t.w.s.opt.Clock.BootID()):
		return lease, &slot.LostError{Claim: key.Claim, Reason: "the machine was restarted since"}, nil
	case c.Kind != slot.Supervised:
		return lease, fmt.Errorf("%w: only a supervised claim starts", slot.ErrUsage), nil
	case c.Phase == slot.Stopping:
		lease.Phase = c.Phase
		return lease, nil, nil
	case c.Phase == slot.Starting && t.boot > r.began+slot.StartMax:
		return lease, &slot.LostError{Claim: key.Claim, Reason: fmt.Sprintf("it was starting for more than %v", slot.StartMax)}, nil
	}
	var earlier string
	var of int64
	found, err := t.one("SELECT r.id, r.slot FROM run r WHERE "+openRuns+" AND r.id <> ? LIMIT 1",
		append(openArgs(r, c.Holder.Process.Boot), c.Run), &earlier, &of) // earlier ones of the holder's host
	if err != nil {
		return lease, nil, err
	}
	if found {
		if err := t.want(of, r.id); err != nil {
			return lease, nil, err
		}
		return lease, &slot.BusyError{Ref: c.Ref, Reason: slot.ReasonUnstopped, Claim: *c, Store: t.w.s.Address(),
			Detail: "run " + earlier + " is not known to be gone"}, nil
	}
	if err := t.extend(r.id, c.TTL, slot.Running); err != nil {
		return lease, nil, err
	}
	return lease, nil, t.started(c.Run)
}

func (t *tx) started(run string) error {
	return t.exec("UPDATE run SET state = 'running', started_at = ? WHERE id = ? AND state = 'starting'", t.ms(), run)
}

// Release implements claim.Store. The usual one, of a live claim by its owner,
// is one statement beside its decision, and answers what that names of the claim.
func (s *Store) Release(ctx context.Context, key claim.Key, out slot.Outcome) (c slot.Claim, err error) {
	err = s.step(ctx, "release", func(t *tx) (refused, err error) {
		c, refused, err = t.release(key, out)
		return refused, err
	})
	return c, err
}

func (t *tx) release(key claim.Key, out slot.Outcome) (c slot.Claim, refused, err error) {
	var r row
	var ref, also string
	c = slot.Claim{ID: key.Claim, Ended: true, EndedAt: t.wall.UTC().Truncate(time.Millisecond), Outcome: out}
	ok, err := t.one("SELECT id, seq, ref, kind, fence, path, run, also, "+awaited+`
		FROM slot WHERE slug = ? AND claim = ? AND token = ? AND live = 1`,
		[]any{claim.SlugOf(key.Claim), key.Claim, claim.HashToken(key.Token)},
		&r.id, &r.seq, &ref, (*string)(&c.Kind), &c.Fence, &c.Holder.Path, &c.Run, &also, &r.waiting, &r.wanted, &r.deferred)
	if err != nil {
		return c, nil, err
	}
	if !ok {
		r, lost, err := t.owned(key)
		if err == nil && lost == nil {
			c = r.claim
		}
		return c, lost, err
	}
	if c.Ref, err = slot.ParseCanonical(ref); err != nil {
		return c, nil, err
	}
	if c.Also, err = alsoOf(c.ID, also); err != nil {
		return c, nil, err
	}
	d := claim.Closed(c, out)
	r.seq++
	if err := t.exec("UPDATE slot SET live = 0, ended_at = ?, outcome = ?, seq = ?, said = ? WHERE id = ?",
		t.ms(), encode(out), r.seq, saying(d), r.id); err != nil {
		return c, nil, err
	}
	if err := t.closeRun(c.Run, out); err != nil {
		return c, nil, err
	}
	if err := t.insert(r.id, r.seq, d); err != nil {
		return c, nil, err
	}
	had, err := t.uncover(r.id, c, d)
	for i := 0; err == nil && i < len(had); i++ {
		err = t.freed(had[i])
	}
	if err != nil {
		return c, nil, err
	}
	return c, nil, t.free(&r)
}

// Park implements claim.Store.
func (s *Store) Park(ctx context.Context, key claim.Key, out slot.Outcome) (c slot.Claim, err error) {
	err = s.step(ctx, "park", func(t *tx) (error, error) {
		r, lost, err := t.liveOwned(key)
		if err != nil || lost != nil {
			return lost, err
		}
		if r.claim.Kind != slot.Supervised || r.claim.Phase == slot.Starting {
			return fmt.Errorf("%w: only a claim whose worker ran can wait for a person", slot.ErrUsage), nil
		}
		expires := t.wall.Add(s.opt.WaitingMax)
		// A token that nobody has: the key is void from here on.
		if err := t.exec(`UPDATE slot SET kind = 'waiting', phase = '', token = x'', warden = 0, bound = 0, stop = '',
			renewed_at = ?, expires = ?, outcome = ? WHERE id = ?`, t.ms(), expires.UnixMilli(), encode(out), r.id); err != nil {
			return nil, err
		}
		if err := t.note(r, claim.Closed(r.claim, out)); err != nil {
			return nil, err
		}
		if err := t.closeRun(r.claim.Run, out); err != nil {
			return nil, err
		}
		t.woke = true // there is room for others
		if r, err = t.find(claim.SlugOf(key.Claim)); err == nil {
			c = r.claim
		}
		return nil, err
	})
	return c, err
}

// AskStop implements claim.Store.
func (s *Store) AskStop(ctx context.Context, id, reason string) (c slot.Claim, err error) {
	err = s.step(ctx, "stop", func(t *tx) (error, error) {
		r, err := t.find(claim.SlugOf(id))
		if err != nil {
			return nil, err
		}
		if r == nil || !r.live || r.claim.ID != id {
			return &slot.LostError{Claim: id, Reason: "it has ended"}, nil
		}
		c = r.claim
		if c.Kind == slot.Waiting || c.StopReason != "" {
			return nil, nil
		}
		c.StopReason, c.Phase = reason, slot.Stopping
		return nil, t.exec("UPDATE slot SET stop = ?, phase = 'stopping' WHERE id = ?", reason, r.id)
	})
	return c, err
}

// Check implements claim.Store.
func (s *Store) Check(ctx context.Context, key claim.Key) (slot.Claim, error) {
	r, err := s.look(ctx, claim.SlugOf(key.Claim))
	if err != nil {
		return slot.Claim{}, err
	}
	if lost := ownership(r, key); lost != nil {
		return slot.Claim{}, lost
	}
	switch {
	case !r.live:
		return slot.Claim{}, &slot.LostError{Claim: key.Claim, Reason: "it has ended", Newest: &r.claim}
	case r.claim.Bound && r.boot == s.opt.Clock.BootID() && !r.claim.Holder.Process.Far():
		// It lives as long as its process, and is taken only when that is gone.
	case r.claim.Expired():
		return slot.Claim{}, &slot.LostError{Claim: key.Claim, Newest: &r.claim,
			Reason: "its time to live is over; renewing may still bring it back"}
	}
	return r.claim, nil
}
