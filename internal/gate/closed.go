package gate

import (
	"context"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// NewClosed is the gate "closed": work on what is closed or merged is over, but for
// the events of the closing itself; a rule that asks for those wants to know of it.
//
// An issue that was moved to another repository is skipped as "moved to …", whatever
// is waiting: it has a slot of its own there. A repository that was renamed has moved
// nothing: the slot stays (the caller's aliases lead to it), only the name differs.
func NewClosed(f Facts) Gate {
	return fact{name: "closed", facts: f, judge: func(ctx context.Context, q about) (Answer, error) {
		t, err := q.thread(ctx)
		if err != nil {
			return Answer{}, err
		}
		moved, err := q.moved(ctx, t)
		if err != nil {
			return Answer{}, err
		}
		if moved {
			return skip("closed", "moved to "+t.Ref.String(), ""), nil
		}
		switch t.State {
		case forge.Open:
			return proceed("closed", "open", ""), nil
		case forge.Closed, forge.Merged:
			over := skip("closed", t.State, ending(t))
			return except(q.Ask, false, aboutTheEnd, over, proceed("closed", t.State, "and that is what was waited for")), nil
		}
		return unknown("closed", "the forge says "+t.State), nil
	}}
}

func aboutTheEnd(e slot.Event) bool { return e.Kind == slot.Closed || e.Kind == slot.Merged }

// ending says what is known of the end of a thread.
func ending(t forge.Thread) string {
	s := t.State
	if t.Reason != "" {
		s += " as " + t.Reason
	}
	return s + at(t.Closed)
}

// at says when, if that is known.
func at(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " at " + t.UTC().Format(time.RFC3339)
}

// moved reports whether a thread is in another repository than the one asked for. It
// was read under another name then; that may be no more than a new name of the same
// repository, which keeps the number, and to which the old name leads.
func (q about) moved(ctx context.Context, t forge.Thread) (bool, error) {
	if t.Ref.IsZero() || t.Ref.Repo() == q.Ref.Repo() && t.Ref.Number() == q.Ref.Number() {
		return false, nil
	}
	if t.Ref.Number() != q.Ref.Number() {
		return true, nil
	}
	repo, err := q.ownRepo(ctx)
	if err != nil {
		return false, err
	}
	if repo.ID != "" && t.RepoID != "" {
		return repo.ID != t.RepoID, nil
	}
	return repo.Name != t.Ref.Repo(), nil
}
