package claimtest

import (
	"context"
	"fmt"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

func (m *Memory) lost(key claim.Key, reason string) error {
	e := &slot.LostError{Claim: key.Claim, Reason: reason}
	if s := m.byClaim[key.Claim]; s != nil {
		v := m.view(s.newest)
		e.Newest = &v
	}
	return e
}

// own finds the record that the key owns, live or ended; only a slot's newest
// record has an owner.
func (m *Memory) own(key claim.Key) (*memClaim, error) {
	s := m.byClaim[key.Claim]
	switch {
	case s == nil:
		return nil, m.lost(key, "there is no such claim")
	case s.newest.ID != key.Claim:
		return nil, m.lost(key, "somebody else took the slot")
	case s.newest.token == nil || !claim.SameToken(key.Token, s.newest.token):
		return nil, m.lost(key, "the token is not the owner's")
	}
	return s.newest, nil
}

// alive is own for claims that can still be worked under.
func (m *Memory) alive(key claim.Key) (*memClaim, error) {
	c, err := m.own(key)
	switch {
	case err != nil:
		return nil, err
	case c.Ended:
		return nil, m.lost(key, "it has ended")
	case m.dead(c):
		return nil, m.lost(key, "it is of an earlier boot")
	case !c.begun && m.now() >= c.startBy:
		return nil, m.lost(key, "it did not start in time")
	}
	return c, nil
}

func (m *Memory) lease(c *memClaim) claim.Lease {
	c.RenewedAt = m.wall()
	return claim.Lease{TTL: m.extend(c), Phase: c.Phase, StopReason: c.StopReason}
}

// Renew moves the deadline.
func (h *MemoryHandle) Renew(ctx context.Context, key claim.Key) (l claim.Lease, err error) {
	err = h.step(ctx, "renew", func() error {
		c, err := h.m.alive(key)
		if err == nil {
			l = h.m.lease(c)
		}
		return err
	})
	return l, err
}

// Start goes from starting to running.
func (h *MemoryHandle) Start(ctx context.Context, key claim.Key) (l claim.Lease, err error) {
	err = h.step(ctx, "start", func() error {
		c, err := h.m.alive(key)
		if err != nil {
			return err
		}
		if c.Kind != slot.Supervised {
			return fmt.Errorf("%w: only a supervised claim is started", slot.ErrUsage)
		}
		if c.Phase == slot.Starting {
			for _, r := range h.open(c.Ref) {
				if r.ID != c.Run {
					h.m.want(h.m.slots[r.Ref], h.m.slots[c.Ref])
					return &slot.BusyError{
						Ref: c.Ref, Reason: slot.ReasonUnstopped, Claim: h.m.view(c), Store: h.m.caps.Name,
						Detail: "run " + r.ID + " is not known to be gone",
					}
				}
			}
			c.Phase, c.begun = slot.Running, true
			run := h.m.run(c.Run)
			run.State, run.StartedAt = slot.RunRunning, h.m.wall()
		}
		l = h.m.lease(c)
		return nil
	})
	return l, err
}

// Check answers a claim that is live, unexpired and the key's own.
func (h *MemoryHandle) Check(ctx context.Context, key claim.Key) (v slot.Claim, err error) {
	err = h.step(ctx, "check", func() error {
		c, err := h.m.alive(key)
		if err != nil {
			return err
		}
		if h.m.left(c) <= 0 {
			return h.m.lost(key, "its time to live is over")
		}
		v = h.m.view(c)
		return nil
	})
	return v, err
}

// Release ends the claim and its run, and wakes the line.
func (h *MemoryHandle) Release(ctx context.Context, key claim.Key, out slot.Outcome) (v slot.Claim, err error) {
	err = h.step(ctx, "release", func() error {
		c, err := h.m.own(key)
		if err != nil {
			return err
		}
		if !c.Ended {
			if out.Result == "" {
				out.Result = slot.Done
			}
			c.Ended, c.EndedAt, c.Outcome = true, h.m.wall(), out
			h.m.treeGone(c.Run, out)
			h.m.note(claim.Closed(c.Claim, out))
			h.m.free(h.m.byClaim[c.ID])
			h.m.uncover(c, claim.Closed(c.Claim, out))
		}
		v = h.m.view(c)
		return nil
	})
	return v, err
}

// Park turns a running claim into a waiting one.
func (h *MemoryHandle) Park(ctx context.Context, key claim.Key, out slot.Outcome) (v slot.Claim, err error) {
	err = h.step(ctx, "park", func() error {
		c, err := h.m.alive(key)
		if err != nil {
			return err
		}
		if c.Kind != slot.Supervised || !c.begun {
			return fmt.Errorf("%w: only the claim of a running worker can wait for a person", slot.ErrUsage)
		}
		if out.Result == "" {
			out.Result = slot.Waits
		}
		c.Kind, c.token, c.lapse = slot.Waiting, nil, h.m.wall().Add(h.m.opt.WaitingMax)
		h.m.treeGone(c.Run, out)
		h.m.note(claim.Closed(c.Claim, out))
		v = h.m.view(c)
		return nil
	})
	return v, err
}

// AskStop marks a live claim.
func (h *MemoryHandle) AskStop(ctx context.Context, id, reason string) (v slot.Claim, err error) {
	err = h.step(ctx, "ask to stop", func() error {
		s := h.m.byClaim[id]
		if s == nil || s.newest.ID != id || s.newest.Ended {
			return h.m.lost(claim.Key{Claim: id}, "it is not the slot's live claim")
		}
		s.newest.Phase, s.newest.StopReason = slot.Stopping, reason
		v = h.m.view(s.newest)
		return nil
	})
	return v, err
}
