package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/api"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/intake/poll"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/queue/queuetest"
	"github.com/oneslot/oneslot/internal/slot"
)

// C28: a check that names no pull request is one event, whoever wants it; what
// comes with it in one delivery keeps its place.
func TestC28_ResultsInOrder(t *testing.T) {
	ref, err := slot.ParseCanonical("github.com/octo/hello#1")
	if err != nil {
		t.Fatal(err)
	}
	rules := []queue.Policy{{Rule: "a"}, {Rule: "b"}}
	results, kept := inOrder([]queue.Wish{
		{Event: slot.Event{Repo: "github.com/octo/hello", Sha: "1"}, Policies: rules},
		{Event: slot.Event{Ref: ref}, Policies: rules},
		{Event: slot.Event{Ref: ref}, Ignored: "nobody"},
	}, []queue.Accepted{
		{Event: slot.Event{ID: "e1"}, Intake: slot.Queued},
		{Intake: slot.Duplicate, Of: "e0"},
		{Event: slot.Event{ID: "e2"}, Intake: slot.Queued},
		{Intake: slot.Ignored, Reason: "nobody"},
	})
	if !kept || len(results) != 3 {
		t.Fatalf("%+v, kept %v", results, kept)
	}
	for i, want := range []string{"e1", "e2", ""} {
		if results[i].ID != want {
			t.Errorf("result %d is about %q, want %q", i, results[i].ID, want)
		}
	}
}

// A condition that is still so after the last attempt is told of when its work is given
// up, and not again for what comes to it later.
func TestPollingTellsOfWhatIsGivenUp(t *testing.T) {
	ref, err := slot.ParseCanonical("github.com/octo/hello#1")
	if err != nil {
		t.Fatal(err)
	}
	cfg := &config.Config{Rules: make([]config.Rule, 1)}
	r := &cfg.Rules[0]
	r.Name.V, r.On.V, r.Run.V, r.Attempts.V, r.Again.V = "fix", []slot.EventKind{slot.CIFailed}, []string{"true"}, 1, time.Minute
	clk := clock.NewManual(time.Unix(1e9, 0))
	q := queuetest.NewMemory(clk)
	var log bytes.Buffer
	d := found{newDesk(q, nil, nil, func() *config.Config { return cfg }), api.NewFeed(clk.Wall), slog.New(slog.NewTextHandler(&log, nil))}
	tell := func(mark string) int {
		t.Helper()
		e := slot.Event{Path: slot.PathPoll, Repo: ref.Repo(), Ref: ref, Kind: slot.CIFailed, Sha: "aaaa", Fingerprint: mark}
		if err := d.Accept(t.Context(), []poll.Found{{Event: e, Condition: true}}); err != nil {
			t.Fatal(err)
		}
		return strings.Count(log.String(), `msg="given up" ref=github.com/octo/hello#1 rule=fix attempts=1`)
	}
	tell("one")
	items, err := q.Items(t.Context(), queue.Filter{})
	if err != nil || len(items) != 1 {
		t.Fatalf("%+v, %v", items, err)
	}
	if _, err := q.Begin(t.Context(), queue.Begin{Item: items[0].ID, Run: "run-1", Policy: items[0].Policy}); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Settle(t.Context(), "run-1", slot.Outcome{Result: slot.Done}); err != nil {
		t.Fatal(err)
	}
	clk.Advance(time.Hour)
	if n := tell("one"); n != 1 {
		t.Errorf("told %d times: %s", n, log.String())
	}
	clk.Advance(time.Hour)
	if n := tell("two"); n != 1 { // another result at the same head: a dead letter more
		t.Errorf("told %d times: %s", n, log.String())
	}
}
