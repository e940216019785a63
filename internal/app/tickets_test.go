package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/names"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/queue/queuetest"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/ticket"
)

// shelf is a store of one slot, with a memory for tickets.
type shelf struct {
	Store
	live   atomic.Pointer[slot.Claim]
	memory map[string]string
}

func (s *shelf) Look(context.Context, slot.Ref) (claim.Slot, error) {
	return claim.Slot{Newest: s.live.Load()}, nil
}

func (s *shelf) Cursor(_ context.Context, key string) (string, error) { return s.memory[key], nil }

func (s *shelf) SetCursor(_ context.Context, key, text string) error {
	s.memory[key] = text
	return nil
}

// wall is a thread with labels, which can be ill.
type wall struct {
	ticket.Conversation
	fail   error
	gone   bool
	tries  int
	labels []string
	owner  string // for whom the last label was asked for
}

func (w *wall) AddLabel(ctx context.Context, _ slot.Ref, label string) error {
	w.tries++
	w.owner = transport.Owner(ctx)
	if w.fail == nil {
		w.labels = append(w.labels, label)
	}
	return w.fail
}

func (w *wall) RemoveLabel(context.Context, slot.Ref, string) error { return nil }

func (w *wall) Repo(context.Context, string) (forge.Repo, error) { return forge.Repo{ID: "1"}, nil }

func (w *wall) Thread(context.Context, slot.Ref) (forge.Thread, error) {
	if w.gone {
		return forge.Thread{}, w.fail
	}
	return forge.Thread{}, nil
}

// board shows the work on one ref, which waits.
func board(t *testing.T) (*tickets, *shelf, *wall, *clock.Manual, slot.Ref) {
	t.Helper()
	ref, err := slot.ParseCanonical("forge.test/octo/hello#1")
	if err != nil {
		t.Fatal(err)
	}
	clk := clock.NewManual(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC))
	s, w := &shelf{memory: map[string]string{}}, &wall{}
	q := queuetest.NewMemory(clk)
	_, err = q.Accept(t.Context(), queue.Arrival{Wishes: []queue.Wish{{
		Event: slot.Event{Ref: ref, Kind: slot.CIFailed}, Policies: []queue.Policy{{Rule: "fix"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	shown := &tickets{
		app: &App{Store: s, Queue: q, Clock: clk}, memory: s, log: slog.New(slog.DiscardHandler),
		show:    map[string]ticket.Ticket{"forge.test": {Form: ticket.AsLabel, Thread: w, Memory: s}},
		changed: map[slot.Ref]bool{}, poke: make(chan struct{}, 1), ended: make(chan struct{}), failing: map[slot.Ref]failing{},
	}
	return shown, s, w, clk, ref
}

// open lists the refs that are looked at after a restart.
func (s *shelf) open(t *testing.T) (refs []slot.Ref) {
	t.Helper()
	if text := s.memory[openKey]; text != "" {
		if err := json.Unmarshal([]byte(text), &refs); err != nil {
			t.Fatal(err)
		}
	}
	return refs
}

// A ticket that cannot be written is tried less and less often, and in the end not at
// all; one of a thread that is gone for an hour or so.
func TestTickets_WhatCannotBeWritten(t *testing.T) {
	shown, s, w, clk, ref := board(t)
	w.fail = &forge.Error{Kind: forge.ErrForbidden, Op: "label", Status: 403}
	day := func() (tries int) {
		was := w.tries
		for range 24 * 60 {
			shown.note(ref)
			shown.showAll(t.Context())
			clk.Advance(time.Minute)
		}
		return w.tries - was
	}
	if n := day(); n < 24 || n > 40 {
		t.Errorf("%d tries in the first day", n)
	}
	if len(s.open(t)) != 1 {
		t.Error("it is forgotten")
	}
	for range 7 * 24 {
		shown.showAll(t.Context())
		clk.Advance(time.Hour)
	}
	if len(s.open(t)) != 0 || shown.changed[ref] {
		t.Errorf("it is not given up: %d tries", w.tries)
	}

	shown, s, w, clk, ref = board(t)
	w.fail, w.gone = &forge.Error{Kind: forge.ErrNotFound, Op: "label", Status: 404}, true
	shown.note(ref)
	for range 30 {
		shown.showAll(t.Context())
		clk.Advance(time.Minute)
	}
	if len(s.open(t)) != 1 || !shown.changed[ref] {
		t.Error("what was out of sight for half an hour is forgotten")
	}
	for range 60 {
		shown.showAll(t.Context())
		clk.Advance(time.Minute)
	}
	if len(s.open(t)) != 0 || shown.changed[ref] {
		t.Errorf("of a thread that is gone: open %v", s.open(t))
	}
	if n := day(); n > 30 {
		t.Errorf("%d tries in the day after that", n)
	}
}

// moved is a store that knows under which names repositories are now.
type moved struct{ names.Store }

func (moved) Current(context.Context, string) (string, error) { return "forge.test/newcat/hello", nil }

// An app is asked as the one that is installed at the owner of now.
func TestTickets_OfATransferredRepository(t *testing.T) {
	shown, _, w, clk, ref := board(t)
	shown.app.Names = names.New(moved{}, clk)
	shown.note(ref)
	shown.showAll(t.Context())
	if len(w.labels) != 1 || w.owner != "newcat" {
		t.Errorf("%q for %q", w.labels, w.owner)
	}
}

// What another process changed is shown, though nobody told of it.
func TestTickets_NobodyTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shown, s, w, _, ref := board(t)
		ctx, end := context.WithCancel(t.Context())
		go shown.run(ctx, nil)
		s.live.Store(&slot.Claim{Ref: ref, Kind: slot.Waiting})
		shown.note(ref)
		time.Sleep(2 * showAfter)
		synctest.Wait()
		s.live.Store(nil)
		time.Sleep(compareEvery)
		synctest.Wait()
		if got := w.labels; len(got) != 2 || got[0] != "oneslot: needs a person" || got[1] != "oneslot: queued" {
			t.Errorf("%q", got)
		}
		end()
		<-shown.ended
	})
}

// A new configuration goes on with what the one before had not shown yet.
func TestTickets_OfTheConfigurationBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, _, _, _, ref := board(t)
		after, _, w, _, _ := board(t)
		ctx, end := context.WithCancel(t.Context())
		go before.run(ctx, nil)
		before.note(ref)
		synctest.Wait()
		end()
		ctx, end = context.WithCancel(t.Context())
		go after.run(ctx, before)
		time.Sleep(2 * showAfter)
		synctest.Wait()
		if len(w.labels) != 1 {
			t.Errorf("%q", w.labels)
		}
		end()
		<-after.ended
	})
}
