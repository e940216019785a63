package claimtest

import (
	"context"
	"errors"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Three stores as people write them first. Each keeps most of the contract.

// readThenWrite looks whether the slot is free and then takes it, in two steps.
type readThenWrite struct {
	*MemoryHandle
	sawFree chan struct{}
}

func (w readThenWrite) Acquire(ctx context.Context, req claim.Request) (claim.Grant, error) {
	l, err := w.Look(ctx, req.Ref)
	if err != nil || l.Live() != nil || req.Displace != nil || req.Ticket != nil || l.Waiting > 0 {
		return w.MemoryHandle.Acquire(ctx, req)
	}
	// Between the steps: long enough for another that sees it free as well.
	select {
	case w.sawFree <- struct{}{}:
	case <-w.sawFree:
	case <-time.After(2 * time.Millisecond):
	}
	for {
		g, err := w.MemoryHandle.Acquire(ctx, req)
		e, busy := errors.AsType[*slot.BusyError](err)
		if !busy {
			return g, err
		}
		// It was free when it was read, so it is written.
		req.Displace = &claim.Displace{Claim: e.Claim.ID, Why: claim.Forced}
	}
}

// trusting releases whatever claim the slot has, whoever asks.
type trusting struct{ *MemoryHandle }

func (w trusting) Release(ctx context.Context, key claim.Key, out slot.Outcome) (slot.Claim, error) {
	w.m.mu.Lock()
	if s := w.m.byClaim[key.Claim]; s != nil && s.newest.token != nil {
		key.Claim, s.newest.token = s.newest.ID, claim.HashToken(key.Token)
	}
	w.m.mu.Unlock()
	return w.MemoryHandle.Release(ctx, key, out)
}

// forgetful lets the key of a claim expire, and with it all that it knew.
type forgetful struct{ *MemoryHandle }

func (w forgetful) Acquire(ctx context.Context, req claim.Request) (claim.Grant, error) {
	w.forget()
	return w.MemoryHandle.Acquire(ctx, req)
}

func (w forgetful) Renew(ctx context.Context, key claim.Key) (claim.Lease, error) {
	w.forget()
	return w.MemoryHandle.Renew(ctx, key)
}

func (w forgetful) Look(ctx context.Context, ref slot.Ref) (claim.Slot, error) {
	w.forget()
	return w.MemoryHandle.Look(ctx, ref)
}

func (w forgetful) forget() {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	for _, s := range w.m.slots {
		if c := s.newest; c != nil && !c.Ended && w.m.left(c) <= 0 {
			delete(w.m.byClaim, c.ID)
			s.newest = nil
		}
	}
}

// inName tells that a claim covers refs, and leaves their slots to anybody.
type inName struct{ *MemoryHandle }

func (w inName) Acquire(ctx context.Context, req claim.Request) (claim.Grant, error) {
	also := req.Covers()
	req.Also = nil
	g, err := w.MemoryHandle.Acquire(ctx, req)
	g.Claim.Also = also
	return g, err
}

// piecemeal first sees, one slot after another, whether it can have them all, and
// keeps what it has if the next cannot be had.
type piecemeal struct{ *MemoryHandle }

func (w piecemeal) Acquire(ctx context.Context, req claim.Request) (claim.Grant, error) {
	if req.Ticket != nil { // it is right about lines
		return w.MemoryHandle.Acquire(ctx, req)
	}
	var pieces []claim.Key
	for _, ref := range req.Covers() {
		one := req
		one.Ref, one.Also, one.Key, one.Kind, one.Run = ref, nil, claim.NewKey(ref), slot.Detached, ""
		if _, err := w.MemoryHandle.Acquire(ctx, one); err != nil {
			break
		}
		pieces = append(pieces, one.Key)
	}
	if len(pieces) == len(req.Covers()) {
		for _, key := range pieces {
			if _, err := w.Release(ctx, key, slot.Outcome{Result: slot.Done}); err != nil {
				return claim.Grant{}, err
			}
		}
	}
	return w.MemoryHandle.Acquire(ctx, req)
}
