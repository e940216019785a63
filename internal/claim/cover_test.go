package claim_test

import (
	"errors"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/claim/claimtest"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

func parse(t *testing.T, text string) slot.Ref {
	t.Helper()
	r, err := slot.ParseCanonical(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// C09: a pull request that closes several issues, all of them held by the dead; and by
// a run that it is part of itself, which is in nobody's way.
func TestC09_WhatIsInTheWayOfALead(t *testing.T) {
	clk := clock.NewManual(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC))
	s := claimtest.NewMemory(clk, claimtest.Options{}).Open()
	ask := func(ref slot.Ref, pid int) claim.Request {
		run := claim.NewID()
		return claim.Request{Ref: ref, Key: claim.NewKey(ref), Kind: slot.Supervised, Run: run, TTL: time.Minute,
			Holder: slot.Holder{Path: "manual", Process: slot.Process{Boot: clk.BootID(), NS: 1, PID: pid, Ticks: 1}}}
	}
	refs := []slot.Ref{parse(t, "github.com/o/r#10"), parse(t, "github.com/o/r#11"), parse(t, "github.com/o/r#12")}
	runs := map[int]string{}
	for i, ref := range refs {
		req := ask(ref, i+1)
		if i == 2 {
			req.Holder.Process.PID = alivePID
		}
		if _, err := s.Acquire(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		runs[i] = req.Run
	}
	lead := ask(parse(t, "github.com/o/r#33"), alivePID)
	lead.Also = refs
	taker := &claim.Taker{Store: s, Sight: onlyOneLives{}, Clock: clk}
	_, err := taker.Take(t.Context(), lead)
	var busy *slot.BusyError
	if !errors.As(err, &busy) || busy.Claim.Ref != refs[2] || busy.Detail == "" {
		t.Fatalf("beside a living run of %s: %v", refs[2], err)
	}
	taker.Inside = []string{runs[2]}
	g, err := taker.Take(t.Context(), lead)
	if err != nil || len(g.Claim.Also) != 2 {
		t.Fatalf("inside that run: %+v, %v; want the others", g.Claim, err)
	}
	// The slot that it asks for itself is another matter.
	own := ask(refs[2], alivePID)
	if _, err := taker.Take(t.Context(), own); !errors.As(err, &busy) || busy.Reason != slot.ReasonInside {
		t.Errorf("its own run's slot: %v; want inside", err)
	}
}

const alivePID = 4711

type onlyOneLives struct{}

func (onlyOneLives) Life(p slot.Process) (claim.Life, string) {
	if p.PID == alivePID {
		return claim.Alive, ""
	}
	return claim.Gone, "it is gone"
}

func (onlyOneLives) Watch(slot.Process) (<-chan struct{}, func(), error) {
	return make(chan struct{}), func() {}, nil
}
