package names

import (
	"context"
	"errors"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Forge is a forge's client with what it declares.
type Forge interface {
	forge.Client
	Capabilities() forge.Capabilities
}

// Client is a client for which a repository is always called what its slots are: it
// asks the forge with the name of now, and answers with the name of the slot. It
// hears of new names by what it reads.
type Client struct {
	Forge // as it is: it wants the names of now
	names *Names
	host  string
}

// Client wraps the client of the forge at a canonical host.
func (n *Names) Client(host string, f Forge) Client { return Client{Forge: f, names: n, host: host} }

// at calls a method with the ref that the forge knows.
func at[T any](ctx context.Context, n Client, ref slot.Ref, call func(slot.Ref) (T, error)) (T, error) {
	now, err := n.names.Current(ctx, ref)
	if err != nil {
		var none T
		return none, err
	}
	return call(now)
}

// in calls a method with the repository that the forge knows.
func in[T any](ctx context.Context, n Client, repo string, call func(string) (T, error)) (T, error) {
	now, err := n.names.currentRepo(ctx, repo)
	if err != nil {
		var none T
		return none, err
	}
	return call(now)
}

// do is at for methods that give nothing.
func (n Client) do(ctx context.Context, ref slot.Ref, call func(slot.Ref) error) error {
	_, err := at(ctx, n, ref, func(r slot.Ref) (struct{}, error) { return struct{}{}, call(r) })
	return err
}

// slotOf gives a thread the ref of its slot.
func (n Client) slotOf(ctx context.Context, t forge.Thread) (_ forge.Thread, err error) {
	canonical, err := n.names.Alias(ctx, n.host, t.RepoID, t.Ref.Repo())
	if err == nil && canonical != t.Ref.Repo() {
		t.Ref, err = t.Ref.In(canonical)
	} else if err == nil && t.RepoID == "" {
		t.Ref, err = n.names.Canonical(ctx, t.Ref)
	}
	return t, err
}

func (n Client) slotsOf(ctx context.Context, list []forge.Thread, err error) ([]forge.Thread, error) {
	for i := range list {
		if err == nil {
			list[i], err = n.slotOf(ctx, list[i])
		}
	}
	return list, err
}

func (n Client) repoOf(ctx context.Context, r forge.Repo, err error) (forge.Repo, error) {
	if err == nil {
		r.Slots, err = n.names.Alias(ctx, n.host, r.ID, r.Name)
	}
	return r, err
}

// Thread implements forge.Reader.
func (n Client) Thread(ctx context.Context, ref slot.Ref) (forge.Thread, error) {
	t, err := at(ctx, n, ref, func(r slot.Ref) (forge.Thread, error) { return n.Forge.Thread(ctx, r) })
	if err != nil {
		return t, err
	}
	return n.slotOf(ctx, t)
}

// Comments implements forge.Reader.
func (n Client) Comments(ctx context.Context, ref slot.Ref) (forge.Comments, error) {
	return at(ctx, n, ref, func(r slot.Ref) (forge.Comments, error) { return n.Forge.Comments(ctx, r) })
}

// Checks implements forge.Reader.
func (n Client) Checks(ctx context.Context, repo, sha string) ([]forge.Check, error) {
	return in(ctx, n, repo, func(r string) ([]forge.Check, error) { return n.Forge.Checks(ctx, r, sha) })
}

// Reviews implements forge.Reader.
func (n Client) Reviews(ctx context.Context, ref slot.Ref) (forge.Reviews, error) {
	return at(ctx, n, ref, func(r slot.Ref) (forge.Reviews, error) { return n.Forge.Reviews(ctx, r) })
}

// PullsByHead implements forge.Reader.
func (n Client) PullsByHead(ctx context.Context, repo, sha string) ([]forge.Thread, error) {
	list, err := in(ctx, n, repo, func(r string) ([]forge.Thread, error) { return n.Forge.PullsByHead(ctx, r, sha) })
	return n.slotsOf(ctx, list, err)
}

// Closing implements forge.Reader.
func (n Client) Closing(ctx context.Context, ref slot.Ref) ([]forge.Thread, error) {
	list, err := at(ctx, n, ref, func(r slot.Ref) ([]forge.Thread, error) { return n.Forge.Closing(ctx, r) })
	return n.slotsOf(ctx, list, err)
}

// Commits implements forge.Reader.
func (n Client) Commits(ctx context.Context, repo string, since time.Time) (list []forge.Commit, more bool, err error) {
	list, err = in(ctx, n, repo, func(r string) (_ []forge.Commit, err error) {
		list, more, err = n.Forge.Commits(ctx, r, since)
		return list, err
	})
	return list, more, err
}

// Reopened implements forge.Reader.
func (n Client) Reopened(ctx context.Context, ref slot.Ref) (time.Time, error) {
	return at(ctx, n, ref, func(r slot.Ref) (time.Time, error) { return n.Forge.Reopened(ctx, r) })
}

// Repo implements forge.Reader.
func (n Client) Repo(ctx context.Context, repo string) (forge.Repo, error) {
	r, err := in(ctx, n, repo, func(r string) (forge.Repo, error) { return n.Forge.Repo(ctx, r) })
	return n.repoOf(ctx, r, err)
}

// Comment implements forge.Writer.
func (n Client) Comment(ctx context.Context, ref slot.Ref, body string) (forge.Comment, error) {
	return at(ctx, n, ref, func(r slot.Ref) (forge.Comment, error) { return n.Forge.Comment(ctx, r, body) })
}

// EditComment implements forge.Writer.
func (n Client) EditComment(ctx context.Context, ref slot.Ref, id int64, body string) (forge.Comment, error) {
	return at(ctx, n, ref, func(r slot.Ref) (forge.Comment, error) { return n.Forge.EditComment(ctx, r, id, body) })
}

// DeleteComment implements forge.Writer.
func (n Client) DeleteComment(ctx context.Context, ref slot.Ref, id int64) error {
	return n.do(ctx, ref, func(r slot.Ref) error { return n.Forge.DeleteComment(ctx, r, id) })
}

// AddLabel implements forge.Writer.
func (n Client) AddLabel(ctx context.Context, ref slot.Ref, label string) error {
	return n.do(ctx, ref, func(r slot.Ref) error { return n.Forge.AddLabel(ctx, r, label) })
}

// RemoveLabel implements forge.Writer.
func (n Client) RemoveLabel(ctx context.Context, ref slot.Ref, label string) error {
	return n.do(ctx, ref, func(r slot.Ref) error { return n.Forge.RemoveLabel(ctx, r, label) })
}

// Lock implements forge.Writer.
func (n Client) Lock(ctx context.Context, ref slot.Ref) error {
	return n.do(ctx, ref, func(r slot.Ref) error { return n.Forge.Lock(ctx, r) })
}

// Unlock implements forge.Writer.
func (n Client) Unlock(ctx context.Context, ref slot.Ref) error {
	return n.do(ctx, ref, func(r slot.Ref) error { return n.Forge.Unlock(ctx, r) })
}

// Repos implements forge.Poller. Whose slots' name cannot be told is not in the list.
func (n Client) Repos(ctx context.Context, globs []string) ([]forge.Repo, error) {
	found, err := n.Forge.Repos(ctx, globs)
	var list []forge.Repo
	for _, r := range found {
		r, failed := n.repoOf(ctx, r, nil)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		list = append(list, r)
	}
	return list, err
}

// Changed implements forge.Poller.
func (n Client) Changed(ctx context.Context, repo string, since time.Time, seen forge.Seen) (forge.Changes, error) {
	c, err := in(ctx, n, repo, func(r string) (forge.Changes, error) { return n.Forge.Changed(ctx, r, since, seen) })
	c.Threads, err = n.slotsOf(ctx, c.Threads, err)
	return c, err
}

// Open implements forge.Poller.
func (n Client) Open(ctx context.Context, repo string) ([]forge.Thread, error) {
	list, err := in(ctx, n, repo, func(r string) ([]forge.Thread, error) { return n.Forge.Open(ctx, r) })
	return n.slotsOf(ctx, list, err)
}

// Acts implements forge.Historian, where the client does.
func (n Client) Acts(ctx context.Context, ref slot.Ref) ([]forge.Act, error) {
	h, ok := n.Forge.(forge.Historian)
	if !ok {
		return nil, &forge.Error{Kind: forge.ErrUnsupported, Op: "read what was done to " + ref.String()}
	}
	return at(ctx, n, ref, func(r slot.Ref) ([]forge.Act, error) { return h.Acts(ctx, r) })
}

// Redeliver implements forge.Poller.
func (n Client) Redeliver(ctx context.Context, repo string, since time.Time) (int, error) {
	return in(ctx, n, repo, func(r string) (int, error) { return n.Forge.Redeliver(ctx, r, since) })
}
