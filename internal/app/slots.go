package app

import (
	"context"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/slot"
)

// Slots are the slots of refs that may be written with any name that their
// repositories have or had.
func (a *App) Slots(ctx context.Context, refs []slot.Ref) ([]slot.Ref, error) {
	list := make([]slot.Ref, len(refs))
	for i, ref := range refs {
		repo, err := a.slots(ctx, ref.Repo())
		if err != nil {
			return nil, err
		}
		if list[i], err = renamed(ref, repo); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Ref reads a ref that somebody wrote, and gives its slot. Nothing is written.
func (a *App) Ref(ctx context.Context, word string) (slot.Ref, error) {
	ref, err := slot.ParseRef(word, a.Grammar(ctx))
	if err != nil {
		return ref, err
	}
	repo, err := a.looking().slots(ctx, ref.Repo())
	if err != nil {
		return ref, err
	}
	return renamed(ref, repo)
}

// Scope reads what a hold is about: a ref, a repository or everything. Nothing is
// written.
func (a *App) Scope(ctx context.Context, word string) (string, error) {
	scope, err := slot.ParseScope(word, a.Grammar(ctx))
	if err != nil || scope == slot.Everything {
		return scope, err
	}
	if _, err := slot.ParseCanonical(scope); err == nil {
		ref, err := a.Ref(ctx, scope)
		return ref.String(), err
	}
	return a.looking().slots(ctx, scope)
}

func renamed(ref slot.Ref, repo string) (slot.Ref, error) {
	if repo == ref.Repo() {
		return ref, nil
	}
	return ref.In(repo)
}

// slots is the name under which the slots of a repository are kept.
func (a *App) slots(ctx context.Context, repo string) (string, error) {
	if repo == "" {
		return "", nil
	}
	if a.Server != nil {
		return a.Server.Slots(ctx, repo)
	}
	all, err := a.clients()
	if err != nil {
		return "", err
	}
	return all.slots(ctx, repo)
}

// askMost bounds the question for a name. Gates that are asked later have a bound, and
// an on_error, of their own.
const askMost = 5 * time.Second

// slots asks the forge about a name that nobody has heard of yet: it may be the new one
// of a repository that is at work under another. A forge that does not answer, or is
// not configured, leaves the name as it is.
func (f forges) slots(ctx context.Context, repo string) (string, error) {
	host, path, _ := strings.Cut(repo, "/")
	owner, _, _ := strings.Cut(path, "/")
	if client, ok := f.at[host]; ok {
		strange, err := f.names.Strange(ctx, repo)
		if err != nil {
			return "", err
		}
		if strange {
			ask, cancel := context.WithTimeout(ctx, askMost)
			defer cancel()
			if r, err := client.Repo(transport.ForOwner(ask, owner), repo); err == nil && r.Slots != "" {
				return r.Slots, nil
			}
		}
	}
	return f.names.CanonicalRepo(ctx, repo)
}

// slot is the slot of a ref.
func (f forges) slot(ctx context.Context, ref slot.Ref) (slot.Ref, error) {
	repo, err := f.slots(ctx, ref.Repo())
	if err != nil {
		return ref, err
	}
	return renamed(ref, repo)
}
