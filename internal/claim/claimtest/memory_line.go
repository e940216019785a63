package claimtest

import (
	"context"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// join gives the ticket its place if it has none yet: at the end, or, for a
// forced request, in front. Without a ticket it tells where the caller would
// stand.
func (s *memSlot) join(req claim.Request, now time.Duration) *slot.Place {
	t := req.Ticket
	p := &slot.Place{Ahead: len(s.line)}
	if t != nil {
		if p.Ahead = s.index(t.ID); p.Ahead < 0 {
			p.Ahead = len(s.line)
			if req.Head {
				p.Ahead = 0
			}
			if p.Ahead == 0 {
				s.moved = now
			}
			s.line = slices.Insert(s.line, p.Ahead, *t)
		}
	}
	if p.Ahead > 0 {
		before := s.line[0]
		if t != nil {
			before = s.line[p.Ahead-1]
		}
		p.Before, p.BeforeTicket = before.Process, before.ID
	}
	return p
}

func (s *memSlot) index(ticket string) int {
	return slices.IndexFunc(s.line, func(p claim.Ticket) bool { return p.ID == ticket })
}

// drop takes a place out of the line; if it was the head's, the turn passes on.
func (m *Memory) drop(s *memSlot, i int) {
	s.line = slices.Delete(s.line, i, i+1)
	if i == 0 {
		s.moved = m.now()
		m.poke(s)
	}
}

func (m *Memory) leave(s *memSlot, t *claim.Ticket) {
	if t == nil {
		return
	}
	if i := s.index(t.ID); i >= 0 {
		m.drop(s, i)
	}
}

// dropSilent takes out of the line whom an earlier boot took with it, and the
// head if it let its turn pass. Who asks just now is neither. A waiter that dies
// is taken out, by Leave, by the one behind it.
func (m *Memory) dropSilent(s *memSlot, asks *claim.Ticket) {
	for i := 0; i < len(s.line); {
		p := s.line[i]
		gone := m.caps.BootTime && p.Process.Boot != m.clock.BootID()
		late := i == 0 && m.turnOver(s)
		if (asks == nil || asks.ID != p.ID) && (gone || late) {
			m.drop(s, i)
			continue
		}
		i++
	}
}

// turnOver reports that the head could have had the slot for a whole turn.
func (m *Memory) turnOver(s *memSlot) bool {
	since := s.moved
	if c := m.holderOf(s).newest; c != nil && !c.Ended {
		if m.left(c) > 0 {
			return false
		}
		if c.Kind != slot.Waiting && !m.dead(c) {
			since = max(since, c.deadline)
		}
	}
	return m.now()-since >= turn(m.opt, m.caps)
}

// poke tells the head of the line to look again.
func (m *Memory) poke(s *memSlot) {
	if len(s.line) == 0 || !m.caps.Notifies {
		return
	}
	select {
	case m.wake(s.line[0].ID) <- struct{}{}:
	default: // it has one that it has not seen yet
	}
}

// Wake returns the ticket's channel, which it may ask for before its place.
func (h *MemoryHandle) Wake(ctx context.Context, _ slot.Ref, t claim.Ticket) (ch <-chan struct{}, err error) {
	err = h.step(ctx, "wake", func() error { ch = h.m.wake(t.ID); return nil })
	return ch, err
}

// wake is the ticket's channel; it holds one poke, so that none is missed.
func (m *Memory) wake(ticket string) chan struct{} {
	if m.wakes[ticket] == nil {
		m.wakes[ticket] = make(chan struct{}, 1)
	}
	return m.wakes[ticket]
}

// Leave gives up the place.
func (h *MemoryHandle) Leave(ctx context.Context, ref slot.Ref, t claim.Ticket) error {
	return h.step(ctx, "leave", func() error {
		delete(h.m.wakes, t.ID)
		if s := h.m.slots[ref]; s != nil {
			h.m.leave(s, &t)
		}
		return nil
	})
}
