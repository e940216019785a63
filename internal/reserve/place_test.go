package reserve

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// C40: hosts that know one repository by different names exclude each other, before,
// while and after one of them hears of the new name.
func TestC40_ARenamedRepositoryIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		ann, bob := th.reserver(t, "ann"), th.reserver(t, "bob")
		if _, err := ann.Take(t.Context(), ask(t, "c1")); err != nil {
			t.Fatal(err)
		}
		anew, err := slot.ParseCanonical(host + "/octo/anew#7")
		if err != nil {
			t.Fatal(err)
		}
		a := Ask{Ref: anew, Claim: "c2", Path: slot.PathPoll}
		var busy *BusyError
		for range 3 {
			if _, err := bob.Take(t.Context(), a); !errors.As(err, &busy) || busy.By.Login != "ann" || len(busy.Suspicious) > 0 {
				t.Fatalf("under the new name: %v, %+v", err, busy)
			}
			if by, err := bob.Peek(t.Context(), anew); err != nil || by.Login != "ann" {
				t.Errorf("a look under the new name: %v, %v", by, err)
			}
			time.Sleep(defaultTTL / 3)
			if err := ann.Tend(t.Context(), lives); err != nil { // under the old name
				t.Fatal(err)
			}
		}
		if err := ann.End(t.Context(), "c1", End{}); err != nil {
			t.Fatal(err)
		}
		if _, err := bob.Take(t.Context(), a); err != nil {
			t.Errorf("when it is over: %v", err)
		}
	})
}

// A forge that tells no ids has its names; one that tells neither is not known.
func TestPlace(t *testing.T) {
	ref := issue(t)
	for name, good := range map[string]bool{
		"name": placeOf(ref, forge.Repo{Name: "a"}) != placeOf(ref, forge.Repo{Name: "b"}),
		"id":   placeOf(ref, forge.Repo{ID: "1", Name: "a"}) == placeOf(ref, forge.Repo{ID: "1", Name: "b"}),
	} {
		if !good {
			t.Error(name)
		}
	}
	if placeOf(ref, forge.Repo{ID: "a"}) == placeOf(ref, forge.Repo{Name: "a"}) {
		t.Error("an id is no name")
	}
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		th.noIDs = true
		if _, err := th.reserver(t, "ann").Take(t.Context(), ask(t, "c1")); err != nil {
			t.Error(err)
		}
		var busy *BusyError
		if _, err := th.reserver(t, "bob").Take(t.Context(), ask(t, "c2")); !errors.As(err, &busy) {
			t.Error(err)
		}
	})
}

// P8: a repository that cannot be read is unknown, and nothing is posted.
func TestUnknownRepository(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		th.fault = faulty("repo", &forge.Error{Op: "repo", Kind: forge.ErrNotFound, Status: 404})
		if _, err := th.reserver(t, "ann").Take(t.Context(), ask(t, "c1")); !errors.Is(err, slot.ErrUnknown) {
			t.Error(err)
		}
		if _, err := th.reserver(t, "ann").Peek(t.Context(), issue(t)); !errors.Is(err, slot.ErrUnknown) {
			t.Error(err)
		}
		wantBodies(t, th)
	})
}

// A look sees others, posted or at work, and not what this folder left; it writes
// nothing.
func TestPeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThread()
		ann, bob := th.reserver(t, "ann"), th.reserver(t, "bob")
		if by, err := ann.Peek(t.Context(), issue(t)); err != nil || by.Comment != 0 {
			t.Errorf("nobody is there: %v, %v", by, err)
		}
		if _, err := ann.Take(t.Context(), ask(t, "c1")); err != nil {
			t.Fatal(err)
		}
		posts, edits := th.count("post"), th.count("edit")
		if by, err := bob.Peek(t.Context(), issue(t)); err != nil || by.Marker.Host != "host-ann" {
			t.Errorf("ann is there: %v, %v", by, err)
		}
		if by, err := ann.Peek(t.Context(), issue(t)); err != nil || by.Comment != 0 {
			t.Errorf("that is ourselves: %v, %v", by, err)
		}
		th.fault = faulty("list", &forge.Error{Op: "list", Status: 500})
		if _, err := bob.Peek(t.Context(), issue(t)); !errors.Is(err, slot.ErrUnknown) {
			t.Error(err)
		}
		if th.count("post") != posts || th.count("edit") != edits {
			t.Error("it wrote")
		}
	})
}
