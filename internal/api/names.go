package api

import (
	"fmt"

	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

// ref reads a ref, with any known name of its repository.
func (c *call) ref(text string) (slot.Ref, error) {
	ref, err := slot.ParseRef(text, c.Grammar())
	if err != nil {
		return ref, err
	}
	return c.slot(ref)
}

func (c *call) slot(ref slot.Ref) (slot.Ref, error) {
	repo, err := c.kept(ref.Repo(), false)
	if err != nil || repo == ref.Repo() {
		return ref, err
	}
	return ref.In(repo)
}

// kept is the name under which the slots of a repository are kept.
func (c *call) kept(repo string, ask bool) (string, error) {
	if c.Names == nil || repo == "" {
		return repo, nil
	}
	return c.Names(c.ctx(), repo, ask)
}

// scope reads a ref, a repository or everything.
func (c *call) scope(text string) (string, error) {
	scope, err := slot.ParseScope(text, c.Grammar())
	if err != nil {
		return "", err
	}
	if scope == slot.Everything {
		return scope, nil
	}
	if ref, err := slot.ParseCanonical(scope); err == nil {
		ref, err = c.slot(ref)
		return ref.String(), err
	}
	return c.kept(scope, false)
}

type repoQuery struct {
	Repo string `json:"repo"` // with its host
}

func repoOf(c *call, in repoQuery) (wire.Repo, error) {
	repo, err := slot.ParseScope(in.Repo, c.Grammar())
	if err != nil {
		return wire.Repo{}, err
	}
	if _, err := slot.ParseCanonical(repo); err == nil || repo == slot.Everything {
		return wire.Repo{}, fmt.Errorf("%w: %q is no repository", slot.ErrUsage, in.Repo)
	}
	repo, err = c.kept(repo, true)
	return wire.Repo{Slots: repo}, err
}
