package claimtest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// coverTests: a claim that has the slots of other refs, too, as that of a pull
// request has those of the issues that it closes.
func coverTests() []test {
	return []test{
		{"Declared/Covers", func(b *bench) {
			s, lead := b.open(), b.lead(b.detached(b.ref(33)), 10)
			if b.caps.Covers {
				b.take(s, lead)
				return
			}
			if _, err := s.Acquire(b.ctx, lead); !errors.Is(err, slot.ErrConfig) {
				b.Errorf("a store that covers nothing: %v; want a configuration error", err)
			}
			b.take(s, b.detached(lead.Ref))
			b.take(s, b.detached(b.ref(10)))
		}},
		{"C09/ALeadHoldsWhatItCovers", covers(func(b *bench, s Store) {
			lead := b.lead(b.detached(b.ref(33)), 12, 10, 33, 11, 10)
			g := b.take(s, lead)
			if want := b.refs(10, 11, 12); !slices.Equal(g.Claim.Also, want) {
				b.Errorf("it covers %v; want %v, each once, in order", g.Claim.Also, want)
			}
			b.take(s, lead) // an answer may have been lost
			for range 3 {
				for _, ref := range g.Claim.Also {
					e := b.busy(b.open(), b.detached(ref), slot.ReasonHeld)
					if e.Claim.ID != g.Claim.ID || e.Claim.Ref != lead.Ref || !strings.Contains(e.Detail, lead.Ref.String()) {
						b.Errorf("%s is refused by %s of %s (%q); want the lead, and its ref", ref, e.Claim.ID, e.Claim.Ref, e.Detail)
					}
					if l := b.look(s, ref).Live(); l == nil || l.ID != g.Claim.ID || !slices.Equal(l.Also, g.Claim.Also) {
						b.Errorf("a look at %s shows %+v; want the lead", ref, l)
					}
				}
				b.pass(b.ttl / 2)
				b.renew(s, lead.Key)
			}
			if live, err := s.Live(b.ctx); err != nil || len(live) != 1 || !slices.Equal(live[0].Also, g.Claim.Also) {
				b.Errorf("live: %+v, %v; want the lead alone", live, err)
			}
			b.release(s, lead.Key)
			for _, ref := range g.Claim.Also {
				if l := b.look(s, ref).Live(); l != nil {
					b.Errorf("%s is held by %s after the end of the lead", ref, l.ID)
				}
				b.take(s, b.detached(ref))
			}
		})},
		{"C09/AllOrNone", covers(func(b *bench, s Store) {
			other := b.detached(b.ref(11))
			b.take(s, other)
			lead := b.lead(b.detached(b.ref(33)), 10, 11, 12)
			e := b.busy(s, lead, slot.ReasonHeld)
			if e.Claim.ID != other.Key.Claim || !strings.Contains(e.Detail, other.Ref.String()) {
				b.Errorf("refused by %s (%q); want %s, and its ref", e.Claim.ID, e.Detail, other.Key.Claim)
			}
			for _, n := range []int{10, 12, 33} { // it took none of them
				req := b.detached(b.ref(n))
				b.take(s, req)
				b.release(s, req.Key)
			}
			b.release(s, other.Key)
			b.take(s, lead)
		})},
		{"C09/LeadsThatMeet", covers(func(b *bench, s Store) {
			first := b.lead(b.detached(b.ref(33)), 10, 11)
			b.take(s, first)
			for _, req := range []claim.Request{
				b.lead(b.detached(b.ref(34)), 11, 12), b.lead(b.detached(b.ref(34)), 33), b.lead(b.detached(b.ref(10)), 12),
			} {
				if e := b.busy(s, req, slot.ReasonHeld); e.Claim.ID != first.Key.Claim {
					b.Errorf("%s and %v: refused by %s; want the lead", req.Ref, req.Also, e.Claim.ID)
				}
			}
			b.take(s, b.lead(b.detached(b.ref(34)), 12))
		})},
		{"P2/FencesGrowOverCovers", covers(fencesOverCovers)},
		{"C09/ADeadLeadIsSetAsideByWhatItCovered", covers(func(b *bench, s Store) {
			lead := b.lead(b.supervised(b.ref(33)), 10, 11)
			b.begin(s, lead)
			req := over(b.supervised(b.ref(10)), lead.Key.Claim, claim.Dead)
			if g := b.take(s, req); g.Displaced == nil || g.Displaced.ID != lead.Key.Claim || g.Displaced.Run != lead.Run {
				b.Errorf("displaced %+v; want the lead", g.Displaced)
			}
			_, err := s.Renew(b.ctx, lead.Key)
			b.wantLost("renew of the lead", err)
			_, err = s.Release(b.ctx, lead.Key, slot.Outcome{Result: slot.Done})
			b.wantLost("release of the lead", err)
			b.take(s, b.detached(b.ref(11)))
			b.take(s, b.detached(lead.Ref))
			// Its tree may be there still.
			b.unstopped(s, req.Key)
			b.openRuns(s, req.Ref, lead.Run, req.Run)
			b.gone(s, lead.Run)
			b.start(s, req.Key)
		})},
		{"C09/AnExpiredLeadIsNotInTheWay", covers(func(b *bench, s Store) {
			lead := b.lead(b.detached(b.ref(33)), 10, 11)
			b.take(s, lead)
			b.past(b.ttl)
			b.renew(s, lead.Key) // it is still the newest of all its slots
			b.busy(s, b.detached(b.ref(10)), slot.ReasonHeld)
			b.past(b.ttl)
			b.take(s, b.detached(b.ref(10)))
			_, err := s.Renew(b.ctx, lead.Key)
			b.wantLost("renew of the lead", err)
			b.take(s, b.detached(lead.Ref))
		})},
		{"C09/ALeadSetsAsideAllThatAreDead", covers(func(b *bench, s Store) {
			lead := b.lead(b.detached(b.ref(33)), 10, 11)
			for _, ref := range append(b.refs(33), lead.Also...) {
				dead := b.supervised(ref)
				b.begin(s, dead)
				d := claim.Displace{Claim: dead.Key.Claim, Why: claim.Dead}
				if lead.Displace == nil {
					lead.Displace = &d
				} else {
					b.busy(s, lead, slot.ReasonHeld)
					lead.Others = append(lead.Others, d)
				}
			}
			g := b.take(s, lead)
			if g.Displaced == nil || g.Displaced.Ref != lead.Ref {
				b.Errorf("displaced %+v; want that of its own slot first", g.Displaced)
			}
			if live, err := s.Live(b.ctx); err != nil || len(live) != 1 {
				b.Errorf("live: %+v, %v; want the lead alone", live, err)
			}
		})},
		{"P11/NoStartBesideATreeOfACoveredSlot", covers(func(b *bench, s Store) {
			first := b.supervised(b.ref(10))
			b.begin(s, first)
			lead := over(b.lead(b.supervised(b.ref(33)), 10), first.Key.Claim, claim.Dead)
			b.take(s, lead)
			b.unstopped(s, lead.Key)
			b.openRuns(s, lead.Ref, first.Run, lead.Run)
			// It dies in between; another lead of the same issue finds both.
			second := over(b.lead(b.supervised(b.ref(34)), 10), lead.Key.Claim, claim.Dead)
			b.take(s, second)
			b.gone(s, first.Run)
			b.unstopped(s, second.Key)
			b.openRuns(s, second.Ref, lead.Run, second.Run)
			b.gone(s, lead.Run)
			b.start(s, second.Key)
			b.release(s, second.Key)
			b.openRuns(s, b.ref(10))
		})},
		{"C09/AParkedLeadKeepsWhatItCovers", covers(func(b *bench, s Store) {
			lead := b.lead(b.supervised(b.ref(33)), 10)
			b.begin(s, lead)
			if _, err := s.Park(b.ctx, lead.Key, slot.Outcome{Result: slot.Waits}); err != nil {
				b.Fatalf("park: %v", err)
			}
			b.busy(s, b.detached(b.ref(10)), slot.ReasonHeld)
			back := over(b.lead(b.supervised(b.ref(33)), 10), lead.Key.Claim, claim.Resumed)
			b.begin(s, back)
			if e := b.busy(s, b.detached(b.ref(10)), slot.ReasonHeld); e.Claim.ID != back.Key.Claim {
				b.Errorf("held by %s; want the resumed lead", e.Claim.ID)
			}
		})},
		{"C09/AStopOfACoveredRefReachesTheLead", covers(func(b *bench, s Store) {
			lead := b.lead(b.supervised(b.ref(33)), 10)
			b.begin(s, lead)
			if _, err := s.AskStop(b.ctx, b.newest(s, b.ref(10)).ID, "enough"); err != nil {
				b.Fatalf("ask to stop: %v", err)
			}
			if l := b.renew(s, lead.Key); l.StopReason != "enough" {
				b.Errorf("lease %+v; want stopping", l)
			}
		})},
		{"P6/AHoldOfACoveredRefPausesItsLead", covers(func(b *bench, s Store) {
			other := b.parse("github.com/octo-org/another#10")
			lead := b.detached(b.ref(33))
			lead.Also = []slot.Ref{other}
			for _, scope := range []string{other.String(), other.Repo()} {
				b.hold(s, scope, "release week")
				if e := b.deferred(s, lead); e.Hold == nil || e.Hold.Scope != scope {
					b.Errorf("deferred by %+v; want the hold on %s", e.Hold, scope)
				}
				b.unhold(s, scope, true)
			}
			b.take(s, lead)
		})},
		{"P10/ACoveredRefTellsOfItsLead", covers(func(b *bench, s Store) {
			lead := b.lead(b.detached(b.ref(33)), 10)
			g := b.take(s, lead)
			b.busy(s, b.detached(b.ref(10)), slot.ReasonHeld)
			b.release(s, lead.Key)
			ds := b.decisions(s, b.ref(10))
			if len(ds) != 3 || ds[0].Verdict != slot.Proceed || ds[0].Reason != slot.ReasonCovered || ds[0].Fence != g.Claim.Fence ||
				ds[1].Verdict != slot.Defer || ds[2].Verdict != slot.Ended {
				b.Fatalf("decisions: %+v; want covered, deferred, ended", ds)
			}
			for _, d := range ds {
				if !strings.Contains(d.Detail, lead.Ref.String()) {
					b.Errorf("%+v does not name %s", d, lead.Ref)
				}
			}
		})},
		{"Usage/WhatCannotBeCovered", covers(func(b *bench, s Store) {
			req := b.detached(b.ref(1))
			req.Also = []slot.Ref{{}}
			_, err := s.Acquire(b.ctx, req)
			b.wantUsage("to cover no ref", err)
			req = b.detached(b.ref(1))
			for n := range claim.AlsoMax + 1 {
				req.Also = append(req.Also, b.ref(n+2))
			}
			_, err = s.Acquire(b.ctx, req)
			b.wantUsage("to cover too many", err)
			req.Also = req.Also[:claim.AlsoMax]
			b.take(s, req)
		})},
	}
}

// fencesOverCovers: a lead's fence is larger than all that its slots had, and theirs
// are larger afterwards, also when the wall clock was set back.
func fencesOverCovers(b *bench, s Store) {
	step := func(d time.Duration) {
		if b.h.Clock != nil && b.caps.BootTime { // else a step would move deadlines too
			b.h.Clock.StepWall(d)
		}
	}
	last := int64(0)
	next := func(what string, req claim.Request) {
		b.Helper()
		g := b.take(s, req)
		if g.Claim.Fence <= last {
			b.Errorf("fence %d of %s, %d before", g.Claim.Fence, what, last)
		}
		last = g.Claim.Fence
		b.release(s, req.Key)
	}
	step(time.Hour)
	next("the issue", b.detached(b.ref(10)))
	step(-2 * time.Hour)
	next("the lead", b.lead(b.detached(b.ref(33)), 10, 11))
	next("the issue", b.detached(b.ref(10)))
	next("another lead", b.lead(b.detached(b.ref(34)), 12, 10))
	last--
	next("what had no fence of its own", b.detached(b.ref(12)))
}

// covers is a test for stores that take several slots in one step.
func covers(f func(b *bench, s Store)) func(*bench) {
	return func(b *bench) {
		if s := b.open(); b.caps.Covers {
			f(b, s)
		}
	}
}

func (b *bench) refs(numbers ...int) (refs []slot.Ref) {
	for _, n := range numbers {
		refs = append(refs, b.ref(n))
	}
	return refs
}

// lead has a request cover refs.
func (b *bench) lead(req claim.Request, numbers ...int) claim.Request {
	req.Also = b.refs(numbers...)
	return req
}

func (b *bench) unstopped(s Store, key claim.Key) {
	b.Helper()
	_, err := s.Start(b.ctx, key)
	if e, ok := errors.AsType[*slot.BusyError](err); !ok || e.Reason != slot.ReasonUnstopped {
		b.Fatalf("start beside an earlier tree: %v; want busy (unstopped)", err)
	}
}

func (b *bench) openRuns(s Store, ref slot.Ref, want ...string) {
	b.Helper()
	runs, err := s.OpenRuns(b.ctx, ref)
	var got []string
	for _, r := range runs {
		got = append(got, r.ID)
	}
	if err != nil || !slices.Equal(got, want) {
		b.Errorf("open runs of %s: %v, %v; want %v", ref, got, err, want)
	}
}
