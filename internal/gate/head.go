package gate

import (
	"context"
	"fmt"
	"strings"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// NewHeadMoved is the gate "head_moved": results of checks and conflicts are about
// one commit, and are over when the head of the pull request is another. Whatever else
// is waiting goes on, and is told the head as it is.
func NewHeadMoved(f Facts) Gate {
	return fact{name: "head_moved", facts: f, judge: func(ctx context.Context, q about) (Answer, error) {
		t, err := q.thread(ctx)
		switch {
		case err != nil:
			return Answer{}, err
		case !t.Pull:
			return proceed("head_moved", "an issue", ""), nil
		case t.Head.Sha == "":
			return unknown("head_moved", "the forge names no head"), nil
		}
		now := "the head is " + t.Head.Sha
		moved := func(e slot.Event) bool {
			return aboutACommit(e) && e.Sha != "" && !strings.EqualFold(e.Sha, t.Head.Sha)
		}
		var old []string
		for _, e := range q.Events {
			if moved(e) {
				old = append(old, fmt.Sprintf("%s of %s", e.Kind, e.Sha))
			}
		}
		over := skip("head_moved", "another head", now+after(", not ", strings.Join(old, ", ")))
		return except(q.Ask, true, func(e slot.Event) bool { return !moved(e) }, over, proceed("head_moved", "the same head", now)), nil
	}}
}

// aboutACommit reports whether an event is about one commit, and not about the
// thread.
func aboutACommit(e slot.Event) bool {
	return e.Kind == slot.CIFailed || e.Kind == slot.CIPassed || e.Kind == slot.Conflict
}

// NewDraft is the gate "draft": a pull request that is not ready is left alone, unless
// a person asks for work on it. What runs already keeps its slot.
func NewDraft(f Facts) Gate {
	return fact{name: "draft", facts: f, judge: func(ctx context.Context, q about) (Answer, error) {
		t, err := q.thread(ctx)
		if err != nil {
			return Answer{}, err
		}
		if !t.Draft || t.State != forge.Open {
			return proceed("draft", "no draft", ""), nil
		}
		person := slot.Event{Path: q.Path}.Person()
		return except(q.Ask, person, asksForDrafts, skip("draft", "a draft", ""), proceed("draft", "asked for", "")), nil
	}}
}

func asksForDrafts(e slot.Event) bool {
	switch e.Kind {
	case slot.Command, slot.Manual, slot.Ready:
		return true
	}
	return e.Person()
}
