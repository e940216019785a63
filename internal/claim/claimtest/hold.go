package claimtest

import (
	"errors"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

func holdTests() []test {
	return []test{
		{"P6/AHoldPausesRefOrRepository", func(b *bench) {
			s, ref := b.open(), b.ref(1)
			for _, scope := range []string{ref.String(), ref.Repo()} {
				b.hold(s, scope, "release week")
				req := b.detached(ref)
				e := b.deferred(b.open(), req)
				if e.Hold == nil || e.Hold.Scope != scope || e.Hold.Reason != "release week" || e.Hold.By != "alice" {
					b.Errorf("deferred by %+v; want the hold on %s", e.Hold, scope)
				}
				if l := b.look(s, ref); l.Hold == nil || l.Hold.Scope != scope || l.Live() != nil {
					b.Errorf("a look shows %+v; want the hold and no claim", l)
				}
				b.unhold(s, scope, true)
				b.take(s, req)
				b.release(s, req.Key)
			}
		}},
		{"P6/AHoldPausesNothingElse", func(b *bench) {
			s := b.open()
			b.hold(s, b.ref(1).String(), "x")
			b.take(s, b.detached(b.ref(2)))
			b.take(s, b.detached(b.ref(11)))
			b.hold(s, "github.com/octo-org/octo", "x")
			b.take(s, b.detached(b.ref(3)))
			b.take(s, b.detached(b.parse("key:github.com/octo-org/octo")))
		}},
		{"P6/AForcedClaimDoesNotPassAHold", func(b *bench) {
			s, req := b.open(), b.detached(b.ref(1))
			b.take(s, req)
			b.hold(s, req.Ref.String(), "x")
			forced := over(b.detached(req.Ref), req.Key.Claim, claim.Forced)
			forced.Head = true
			b.unchanged(s, req.Ref, func() { b.deferred(s, forced) })
			b.renew(s, req.Key) // the holder goes on
			b.release(s, req.Key)
			b.deferred(s, forced)
		}},
		{"P6/HoldsAreListedReplacedAndEnded", func(b *bench) {
			s, scope := b.open(), b.ref(1).String()
			b.unhold(s, scope, false)
			b.hold(s, scope, "first")
			b.hold(s, scope, "second")
			holds, err := b.open().Holds(b.ctx)
			if err != nil || len(holds) != 1 || holds[0].Reason != "second" || holds[0].Scope != scope {
				b.Errorf("holds %+v, %v; want one, because \"second\"", holds, err)
			}
			b.unhold(s, scope, true)
			b.unhold(s, scope, false)
			if holds, err := s.Holds(b.ctx); err != nil || len(holds) != 0 {
				b.Errorf("holds %+v, %v; want none", holds, err)
			}
		}},
		{"P6/UnholdWakesTheHead", func(b *bench) {
			s, holder, line := b.line(1)
			b.hold(s, holder.Ref.Repo(), "x")
			b.release(s, holder.Key)
			if b.caps.Notifies {
				select { // the release may have woken it already
				case <-line[0].wake:
				default:
				}
			}
			if e := b.deferred(line[0].s, line[0].Request); e.Place == nil || e.Place.Ahead != 0 {
				b.Errorf("place %+v; want the head's", e.Place)
			}
			b.past(2 * b.opt.Turn) // a turn counts from the end of the hold
			b.unhold(s, holder.Ref.Repo(), true)
			b.poked("the head, after the hold", line[0].wake)
			b.busy(s, b.detached(holder.Ref), slot.ReasonLine)
			b.take(s, line[0].Request)
		}},
	}
}

func (b *bench) hold(s Store, scope, reason string) {
	b.Helper()
	// C22: whatever zone a time comes with, it is the same moment afterwards.
	at := b.wall().Truncate(time.Millisecond).In(time.FixedZone("", 5*3600+1800))
	if err := s.Hold(b.ctx, slot.Hold{Scope: scope, Reason: reason, By: "alice", At: at}); err != nil {
		b.Fatalf("hold: %v", err)
	}
	holds, err := s.Holds(b.ctx)
	if err != nil {
		b.Fatalf("holds: %v", err)
	}
	for _, h := range holds {
		if h.Scope == scope && (!h.At.Equal(at) || h.At.Location() != time.UTC) {
			b.Errorf("hold at %v; want %v", h.At, at.UTC())
		}
	}
}

func (b *bench) unhold(s Store, scope string, want bool) {
	b.Helper()
	if was, err := s.Unhold(b.ctx, scope); err != nil || was != want {
		b.Errorf("unhold: %v, %v; want %v", was, err, want)
	}
}

func (b *bench) deferred(s Store, req claim.Request) *slot.DeferError {
	b.Helper()
	return b.deferredFor(s, req, slot.ReasonHold)
}

func (b *bench) deferredFor(s Store, req claim.Request, reason string) *slot.DeferError {
	b.Helper()
	g, err := s.Acquire(b.ctx, req)
	e, ok := errors.AsType[*slot.DeferError](err)
	if !ok {
		b.Fatalf("acquire %s: fence %d, %v; want deferred (%s)", req.Ref, g.Claim.Fence, err, reason)
	}
	if e.Reason != reason || e.Ref != req.Ref {
		b.Errorf("deferred %s with reason %q; want %s, %q", e.Ref, e.Reason, req.Ref, reason)
	}
	return e
}
