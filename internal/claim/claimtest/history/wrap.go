package history

import (
	"context"
	"errors"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/claim/claimtest"
	"github.com/oneslot/oneslot/internal/slot"
)

// Wrap records the calls of s that the model knows. Park is not among them: a
// slot that is kept for a person has no place in a recorded history.
func Wrap(s claimtest.Store, r *Recorder) claimtest.Store { return recorded{s, r} }

type recorded struct {
	claimtest.Store
	r *Recorder
}

// call makes one call between its two lines.
func (s recorded) call(e Event, f func() (Event, error)) error {
	done, err := s.r.Call(e)
	if err != nil {
		return &slot.UnknownError{Op: string(e.Kind), Store: "history", Err: err}
	}
	ret, err := f()
	ret.Outcome = outcome(err)
	if b, ok := errors.AsType[*slot.BusyError](err); ok {
		ret.Holder = b.Claim.ID
	}
	if werr := done(ret); werr != nil { // the history says unknown, so the caller does
		return &slot.UnknownError{Op: string(e.Kind), Store: "history", Err: errors.Join(werr, err)}
	}
	return err
}

func outcome(err error) Outcome {
	busy, isBusy := errors.AsType[*slot.BusyError](err)
	deferred, isDeferred := errors.AsType[*slot.DeferError](err)
	switch {
	case err == nil:
		return OK
	case isBusy && busy.Reason == slot.ReasonHeld:
		return Busy
	case isBusy, isDeferred && deferred != nil, errors.Is(err, slot.ErrUsage):
		return Refused
	case errors.Is(err, slot.ErrLost):
		return Lost
	}
	return Unknown
}

func (s recorded) Acquire(ctx context.Context, req claim.Request) (g claim.Grant, err error) {
	e := Event{Kind: CallAcquire, Ref: req.Ref.Slug(), Claim: req.Key.Claim, TTL: req.TTL}
	e.Ends = req.Warden || req.Kind == slot.Detached && !req.Bound
	if req.Kind == slot.Supervised {
		e.TTL = slot.StartTTL + req.Grace
	}
	if d := req.Displace; d != nil {
		e.Kind, e.Displace, e.Why = CallTakeover, d.Claim, d.Why
	}
	err = s.call(e, func() (Event, error) {
		g, err = s.Store.Acquire(ctx, req)
		return Event{Fence: g.Claim.Fence, TTL: g.Claim.Left}, err
	})
	return g, err
}

func (s recorded) Renew(ctx context.Context, key claim.Key) (l claim.Lease, err error) {
	err = s.call(own(CallRenew, key), func() (Event, error) {
		l, err = s.Store.Renew(ctx, key)
		return Event{TTL: l.TTL}, err
	})
	return l, err
}

func (s recorded) Start(ctx context.Context, key claim.Key) (l claim.Lease, err error) {
	err = s.call(own(CallRenew, key), func() (Event, error) {
		l, err = s.Store.Start(ctx, key)
		return Event{TTL: l.TTL}, err
	})
	return l, err
}

func (s recorded) Check(ctx context.Context, key claim.Key) (c slot.Claim, err error) {
	err = s.call(own(CallCheck, key), func() (Event, error) {
		c, err = s.Store.Check(ctx, key)
		return Event{Fence: c.Fence}, err
	})
	return c, err
}

func (s recorded) Release(ctx context.Context, key claim.Key, out slot.Outcome) (c slot.Claim, err error) {
	err = s.call(own(CallRelease, key), func() (Event, error) {
		c, err = s.Store.Release(ctx, key, out)
		return Event{}, err
	})
	return c, err
}

func (s recorded) Look(ctx context.Context, ref slot.Ref) (l claim.Slot, err error) {
	err = s.call(Event{Kind: CallLook, Ref: ref.Slug()}, func() (Event, error) {
		l, err = s.Store.Look(ctx, ref)
		if err != nil || l.Newest == nil {
			return Event{}, err
		}
		n := l.Newest
		return Event{Holder: n.ID, Fence: n.Fence, Ended: n.Ended, Expired: n.Expired()}, nil
	})
	return l, err
}

func own(k Kind, key claim.Key) Event {
	return Event{Kind: k, Ref: claim.SlugOf(key.Claim), Claim: key.Claim}
}
