package claimtest

import (
	"context"
	"fmt"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Acquire checks and takes.
func (h *MemoryHandle) Acquire(ctx context.Context, req claim.Request) (claim.Grant, error) {
	var g claim.Grant
	err := h.step(ctx, "acquire", func() error {
		if err := req.Validate(); err != nil {
			return err
		}
		m := h.m
		if len(req.Also) > 0 && !m.caps.Covers {
			return fmt.Errorf("%w: this store covers no refs", slot.ErrConfig)
		}
		s := m.slot(req.Ref)
		if m.byClaim[req.Key.Claim] != nil {
			return m.again(s, req.Key, &g)
		}
		why, err := m.refusal(s, req)
		if err != nil {
			m.note(claim.Refused(req, err))
			return err
		}
		if full := m.over(req); full != nil {
			full.Place = s.join(req, m.now())
			m.note(claim.Refused(req, full))
			return full
		}
		m.grant(s, req, why, &g)
		return nil
	})
	return g, err
}

// again answers a request whose key was seen before: the same grant while it is
// the slot's live claim, and never again once it is not.
func (m *Memory) again(s *memSlot, key claim.Key, g *claim.Grant) error {
	c, err := m.own(key)
	if err != nil {
		return err
	}
	if c.Ended || c.Ref != s.ref {
		return m.lost(key, "it has ended")
	}
	g.Claim = m.view(c)
	return nil
}

// refusal says why the slot cannot be had, or on what ground it can. It puts the
// caller in line if it brought a ticket.
func (m *Memory) refusal(s *memSlot, req claim.Request) (reason string, err error) {
	for _, o := range m.group(req) {
		c := m.holderOf(o).newest
		ends := c != nil && !c.Ended && req.Ends() && req.Displace.Claim == c.ID
		if hold := m.held(o.ref); hold != nil && !ends {
			m.want(o, s)
			return "", &slot.DeferError{
				Ref: req.Ref, Reason: slot.ReasonHold, Detail: hold.Reason, Hold: hold, Place: s.join(req, m.now()),
			}
		}
	}
	reason, err = m.grounds(s, req)
	passes := req.Head || reason == slot.ReasonResumed
	if passes && err == nil {
		return reason, nil
	}
	m.dropSilent(s, req.Ticket)
	place := s.join(req, m.now())
	if err != nil {
		err.(*slot.BusyError).Place = place
		return "", err
	}
	if place.Ahead > 0 {
		m.poke(s)
		return "", m.inLine(s, req, place)
	}
	for _, o := range m.group(req)[1:] {
		if m.dropSilent(o, nil); len(o.line) > 0 {
			m.poke(o)
			m.want(o, s)
			return "", &slot.BusyError{Ref: req.Ref, Reason: slot.ReasonLine, Store: m.caps.Name, Place: place}
		}
	}
	return reason, nil
}

// inLine refuses a caller that could have the slot but for those before it.
func (m *Memory) inLine(s *memSlot, req claim.Request, place *slot.Place) error {
	e := &slot.BusyError{Ref: req.Ref, Reason: slot.ReasonLine, Store: m.caps.Name, Place: place}
	if _, free := m.takable(s); !free {
		e.Reason, e.Claim = slot.ReasonHeld, m.view(s.newest)
	}
	return e
}

// takable says on what ground anybody may have the slot, without a Displace.
func (m *Memory) takable(s *memSlot) (reason string, ok bool) {
	c := s.newest
	switch {
	case c == nil || c.Ended:
		return slot.ReasonFree, true
	case m.dead(c):
		return slot.ReasonDead, true
	case m.left(c) > 0:
		return "", false
	}
	// Expiry is enough if nothing can still be at work behind it: a warden
	// ended the tree, or there is no process to be seen at all.
	unseen := c.Kind == slot.Waiting || c.Warden || c.Kind == slot.Detached && !c.Bound
	return slot.ReasonExpired, unseen
}

// ground adds to takable what the request itself brings.
func (m *Memory) ground(s *memSlot, req claim.Request) (string, error) {
	if reason, ok := m.takable(s); ok {
		return reason, nil
	}
	c := s.newest
	if d := req.Displaces(c.ID); d != nil {
		waiting := c.Kind == slot.Waiting
		switch {
		case d.Why == claim.Dead && !waiting:
			return slot.ReasonDead, nil
		case d.Why == claim.Overdue && m.left(c) <= 0:
			return slot.ReasonExpired, nil
		case d.Why == claim.Forced, d.Why == claim.Ended:
			return slot.ReasonForced, nil
		case d.Why == claim.Resumed && waiting:
			return slot.ReasonResumed, nil
		}
	}
	return "", &slot.BusyError{Ref: req.Ref, Reason: slot.ReasonHeld, Claim: m.view(c), Store: m.caps.Name}
}

// grant takes the slot, setting aside what is there.
func (m *Memory) grant(s *memSlot, req claim.Request, reason string, g *claim.Grant) {
	fence := m.wall().UnixMilli()
	for _, o := range m.group(req) {
		if fence = max(fence, m.covers.floor[o.ref]+1); o.newest != nil {
			fence = max(fence, o.newest.Fence+1)
		}
		if h := m.holderOf(o); h.newest != nil && !h.newest.Ended {
			v := m.view(h.newest)
			if g.Displaced == nil {
				g.Displaced = &v
			}
			m.setAside(s, h, req, reason)
		}
	}
	now := m.now()
	c := &memClaim{
		Claim: slot.Claim{
			ID: req.Key.Claim, Ref: req.Ref, Kind: req.Kind, Phase: slot.Starting, Fence: fence, Holder: req.Holder,
			Also: req.Covers(), Run: req.Run, Dir: req.Dir, Warden: req.Warden, Bound: req.Bound, TTL: req.TTL, Grace: req.Grace,
			Since: m.wall(), RenewedAt: m.wall(),
		},
		token: claim.HashToken(req.Key.Token), boot: m.clock.BootID(), startBy: now + m.opt.StartMax,
	}
	if req.Kind == slot.Detached {
		c.Phase, c.begun = slot.Running, true
	} else {
		m.runs = append(m.runs, &slot.Run{
			ID: req.Run, Ref: req.Ref, Rule: req.Rule, Path: req.Holder.Path, Claim: c.ID, Fence: fence,
			State: slot.RunStarting, Holder: req.Holder, Dir: req.Dir,
		})
	}
	m.extend(c)
	s.newest, m.byClaim[c.ID] = c, s
	m.cover(s, c)
	m.leave(s, req.Ticket)
	g.Claim = m.view(c)
	detail := ""
	if req.Displace != nil {
		detail = req.Displace.Detail
	}
	m.note(claim.Granted(req, fence, g.Displaced, reason, detail))
}

// extend moves the deadline as a grant, a renewal or a start does, and returns
// what it grants. It adds the tick that may be running, so that nobody gets less.
func (m *Memory) extend(c *memClaim) time.Duration {
	ttl := c.TTL
	if !c.begun {
		ttl = min(m.opt.StartTTL+c.Grace, c.startBy-m.now())
	}
	c.deadline = m.now() + m.caps.Tick + ttl
	return ttl
}
