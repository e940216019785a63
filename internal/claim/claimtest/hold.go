package claimtest

import (
	"errors"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

func holdTests() []test {
	return []test{
		{"P6/AHoldPausesRefOrRepositoryOrEverything", func(b *bench) {
			s, ref := b.open(), b.ref(1)
			for _, scope := range []string{ref.String(), ref.Repo(), slot.Everything} {
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
		{"P6/AHoldOnEverythingPausesKeysToo", func(b *bench) {
			s := b.open()
			b.hold(s, slot.Everything, "x")
			for _, ref := range []slot.Ref{b.parse("key:nightly"), b.parse("gitlab.com/g/s/p!1"), b.parse("github.com/octo-org/octo-repo@main:build")} {
				if e := b.deferred(s, b.supervised(ref)); e.Hold == nil || e.Hold.Scope != slot.Everything {
					b.Errorf("%s is deferred by %+v; want the hold on everything", ref, e.Hold)
				}
			}
			b.unhold(s, slot.Everything, true)
			b.take(s, b.detached(b.parse("key:nightly")))
		}},
		{"P6/TheNarrowestHoldIsNamedAndEachEndsAlone", func(b *bench) {
			s, req := b.open(), b.detached(b.ref(1))
			scopes := []string{req.Ref.String(), req.Ref.Repo(), slot.Everything}
			for _, scope := range scopes {
				b.hold(s, scope, "x")
			}
			for _, scope := range scopes {
				if e := b.deferred(s, req); e.Hold == nil || e.Hold.Scope != scope {
					b.Errorf("deferred by %+v; want the hold on %s", e.Hold, scope)
				}
				if l := b.look(s, req.Ref); l.Hold == nil || l.Hold.Scope != scope {
					b.Errorf("a look shows the hold %+v; want that on %s", l.Hold, scope)
				}
				b.unhold(s, scope, true)
			}
			b.take(s, req)
			b.release(s, req.Key)
			b.hold(s, scopes[0], "x")
			b.hold(s, slot.Everything, "x")
			b.unhold(s, slot.Everything, true)
			if e := b.deferred(s, b.detached(req.Ref)); e.Hold == nil || e.Hold.Scope != scopes[0] {
				b.Errorf("deferred by %+v; want the ref's own hold", e.Hold)
			}
		}},
		{"P6/OnHoldAClaimIsEndedButNotReplaced", func(b *bench) {
			s, req := b.open(), b.detached(b.ref(1))
			ending := func(id string) claim.Request {
				r := over(b.detached(req.Ref), id, claim.Ended)
				r.Head, r.Bound = true, true
				return r
			}
			old := b.take(s, req).Claim
			b.hold(s, slot.Everything, "x")
			b.deferred(s, ending(claim.NewKey(req.Ref).Claim)) // of another claim
			unbound := ending(old.ID)
			unbound.Bound = false
			if _, err := s.Acquire(b.ctx, unbound); !errors.Is(err, slot.ErrUsage) {
				b.Errorf("a claim that goes on, in place of another on hold: %v; want a usage error", err)
			}
			b.renew(s, req.Key) // nothing happened to it
			end := ending(old.ID)
			if g := b.take(s, end); g.Displaced == nil || g.Displaced.ID != old.ID {
				b.Errorf("displaced %+v; want %s", g.Displaced, old.ID)
			}
			b.release(s, end.Key)
			b.deferred(s, ending(old.ID)) // it is free, and stays so
			b.deferred(s, b.detached(req.Ref))
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
		{"P6/UnholdWakesTheHead", func(b *bench) { b.unholdWakes(slot.Ref.Repo) }},
		{"P6/UnholdOfEverythingWakesTheHead", func(b *bench) { b.unholdWakes(func(slot.Ref) string { return slot.Everything }) }},
	}
}

func (b *bench) unholdWakes(scope func(slot.Ref) string) {
	s, holder, line := b.line(1)
	b.hold(s, scope(holder.Ref), "x")
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
	b.unhold(s, scope(holder.Ref), true)
	b.poked("the head, after the hold", line[0].wake)
	b.busy(s, b.detached(holder.Ref), slot.ReasonLine)
	b.take(s, line[0].Request)
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
