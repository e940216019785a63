package claimtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Interleave checks P1 and P2 over random orders of claims that cover refs and claims
// of those refs. It is for backends whose time a test can move.
func Interleave(t *testing.T, open func(testing.TB, Options) Harness) {
	rapid.Check(t, interleaved(t, open))
}

func interleaved(t testing.TB, open opener) func(*rapid.T) {
	return func(rt *rapid.T) {
		w := &world{T: rt, ctx: context.Background(), fences: map[slot.Ref]int64{}}
		w.h = open(t, Options{})
		var err error
		w.s, err = w.h.Open()
		w.fatal("open", err)
		defer w.s.Close()
		for n := range 4 {
			ref, err := slot.ParseCanonical(fmt.Sprintf("github.com/octo/hello#%d", n+1))
			w.fatal("ref", err)
			w.refs = append(w.refs, ref)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"":         func(rt *rapid.T) { w.T = rt; w.check() },
			"claim":    func(rt *rapid.T) { w.T = rt; w.claim(false) },
			"displace": func(rt *rapid.T) { w.T = rt; w.claim(true) },
			"release":  func(rt *rapid.T) { w.T = rt; w.end(w.release) },
			"renew":    func(rt *rapid.T) { w.T = rt; w.end(w.renew) },
			"time": func(rt *rapid.T) {
				w.h.Clock.Advance(time.Duration(rapid.IntRange(1, 4000).Draw(rt, "ms")) * time.Millisecond)
			},
			"clock": func(rt *rapid.T) {
				w.h.Clock.StepWall(time.Duration(rapid.IntRange(-60, 60).Draw(rt, "s")) * time.Second)
			},
		})
	}
}

// world is what the test knows by itself: who was granted what, and has not heard of
// its end.
type world struct {
	*rapid.T
	ctx    context.Context
	h      Harness
	s      Store
	refs   []slot.Ref
	mine   []holding
	fences map[slot.Ref]int64
}

// holding is a claim as its owner knows it.
type holding struct {
	key   claim.Key
	slots []slot.Ref
	until time.Duration // its owner does not count on it for longer
}

func (w *world) fatal(what string, err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("%s: %v", what, err)
	}
}

const holdingTTL = 2 * time.Second

func (w *world) claim(displace bool) {
	ref := rapid.SampledFrom(w.refs).Draw(w.T, "ref")
	req := claim.Request{Ref: ref, Key: claim.NewKey(ref), Kind: slot.Detached, TTL: holdingTTL, Holder: slot.Holder{Path: "manual"}}
	for _, other := range w.refs {
		if rapid.IntRange(0, 2).Draw(w.T, "also") == 0 {
			req.Also = append(req.Also, other)
		}
	}
	if displace { // some of those in the way
		for _, slotOf := range append([]slot.Ref{ref}, req.Also...) {
			l, err := w.s.Look(w.ctx, slotOf)
			w.fatal("look", err)
			if c := l.Live(); c != nil && rapid.Bool().Draw(w.T, "its holder") {
				req.Others = append(req.Others, claim.Displace{Claim: c.ID, Why: claim.Forced})
			}
		}
	}
	g, err := w.s.Acquire(w.ctx, req)
	now, slots := w.h.Clock.Boot(), append([]slot.Ref{ref}, req.Covers()...)
	var inTheWay []holding
	for _, h := range w.mine {
		if now < h.until && slices.ContainsFunc(slots, func(r slot.Ref) bool { return slices.Contains(h.slots, r) }) && req.Displaces(h.key.Claim) == nil {
			inTheWay = append(inTheWay, h)
		}
	}
	if err != nil {
		busy, ok := errors.AsType[*slot.BusyError](err)
		if !ok || !slices.ContainsFunc(inTheWay, func(h holding) bool { return h.key.Claim == busy.Claim.ID }) {
			w.Fatalf("P9: %v is refused: %v; in the way are %v", slots, err, inTheWay)
		}
		return
	}
	if len(inTheWay) > 0 {
		w.Fatalf("P1: %v was granted beside %v", slots, inTheWay)
	}
	for _, r := range slots {
		if g.Claim.Fence <= w.fences[r] {
			w.Fatalf("P2: fence %d of %s after %d", g.Claim.Fence, r, w.fences[r])
		}
		w.fences[r] = g.Claim.Fence
	}
	// Whoever had any of these slots has lost all of its own.
	w.mine = slices.DeleteFunc(w.mine, func(h holding) bool {
		gone := slices.ContainsFunc(slots, func(r slot.Ref) bool { return slices.Contains(h.slots, r) })
		if gone {
			if _, err := w.s.Renew(w.ctx, h.key); !errors.Is(err, slot.ErrLost) {
				w.Fatalf("P3: %v was set aside and renews: %v", h.slots, err)
			}
		}
		return gone
	})
	w.mine = append(w.mine, holding{req.Key, slots, now + holdingTTL})
}

// end draws a holding for what its owner does with it.
func (w *world) end(f func(int)) {
	if len(w.mine) == 0 {
		w.Skip("nobody holds anything")
	}
	f(rapid.IntRange(0, len(w.mine)-1).Draw(w.T, "holding"))
}

func (w *world) release(i int) {
	_, err := w.s.Release(w.ctx, w.mine[i].key, slot.Outcome{Result: slot.Done})
	w.fatal("release", err)
	w.mine = slices.Delete(w.mine, i, i+1)
}

func (w *world) renew(i int) {
	_, err := w.s.Renew(w.ctx, w.mine[i].key)
	w.fatal("renew", err) // also when it expired: it is the newest of all its slots
	w.mine[i].until = w.h.Clock.Boot() + holdingTTL
}

// check is P1: a look at any slot of a holding tells of that, and no slot has two.
func (w *world) check() {
	has := map[slot.Ref]string{}
	for _, h := range w.mine {
		for _, r := range h.slots {
			if has[r] != "" {
				w.Fatalf("P1: %s has two holders", r)
			}
			has[r] = h.key.Claim
		}
	}
	for _, r := range w.refs {
		l, err := w.s.Look(w.ctx, r)
		w.fatal("look", err)
		got := ""
		if c := l.Live(); c != nil {
			got = c.ID
		}
		if got != has[r] {
			w.Fatalf("P1: a look at %s tells of %q; want %q", r, got, has[r])
		}
	}
}
