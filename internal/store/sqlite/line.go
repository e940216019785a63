package sqlite

import (
	"context"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// waiter is a stored place in line.
type waiter struct {
	seq     int64
	ticket  string
	addr    string
	turn    time.Duration // when its turn began; 0 before that
	process slot.Process
}

// waiterAt reads the first waiter of the slot for which cond holds.
func (t *tx) waiterAt(cond string, args ...any) (*waiter, error) {
	var w waiter
	var ns, ticks, turn int64
	ok, err := t.one("SELECT seq, ticket, addr, turn, boot, ns, pid, ticks FROM waiter WHERE "+cond+" LIMIT 1", args,
		&w.seq, &w.ticket, &w.addr, &turn, &w.process.Boot, &ns, &w.process.PID, &ticks)
	if err != nil || !ok {
		return nil, err
	}
	w.turn, w.process.NS, w.process.Ticks = time.Duration(turn), uint64(ns), uint64(ticks)
	return &w, nil
}

func (t *tx) head(slot int64) (*waiter, error) {
	return t.waiterAt("slot = ? ORDER BY seq", slot)
}

// first says whether the caller is the one that a free slot is for. A head that
// was silent since its turn, or that an earlier boot took with it, loses it.
func (t *tx) first(r *row, ticket *claim.Ticket) (bool, error) {
	for r.waiting > 0 {
		h, err := t.head(r.id)
		if err != nil {
			return false, err
		}
		if h == nil {
			r.waiting = 0
			break
		}
		if ticket != nil && h.ticket == ticket.ID {
			return true, nil
		}
		late := h.turn != 0 && t.boot-h.turn >= claim.TurnTime
		if !late && (h.process.Far() || h.process.Boot == t.w.s.opt.Clock.BootID()) {
			if h.turn != 0 {
				return false, nil
			}
			return false, t.call(r.id, h)
		}
		if err := t.leave(r.id, h.ticket); err != nil {
			return false, err
		}
		r.waiting--
	}
	return true, nil
}

// callHead begins the turn of the head of the line of a slot just freed.
func (t *tx) callHead(r *row) error {
	if r.waiting == 0 {
		return nil
	}
	h, err := t.head(r.id)
	if err != nil || h == nil {
		return err
	}
	return t.call(r.id, h)
}

// call begins a waiter's turn and wakes it, and the one behind it, which takes
// over if the first is silent.
func (t *tx) call(slot int64, h *waiter) error {
	if err := t.exec("UPDATE waiter SET turn = ? WHERE slot = ? AND seq = ?", int64(t.boot), slot, h.seq); err != nil {
		return err
	}
	t.pokes = append(t.pokes, poke{h.addr, h.ticket})
	return t.pokeBehind(slot, h.seq)
}

func (t *tx) pokeBehind(slot, seq int64) error {
	return t.poke(t.waiterAt("slot = ? AND seq > ? ORDER BY seq", slot, seq))
}

// pokeHead has the head of the line look again at a slot that is held.
func (t *tx) pokeHead(r *row) error { return t.poke(t.head(r.id)) }

func (t *tx) poke(w *waiter, err error) error {
	if err == nil && w != nil {
		t.pokes = append(t.pokes, poke{w.addr, w.ticket})
	}
	return err
}

// leave takes a ticket out of the line.
func (t *tx) leave(slot int64, ticket string) error {
	n, err := t.count("DELETE FROM waiter WHERE slot = ? AND ticket = ?", slot, ticket)
	if err != nil || n == 0 {
		return err
	}
	return t.exec("UPDATE slot SET waiting = max(waiting - 1, 0) WHERE id = ?", slot)
}

// place puts a caller with a ticket in line, if it is not there yet, and says
// where it stands; without a ticket it says who is before it.
//
// A forced request (Head) that has to wait goes to the front.
func (t *tx) place(r *row, req claim.Request) (*slot.Place, error) {
	ticket := req.Ticket
	if ticket == nil {
		if r.waiting == 0 {
			return nil, nil
		}
		h, err := t.head(r.id)
		if err != nil || h == nil {
			return nil, err
		}
		return &slot.Place{Ahead: r.waiting, Before: h.process, BeforeTicket: h.ticket}, nil
	}
	own, err := t.waiterAt("slot = ? AND ticket = ?", r.id, ticket.ID)
	if err != nil {
		return nil, err
	}
	if own == nil {
		if own, err = t.newPlace(r.id, req.Head); err != nil {
			return nil, err
		}
		p := ticket.Process
		if err := t.exec("INSERT INTO waiter (slot, seq, ticket, boot, ns, pid, ticks, addr) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			r.id, own.seq, ticket.ID, p.Boot, int64(p.NS), p.PID, int64(p.Ticks), t.w.s.line.addr()); err != nil {
			return nil, err
		}
		if err := t.exec("UPDATE slot SET waiting = waiting + 1 WHERE id = ?", r.id); err != nil {
			return nil, err
		}
	}
	if addr := t.w.s.line.addr(); own.addr != "" && own.addr != addr {
		// It asks by way of another process than before: a server that was restarted.
		if err := t.exec("UPDATE waiter SET addr = ? WHERE slot = ? AND ticket = ?", addr, r.id, ticket.ID); err != nil {
			return nil, err
		}
	}
	place := &slot.Place{}
	before, err := t.waiterAt("slot = ? AND seq < ? ORDER BY seq DESC", r.id, own.seq)
	if err != nil || before == nil {
		return place, err
	}
	place.Before, place.BeforeTicket = before.process, before.ticket
	_, err = t.one("SELECT count(*) FROM waiter WHERE slot = ? AND seq < ?", []any{r.id, own.seq}, &place.Ahead)
	return place, err
}

// newPlace is the place behind the last in line, or before the first.
func (t *tx) newPlace(slot int64, front bool) (*waiter, error) {
	order, step := "DESC", int64(1)
	if front {
		order, step = "ASC", -1
	}
	end, err := t.waiterAt("slot = ? ORDER BY seq "+order, slot)
	if err != nil || end == nil {
		return &waiter{}, err
	}
	return &waiter{seq: end.seq + step}, nil
}

// Wake implements claim.Store.
func (s *Store) Wake(_ context.Context, _ slot.Ref, ticket claim.Ticket) (<-chan struct{}, error) {
	if err := s.line.listen(); err != nil {
		return nil, s.unknown("wait", err)
	}
	return s.line.channel(ticket.ID), nil
}

// Leave implements claim.Store.
func (s *Store) Leave(ctx context.Context, ref slot.Ref, ticket claim.Ticket) error {
	defer s.line.forget(ticket.ID)
	return s.do(ctx, "leave the line", func(t *tx) error {
		r, err := t.find(ref.Slug())
		if err != nil || r == nil {
			return err
		}
		own, err := t.waiterAt("slot = ? AND ticket = ?", r.id, ticket.ID)
		if err != nil || own == nil {
			return err
		}
		if err := t.leave(r.id, ticket.ID); err != nil {
			return err
		}
		r.waiting--
		if r.waiting == 0 && !r.live {
			if err := t.wakeSlot(r.id); err != nil {
				return err
			}
		}
		if h, err := t.head(r.id); err != nil || h == nil {
			return err
		} else if h.seq > own.seq && !r.live {
			return t.call(r.id, h)
		}
		return t.pokeBehind(r.id, own.seq)
	})
}
