package app

import (
	"testing"

	"github.com/oneslot/oneslot/internal/queue"
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
