package claimtest

import (
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

func limitTests() []test {
	return []test{
		{"Declared/Limits", func(b *bench) {
			s := b.open()
			b.take(s, b.detached(b.ref(1)))
			req := b.detached(b.ref(2))
			req.Limits = claim.Limits{Running: 1}
			if !b.caps.Limits {
				b.take(s, req)
				return
			}
			b.limited(s, req, slot.ReasonCapacity)
		}},
		{"Limits/SoManyRun", limited(func(b *bench, s Store) {
			first, second := b.supervised(b.ref(1)), b.detached(b.ref(2))
			b.begin(s, first)
			b.take(s, second)
			req := b.supervised(b.parse("key:x"))
			req.Limits = claim.Limits{Running: 2}
			if e := b.limited(s, req, slot.ReasonCapacity); !strings.Contains(e.Detail, "2 of 2") {
				b.Errorf("%q does not say how many", e.Detail)
			}
			req.Limits.Running = 3
			b.take(s, req)
			b.release(s, req.Key)
			// What waits for a person gives its place to others.
			if _, err := s.Park(b.ctx, first.Key, slot.Outcome{Result: slot.Waits}); err != nil {
				b.Fatalf("park: %v", err)
			}
			req = b.supervised(b.parse("key:x"))
			req.Limits = claim.Limits{Running: 2}
			b.take(s, req)
			back := over(b.supervised(b.ref(1)), first.Key.Claim, claim.Resumed)
			back.Limits = req.Limits
			b.limited(s, back, slot.ReasonCapacity)
			b.release(s, req.Key)
			b.take(s, back)
		})},
		{"Limits/SoManyOfARepository", limited(func(b *bench, s Store) {
			b.take(s, b.detached(b.ref(1)))
			b.take(s, b.detached(b.parse("github.com/octo-org/octo-repo-2#1")))
			b.take(s, b.detached(b.parse("github.com/octo-org/octo-repo@main")))
			req := b.detached(b.ref(2))
			req.Limits = claim.Limits{PerRepo: 2}
			b.limited(s, req, slot.ReasonCapacity)
			req.Limits.PerRepo = 3
			b.take(s, req)
			for _, key := range []string{"key:a", "key:b"} { // keys have no repository
				req = b.detached(b.parse(key))
				req.Limits = claim.Limits{PerRepo: 1}
				b.take(s, req)
			}
		})},
		{"Limits/ItsOwnPlaceIsItsOwn", limited(func(b *bench, s Store) {
			old := b.detached(b.ref(1))
			b.take(s, old)
			req := over(b.detached(b.ref(1)), old.Key.Claim, claim.Forced)
			req.Limits = claim.Limits{Running: 1, PerRepo: 1}
			b.take(s, req)
			// Expired with nobody to be missed: it takes no place, though nobody took it.
			b.past(b.ttl)
			other := b.detached(b.ref(2))
			other.Limits = req.Limits
			b.take(s, other)
		})},
		{"Limits/APersonPassesThem", limited(func(b *bench, s Store) {
			b.take(s, b.detached(b.ref(1)))
			req := b.detached(b.ref(2))
			req.Limits, req.Head = claim.Limits{Running: 1, PerRepo: 1}, true
			b.take(s, req)
		})},
		{"Limits/HeldIsSaidFirst", limited(func(b *bench, s Store) {
			b.take(s, b.detached(b.ref(1)))
			req := b.detached(b.ref(1))
			req.Limits = claim.Limits{Running: 1}
			b.busy(s, req, slot.ReasonHeld)
		})},
		{"Limits/ARefThatRunsTooOften", limited(func(b *bench, s Store) {
			ask := func() claim.Request {
				req := b.supervised(b.ref(1))
				req.Limits = claim.Limits{PerRef: 2, Window: time.Hour}
				return req
			}
			once := func(start bool) {
				req := ask()
				b.take(s, req)
				if start {
					b.start(s, req.Key)
				}
				b.release(s, req.Key)
			}
			first := b.wall()
			once(true)
			once(false) // P6: what did not start is not counted
			once(false)
			b.pass(b.ttl)
			once(true)
			e := b.limited(s, ask(), slot.ReasonBreaker)
			if d := e.Until.Sub(first.Add(time.Hour)); d < -b.caps.Tick || d > b.ttl/2 {
				b.Errorf("another try is worth it at %v; want an hour after %v", e.Until, first)
			}
			b.take(s, b.supervised(b.ref(2)))
			if b.h.Clock != nil {
				b.h.Clock.Advance(time.Hour - b.ttl/2)
				once(true)
				b.limited(s, ask(), slot.ReasonBreaker)
			}
		})},
	}
}

// limited is a test for stores that count.
func limited(f func(b *bench, s Store)) func(*bench) {
	return func(b *bench) {
		if s := b.open(); b.caps.Limits {
			f(b, s)
		}
	}
}

// limited wants a refusal that is on record.
func (b *bench) limited(s Store, req claim.Request, reason string) *slot.DeferError {
	b.Helper()
	e := b.deferredFor(s, req, reason)
	if e.Detail == "" || e.Hold != nil {
		b.Fatalf("deferred by %+v; want %s with its evidence", e, reason)
	}
	ds := b.decisions(s, req.Ref)
	if len(ds) == 0 {
		b.Fatalf("the deferral is not on record")
	}
	d := ds[len(ds)-1]
	if d.Verdict != slot.Defer || d.Reason != reason || d.Detail == "" {
		b.Errorf("on record is %+v; want the deferral", d)
	}
	return e
}
