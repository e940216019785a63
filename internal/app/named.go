package app

import (
	"context"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// client is a forge's client with what it declares.
type client interface {
	forge.Client
	Capabilities() forge.Capabilities
}

// named is a client for which a repository is always called what its slots are: it
// asks the forge with the name of now, and answers with the name of the slot. It
// hears of new names by what it reads.
type named struct {
	client
	names *Names
	host  string
}

// at calls a method with the ref that the forge knows.
func at[T any](ctx context.Context, n named, ref slot.Ref, call func(slot.Ref) (T, error)) (T, error) {
	now, err := n.names.Current(ctx, ref)
	if err != nil {
		var none T
		return none, err
	}
	return call(now)
}

// in calls a method with the repository that the forge knows.
func in[T any](ctx context.Context, n named, repo string, call func(string) (T, error)) (T, error) {
	now, err := n.names.currentRepo(ctx, repo)
	if err != nil {
		var none T
		return none, err
	}
	return call(now)
}

// do is at for methods that give nothing.
func (n named) do(ctx context.Context, ref slot.Ref, call func(slot.Ref) error) error {
	_, err := at(ctx, n, ref, func(r slot.Ref) (struct{}, error) { return struct{}{}, call(r) })
	return err
}

// slotOf gives a thread the ref of its slot.
func (n named) slotOf(ctx context.Context, t forge.Thread) (_ forge.Thread, err error) {
	canonical, err := n.names.Alias(ctx, n.host, t.RepoID, t.Ref.Repo())
	if err == nil && canonical != t.Ref.Repo() {
		t.Ref, err = t.Ref.In(canonical)
	} else if err == nil && t.RepoID == "" {
		t.Ref, err = n.names.Canonical(ctx, t.Ref)
	}
	return t, err
}

func (n named) slotsOf(ctx context.Context, list []forge.Thread, err error) ([]forge.Thread, error) {
	for i := range list {
		if err == nil {
			list[i], err = n.slotOf(ctx, list[i])
		}
	}
	return list, err
}

func (n named) repoOf(ctx context.Context, r forge.Repo, err error) (forge.Repo, error) {
	if err == nil {
		r.Slots, err = n.names.Alias(ctx, n.host, r.ID, r.Name)
	}
	return r, err
}

// Thread implements forge.Reader.
func (n named) Thread(ctx context.Context, ref slot.Ref) (forge.Thread, error) {
	t, err := at(ctx, n, ref, func(r slot.Ref) (forge.Thread, error) { return n.client.Thread(ctx, r) })
	if err != nil {
		return t, err
	}
	return n.slotOf(ctx, t)
}

// Comments implements forge.Reader.
func (n named) Comments(ctx context.Context, ref slot.Ref) (forge.Comments, error) {
	return at(ctx, n, ref, func(r slot.Ref) (forge.Comments, error) { return n.client.Comments(ctx, r) })
}

// Checks implements forge.Reader.
func (n named) Checks(ctx context.Context, repo, sha string) ([]forge.Check, error) {
	return in(ctx, n, repo, func(r string) ([]forge.Check, error) { return n.client.Checks(ctx, r, sha) })
}

// Reviews implements forge.Reader.
func (n named) Reviews(ctx context.Context, ref slot.Ref) (forge.Reviews, error) {
	return at(ctx, n, ref, func(r slot.Ref) (forge.Reviews, error) { return n.client.Reviews(ctx, r) })
}

// PullsByHead implements forge.Reader.
func (n named) PullsByHead(ctx context.Context, repo, sha string) ([]forge.Thread, error) {
	list, err := in(ctx, n, repo, func(r string) ([]forge.Thread, error) { return n.client.PullsByHead(ctx, r, sha) })
	return n.slotsOf(ctx, list, err)
}

// Closing implements forge.Reader.
func (n named) Closing(ctx context.Context, ref slot.Ref) ([]forge.Thread, error) {
	list, err := at(ctx, n, ref, func(r slot.Ref) ([]forge.Thread, error) { return n.client.Closing(ctx, r) })
	return n.slotsOf(ctx, list, err)
}

// Commits implements forge.Reader.
func (n named) Commits(ctx context.Context, repo string, since time.Time) (list []forge.Commit, more bool, err error) {
	list, err = in(ctx, n, repo, func(r string) (_ []forge.Commit, err error) {
		list, more, err = n.client.Commits(ctx, r, since)
		return list, err
	})
	return list, more, err
}

// Reopened implements forge.Reader.
func (n named) Reopened(ctx context.Context, ref slot.Ref) (time.Time, error) {
	return at(ctx, n, ref, func(r slot.Ref) (time.Time, error) { return n.client.Reopened(ctx, r) })
}

// Repo implements forge.Reader.
func (n named) Repo(ctx context.Context, repo string) (forge.Repo, error) {
	r, err := in(ctx, n, repo, func(r string) (forge.Repo, error) { return n.client.Repo(ctx, r) })
	return n.repoOf(ctx, r, err)
}

// Comment implements forge.Writer.
func (n named) Comment(ctx context.Context, ref slot.Ref, body string) (forge.Comment, error) {
	return at(ctx, n, ref, func(r slot.Ref) (forge.Comment, error) { return n.client.Comment(ctx, r, body) })
}

// EditComment implements forge.Writer.
func (n named) EditComment(ctx context.Context, ref slot.Ref, id int64, body string) (forge.Comment, error) {
	return at(ctx, n, ref, func(r slot.Ref) (forge.Comment, error) { return n.client.EditComment(ctx, r, id, body) })
}

// DeleteComment implements forge.Writer.
func (n named) DeleteComment(ctx context.Context, ref slot.Ref, id int64) error {
	return n.do(ctx, ref, func(r slot.Ref) error { return n.client.DeleteComment(ctx, r, id) })
}

// AddLabel implements forge.Writer.
func (n named) AddLabel(ctx context.Context, ref slot.Ref, label string) error {
	return n.do(ctx, ref, func(r slot.Ref) error { return n.client.AddLabel(ctx, r, label) })
}

// RemoveLabel implements forge.Writer.
func (n named) RemoveLabel(ctx context.Context, ref slot.Ref, label string) error {
	return n.do(ctx, ref, func(r slot.Ref) error { return n.client.RemoveLabel(ctx, r, label) })
}

// Lock implements forge.Writer.
func (n named) Lock(ctx context.Context, ref slot.Ref) error {
	return n.do(ctx, ref, func(r slot.Ref) error { return n.client.Lock(ctx, r) })
}

// Unlock implements forge.Writer.
func (n named) Unlock(ctx context.Context, ref slot.Ref) error {
	return n.do(ctx, ref, func(r slot.Ref) error { return n.client.Unlock(ctx, r) })
}

// Repos implements forge.Poller.
func (n named) Repos(ctx context.Context, globs []string) ([]forge.Repo, error) {
	list, err := n.client.Repos(ctx, globs)
	for i := range list {
		if err == nil {
			list[i], err = n.repoOf(ctx, list[i], nil)
		}
	}
	return list, err
}

// Changed implements forge.Poller.
func (n named) Changed(ctx context.Context, repo string, since time.Time, seen forge.Seen) (forge.Changes, error) {
	c, err := in(ctx, n, repo, func(r string) (forge.Changes, error) { return n.client.Changed(ctx, r, since, seen) })
	c.Threads, err = n.slotsOf(ctx, c.Threads, err)
	return c, err
}

// Open implements forge.Poller.
func (n named) Open(ctx context.Context, repo string) ([]forge.Thread, error) {
	list, err := in(ctx, n, repo, func(r string) ([]forge.Thread, error) { return n.client.Open(ctx, r) })
	return n.slotsOf(ctx, list, err)
}

// Acts implements forge.Historian, where the client does.
func (n named) Acts(ctx context.Context, ref slot.Ref) ([]forge.Act, error) {
	h, ok := n.client.(forge.Historian)
	if !ok {
		return nil, &forge.Error{Kind: forge.ErrUnsupported, Op: "read what was done to " + ref.String()}
	}
	return at(ctx, n, ref, func(r slot.Ref) ([]forge.Act, error) { return h.Acts(ctx, r) })
}

// Redeliver implements forge.Poller.
func (n named) Redeliver(ctx context.Context, repo string, since time.Time) (int, error) {
	return in(ctx, n, repo, func(r string) (int, error) { return n.client.Redeliver(ctx, r, since) })
}
