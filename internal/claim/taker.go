package claim

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/slot"
)

// Life is what can be found out about a process.
type Life string

const (
	Alive  Life = "alive"
	Gone   Life = "dead"
	Unseen Life = "unseen" // another host, or a pid namespace one cannot look into
)

// Sight looks at processes of this host.
type Sight interface {
	// Life judges the process, with a word on what was seen.
	Life(p slot.Process) (Life, string)
	// Watch closes gone when the process ends; stop gives up watching.
	Watch(p slot.Process) (gone <-chan struct{}, stop func(), err error)
}

// Taker takes slots on behalf of one process.
type Taker struct {
	Store Store
	Sight Sight
	Clock clock.Clock
	Self  slot.Process // who waits, when it waits
	// Inside lists the runs that the caller is part of: their slots are refused
	// at once, since waiting for them would never end.
	Inside []string
}

// Take asks for the slot. A holder that is provably dead, or overdue and in
// sight, is displaced; anything else that is in the way is returned as
// *slot.BusyError or *slot.DeferError.
func (t *Taker) Take(ctx context.Context, req Request) (Grant, error) {
	for {
		asked := t.Clock.Boot()
		g, err := t.Store.Acquire(ctx, req)
		g.Asked = asked
		var busy *slot.BusyError
		if !errors.As(err, &busy) {
			if err == nil {
				failpoint.Hit(failpoint.AfterClaimCommit)
			}
			return g, err
		}
		// In line the dead are dropped also while the slot is held: their end
		// would be noticed again and again.
		if busy.Reason == slot.ReasonLine || req.Ticket != nil {
			if again, err := t.dropDead(ctx, req, busy); err != nil {
				return Grant{}, err
			} else if again {
				continue
			}
		}
		if busy.Reason == slot.ReasonLine {
			return Grant{}, busy
		}
		if busy.Claim.Run != "" && slices.Contains(t.Inside, busy.Claim.Run) {
			if req.spare(busy.Claim) {
				continue
			}
			busy.Reason = slot.ReasonInside
			return Grant{}, busy
		}
		d, reason, detail := Judge(t.Sight, busy.Claim)
		if d == nil || !req.displace(*d) {
			busy.Reason, busy.Detail = reason, join(busy.Detail, detail)
			return Grant{}, busy
		}
	}
}

// spare leaves out of what the request covers what the caller's own run has already:
// that keeps everybody else out. It reports whether this leaves anything to ask for
// that was not asked for before.
func (r *Request) spare(own slot.Claim) bool {
	has := func(ref slot.Ref) bool { return ref == own.Ref || slices.Contains(own.Also, ref) }
	also := slices.DeleteFunc(slices.Clone(r.Also), has)
	if has(r.Ref) || len(also) == len(r.Also) {
		return false
	}
	r.Also = also
	return true
}

// dropDead takes the one before the caller out of the line if it is dead.
func (t *Taker) dropDead(ctx context.Context, req Request, busy *slot.BusyError) (bool, error) {
	p := busy.Place
	if p == nil || p.BeforeTicket == "" || p.Before == t.Self {
		return false, nil
	}
	if life, _ := t.Sight.Life(p.Before); life != Gone {
		return false, nil
	}
	return true, t.Store.Leave(ctx, req.Ref, Ticket{ID: p.BeforeTicket, Process: p.Before})
}

// LateMost is for how long a holder that is late may still come back and renew its claim
// before that is ended for the sake of others who cannot ask for it: one that was
// suspended needs a moment.
const LateMost = time.Minute

// Unworked reports that nobody works under a claim now, though its holder may come back and
// renew it as long as nobody has taken the slot: it is overdue, and its worker was ended
// by a warden, or asks before each step.
func Unworked(c slot.Claim) bool {
	return c.Expired() && (c.Kind == slot.Supervised && c.Warden || c.Kind == slot.Detached && !c.Bound)
}

// Late reports that a claim is unworked, and late by more than LateMost.
func Late(c slot.Claim) bool { return Unworked(c) && c.Left < -LateMost }

// Judge says whether a live claim may be set aside and on what ground, or why
// not: slot.ReasonHeld or slot.ReasonUnseen, and what was seen.
func Judge(s Sight, c slot.Claim) (d *Displace, reason, detail string) {
	if c.Kind == slot.Waiting {
		return nil, slot.ReasonHeld, "it waits for a person"
	}
	life, seen := Unseen, ""
	if !c.Holder.Process.IsZero() {
		life, seen = s.Life(c.Holder.Process)
	}
	switch {
	case life == Gone:
		return &Displace{Claim: c.ID, Why: Dead, Detail: seen}, "", ""
	case !c.Expired():
		return nil, slot.ReasonHeld, ""
	case c.Bound && life == Alive:
		return nil, slot.ReasonHeld, "its time to live is over, but the process it is bound to lives"
	case c.Kind == slot.Supervised && !c.Warden && life == Unseen:
		return nil, slot.ReasonUnseen, "it is overdue, but its supervisor cannot be seen from here: " + seen
	}
	return &Displace{Claim: c.ID, Why: Overdue, Detail: seen}, "", ""
}
