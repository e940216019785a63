package reserve

import (
	"context"
	"errors"
	"time"
)

// lockState is what is known of the lock of a conversation.
type lockState string

const (
	lockNone  lockState = ""      // none of ours: there is nothing to undo
	lockAsked lockState = "asked" // it was unlocked, and we asked; the answer is not known
	lockOurs  lockState = "ours"  // the forge said that we locked it
)

// lockDoubt is for how long after a process asked, and died before it knew the answer,
// a lock is taken for ours. The conversation was unlocked just before; later it may be a
// person's.
const lockDoubt = 2 * time.Minute

// lock locks the conversation, unless it is locked already: then it is not ours to
// unlock. That we ask is on disk first.
func (c *contender) lock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	t, err := c.o.Thread.Thread(ctx, c.ask.Ref)
	if err != nil || t.Locked {
		return err
	}
	e := c.entry
	e.Lock, e.LockAt = lockAsked, c.o.Clock.Wall()
	if err := e.save(); err != nil {
		e.Lock = lockNone
		return err
	}
	err = c.o.Thread.Lock(ctx, c.ask.Ref)
	hit(afterLock)
	switch {
	case err == nil:
		e.Lock = lockOurs
	case neverDone(err):
		e.Lock = lockNone
	default:
		now, e2 := c.o.Thread.Thread(ctx, c.ask.Ref)
		switch {
		case e2 != nil:
			return errors.Join(err, e2) // whoever undoes it has to look
		case now.Locked:
			e.Lock = lockOurs
		default: // if it takes effect yet, it stays: better than undoing a person's
			e.Lock = lockNone
		}
	}
	return errors.Join(err, e.save())
}

// unlock undoes our lock. What may be somebody else's stays, and is reported.
func (r *Reserver) unlock(ctx context.Context, e *entry) error {
	if e.Lock == lockAsked {
		t, err := r.o.Thread.Thread(ctx, e.Ref)
		switch {
		case err != nil:
			return unknown("read "+e.Ref.String(), err)
		case !t.Locked:
			e.Lock = lockNone
		case r.o.Clock.Wall().Sub(e.LockAt).Abs() < lockDoubt:
			e.Lock = lockOurs
		default:
			r.report(ctx, e, "locked", "the conversation is locked, by us or by a person; it stays so")
			e.Lock = lockNone
		}
		if err := e.save(); err != nil {
			return unknown("note the lock", err)
		}
	}
	if e.Lock == lockNone {
		return nil
	}
	if err := r.insist(ctx, func(ctx context.Context) error { return r.o.Thread.Unlock(ctx, e.Ref) }); err != nil {
		return unknown("unlock "+e.Ref.String(), err)
	}
	e.Lock = lockNone
	return e.save()
}
