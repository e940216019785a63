package app

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/queue/queuetest"
	"github.com/oneslot/oneslot/internal/slot"
)

// A worker is not told of what a gate ended under its claim.
func TestC42_AWorkerIsNotToldOfWhatWasSkipped(t *testing.T) {
	q := queuetest.NewMemory(clock.NewManual(time.Unix(1e9, 0)))
	ref, err := slot.ParseRef("octo/hello#1", slot.Grammar{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, kind := range []slot.EventKind{slot.CIFailed, slot.Conflict} {
		done, err := q.Accept(t.Context(), queue.Arrival{Wishes: []queue.Wish{{
			Event: slot.Event{Ref: ref, Kind: kind}, Policies: []queue.Policy{{Rule: "fix"}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, done[0].Event.ID)
	}
	l, err := q.Begin(t.Context(), queue.Begin{Item: 1, Run: "run-1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Skip(t.Context(), l.Item.ID, "run-1", l.Last, ids[1:], slot.Decision{Reason: "trust"}); err != nil {
		t.Fatal(err)
	}
	a := &App{Queue: q}
	text, err := a.tell("run-1")(t.Context(), func(string, []byte) (string, error) { return "", nil })
	if err != nil {
		t.Fatal(err)
	}
	var told []struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(text, &told); err != nil || len(told) != 1 || told[0].ID != ids[0] {
		t.Errorf("told of %s, %v; want %s alone", text, err, ids[0])
	}
}
