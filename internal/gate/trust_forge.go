package gate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// askForge judges an event again, with what the forge says of its author, if it said
// nothing of him itself. It returns the event as it is known then.
func (g trust) askForge(ctx context.Context, a Ask, e slot.Event) (slot.Event, bool, error) {
	who := e.Facts.Actor
	if aboutFork(e) {
		who = e.Facts.Author
	} else if e.Facts.Bot || e.Facts.Association != "" {
		return e, false, nil
	}
	if k := a.Ref.Kind(); k != slot.RefIssue && k != slot.RefMerge || g.Facts == nil {
		return e, false, nil
	}
	q, none := ask(g.Facts, a)
	if none != "" {
		return e, false, nil
	}
	p, err := q.person(ctx, who, e)
	if errors.Is(err, forge.ErrUnsupported) {
		err = nil
	}
	if err != nil || p.Association == "" {
		return e, false, err
	}
	if aboutFork(e) { // whose code it is counts, not who reports the result
		e.Facts.Author = p.Login
		return e, g.author(p, nil), nil
	}
	e.Facts.Association, e.Facts.Bot = p.Association, p.Bot
	return e, g.trusts(e), nil
}

// person reads what the forge says of somebody where he wrote something: the thread
// itself, the comment or the review. Empty: it says nothing. With no login, who opened
// the thread is meant.
func (q about) person(ctx context.Context, login string, e slot.Event) (forge.Person, error) {
	t, err := q.thread(ctx)
	if err != nil {
		return forge.Person{}, err
	}
	is := func(p forge.Person) bool { return p.Association != "" && strings.EqualFold(p.Login, login) }
	if is(t.Author) || login == "" && aboutFork(e) {
		return t.Author, nil
	}
	switch e.Kind {
	case slot.Commented, slot.Command, slot.Mentioned:
		talk, err := q.comments(ctx)
		if i := slices.IndexFunc(talk.List, func(c forge.Comment) bool { return is(c.Author) }); i >= 0 {
			return talk.List[i].Author, err
		}
		return forge.Person{}, err
	case slot.Approved, slot.ChangesRequested, slot.ReviewComment:
		said, err := q.reviews(ctx)
		if i := slices.IndexFunc(said.Reviews, func(r forge.Review) bool { return is(r.Author) }); i >= 0 {
			return said.Reviews[i].Author, err
		}
		return forge.Person{}, err
	}
	return forge.Person{}, nil
}
