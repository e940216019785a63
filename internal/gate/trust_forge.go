package gate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// askForge judges an event again, with what the forge says of who caused it, if it said
// nothing of him itself. It returns the event as it is known then.
func (g trust) askForge(ctx context.Context, a Ask, e slot.Event) (slot.Event, bool, error) {
	f := e.Facts
	if !aboutFork(e) && (f.Bot || f.Association != "") {
		return e, false, nil
	}
	if k := a.Ref.Kind(); k != slot.RefIssue && k != slot.RefMerge || g.Facts == nil {
		return e, false, nil
	}
	q, none := ask(g.Facts, a)
	if none != "" {
		return e, false, nil
	}
	if f.Actor == "" && act(e.Kind) {
		return g.askWho(ctx, q, e)
	}
	return g.askPerson(ctx, q, e)
}

// askWho asks the history whose act an event was.
func (g trust) askWho(ctx context.Context, q about, e slot.Event) (slot.Event, bool, error) {
	if q.kind == "gogs" && (e.Kind == slot.Labeled || e.Kind == slot.Assigned) {
		return e, true, nil // it keeps no history, and there both take the right to write, also of the author
	}
	by, err := q.actor(ctx, e)
	if err != nil {
		return e, false, err
	}
	if e.Facts.Actor = by.Login; by.Login == "" {
		// It was the author, or somebody with rights: if he is trusted, either will do.
		return g.askPerson(ctx, q, e)
	}
	e.Facts.Bot, e.Facts.App = by.Bot, by.App
	t, err := q.thread(ctx)
	if err != nil {
		return e, false, err
	}
	if e.Facts.Author = t.Author.Login; g.trusts(e) || by.Bot {
		return e, g.trusts(e), nil
	}
	return g.askPerson(ctx, q, e)
}

// askPerson asks who somebody is to the repository.
func (g trust) askPerson(ctx context.Context, q about, e slot.Event) (slot.Event, bool, error) {
	author := aboutFork(e) || e.Facts.Actor == "" && act(e.Kind)
	who := e.Facts.Actor
	if author {
		who = e.Facts.Author
	}
	p, err := q.person(ctx, who, e)
	if errors.Is(err, forge.ErrUnsupported) {
		err = nil
	}
	if err != nil || p.Login == "" {
		return e, false, err
	}
	if author {
		e.Facts.Author, e.Facts.Association = p.Login, p.Association
		return e, g.author(p, nil), nil
	}
	e.Facts.Association, e.Facts.Bot = p.Association, p.Bot
	return e, g.trusts(e), nil
}

// actor is who did last what an event tells of, by the thread's history; nobody if that
// does not say. One whose last word is that the thread was closed, or opened, before the
// event is behind, and names somebody else.
func (q about) actor(ctx context.Context, e slot.Event) (forge.Person, error) {
	h, ok := q.forge.(forge.Historian)
	if !ok {
		return forge.Person{}, nil
	}
	acts, err := q.look.acts.get(ctx, false, func(ctx context.Context) ([]forge.Act, error) { return h.Acts(ctx, q.Ref) })
	if errors.Is(err, forge.ErrUnsupported) {
		err = nil
	}
	var last forge.Act
	for _, a := range acts {
		is := a.Kind == e.Kind && (a.Kind != slot.Labeled || strings.EqualFold(a.What, e.Facts.Label))
		if (is || turns(a.Kind) && turns(e.Kind)) && !a.At.Before(last.At) {
			last = a
		}
	}
	if last.Kind != e.Kind {
		return forge.Person{}, err
	}
	return last.By, err
}

// turns reports whether a kind opens or closes a thread.
func turns(k slot.EventKind) bool {
	return k == slot.Closed || k == slot.Merged || k == slot.Reopened
}

// person reads what the forge says of somebody where he wrote something: the thread
// itself, the comment or the review. Empty: it says nothing. With no login, who opened
// the thread is meant.
func (q about) person(ctx context.Context, login string, e slot.Event) (forge.Person, error) {
	t, err := q.thread(ctx)
	if err != nil {
		return forge.Person{}, err
	}
	is := func(p forge.Person) bool {
		return login != "" && p.Association != "" && strings.EqualFold(p.Login, login)
	}
	if is(t.Author) || aboutFork(e) && login == "" || act(e.Kind) && e.Facts.Actor == "" {
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
