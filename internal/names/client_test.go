package names

import (
	"context"
	"errors"
	"testing"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
)

// halfList is a client that can list only some repositories.
type halfList struct {
	Forge
	failed error
}

func (c halfList) Repos(context.Context, []string) ([]forge.Repo, error) {
	return []forge.Repo{{ID: "1", Name: "h/o/new"}, {ID: "2", Name: "h/o/odd"}, {ID: "3", Name: "h/o/other"}}, c.failed
}

// oldNames is a store that knows repositories by older names.
type oldNames struct{ Store }

var errNames = errors.New("the store cannot be read")

func (oldNames) Alias(_ context.Context, _, id, name string) (string, error) {
	switch id {
	case "1":
		return "h/o/old", nil
	case "2":
		return "", errNames
	}
	return name, nil
}

// What could be listed has the names of its slots, whatever failed beside it.
func TestClient_ReposWithAnError(t *testing.T) {
	clk, err := clock.System()
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("one owner cannot be read")
	n := New(oldNames{}, clk).Client("h", halfList{failed: failed})
	list, err := n.Repos(t.Context(), nil)
	if !errors.Is(err, failed) || !errors.Is(err, errNames) {
		t.Error(err)
	}
	if len(list) != 2 || list[0].Slots != "h/o/old" || list[1].Slots != "h/o/other" {
		t.Errorf("%+v", list)
	}
}

// known is a store to which nothing may be written.
type known struct{ Store }

func (known) Known(_ context.Context, _, id string) (string, error) {
	return map[string]string{"1": "h/o/old"}[id], nil
}

func (known) Canonical(_ context.Context, repo string) (string, error) { return repo, nil }

// Whoever only looks is told the names, and notes none.
func TestLooking_NotesNothing(t *testing.T) {
	clk, err := clock.System()
	if err != nil {
		t.Fatal(err)
	}
	n := New(known{}, clk).Looking()
	for id, want := range map[string]string{"1": "h/o/old", "2": "h/o/new"} {
		if got, err := n.Alias(t.Context(), "h", id, "h/o/new"); err != nil || got != want {
			t.Errorf("repository %s: %s, %v; want %s", id, got, err, want)
		}
	}
}
