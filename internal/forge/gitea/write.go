package gitea

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"code.gitea.io/sdk/gitea"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/slot"
)

// labelColor is that of a label that has to be made: grey.
const labelColor = "#ededed"

// write makes one call that changes something. A repository that was renamed answers
// a write with a redirect, which the transport does not follow, so that nothing was
// done: then the new name is asked for, and the write is made there.
func write[T any](ctx context.Context, c *Client, op string, ref slot.Ref, call func(lib *gitea.Client, owner, name string, number int64) (T, *gitea.Response, error)) (T, error) {
	owner, name, number, err := c.thread(op, ref)
	var none T
	if err != nil {
		return none, err
	}
	v, _, err := ask(ctx, c, op, func(lib *gitea.Client) (T, *gitea.Response, error) { return call(lib, owner, name, number) })
	if !errors.Is(err, transport.ErrRedirected) {
		return v, err
	}
	now, asked := c.Repo(ctx, ref.Repo())
	if asked != nil {
		return none, asked
	}
	if owner, name, err = c.repo(op, now.Name); err != nil {
		return none, err
	}
	v, _, err = ask(ctx, c, op, func(lib *gitea.Client) (T, *gitea.Response, error) { return call(lib, owner, name, number) })
	return v, err
}

// Comment implements forge.Writer.
func (c *Client) Comment(ctx context.Context, ref slot.Ref, body string) (forge.Comment, error) {
	op := "comment on " + ref.String()
	v, err := write(ctx, c, op, ref, func(lib *gitea.Client, owner, name string, number int64) (*gitea.Comment, *gitea.Response, error) {
		return lib.CreateIssueComment(owner, name, number, gitea.CreateIssueCommentOption{Body: body})
	})
	return written(op, v, err)
}

// EditComment implements forge.Writer. The thread's time of change stays as it was.
func (c *Client) EditComment(ctx context.Context, ref slot.Ref, id int64, body string) (forge.Comment, error) {
	op := "edit comment " + strconv.FormatInt(id, 10) + " on " + ref.String()
	v, err := write(ctx, c, op, ref, func(lib *gitea.Client, owner, name string, _ int64) (*gitea.Comment, *gitea.Response, error) {
		return lib.EditIssueComment(owner, name, id, gitea.EditIssueCommentOption{Body: body})
	})
	return written(op, v, err)
}

// written refuses an answer without an id: what was done is not known then.
func written(op string, v *gitea.Comment, err error) (forge.Comment, error) {
	switch {
	case err != nil:
		return forge.Comment{}, err
	case v == nil || v.ID == 0:
		return forge.Comment{}, &forge.Error{Op: op, Detail: "the answer names no comment"}
	}
	return comment(v), nil
}

// DeleteComment implements forge.Writer. A 404 means that the comment is gone only
// if the thread can be read.
func (c *Client) DeleteComment(ctx context.Context, ref slot.Ref, id int64) error {
	op := "delete comment " + strconv.FormatInt(id, 10) + " on " + ref.String()
	_, err := write(ctx, c, op, ref, func(lib *gitea.Client, owner, name string, number int64) (struct{}, *gitea.Response, error) {
		if c.kind == Gogs {
			resp, err := c.direct(ctx, "DELETE", path("repos", owner, name, "issues", strconv.FormatInt(number, 10), "comments", strconv.FormatInt(id, 10)), nil, nil)
			return struct{}{}, resp, err
		}
		resp, err := lib.DeleteIssueComment(owner, name, id)
		return struct{}{}, resp, err
	})
	return c.unlessThere(ctx, op, ref, err, nil)
}

// unlessThere turns a 404 into then, if the thread itself can be read.
func (c *Client) unlessThere(ctx context.Context, op string, ref slot.Ref, err, then error) error {
	if status(err) != http.StatusNotFound {
		return err
	}
	if _, unread := c.issue(ctx, op, ref); unread != nil {
		return unread
	}
	return then
}

// Lock implements forge.Writer: Gitea can, since 1.24 or so.
func (c *Client) Lock(ctx context.Context, ref slot.Ref) error {
	return c.lock(ctx, "lock "+ref.String(), ref, func(lib *gitea.Client, owner, name string, number int64) (*gitea.Response, error) {
		return lib.LockIssue(owner, name, number, gitea.LockIssueOption{})
	})
}

// Unlock implements forge.Writer.
func (c *Client) Unlock(ctx context.Context, ref slot.Ref) error {
	return c.lock(ctx, "unlock "+ref.String(), ref, func(lib *gitea.Client, owner, name string, number int64) (*gitea.Response, error) {
		return lib.UnlockIssue(owner, name, number)
	})
}

func (c *Client) lock(ctx context.Context, op string, ref slot.Ref, call func(*gitea.Client, string, string, int64) (*gitea.Response, error)) error {
	if c.kind != Gitea {
		return c.unsupported(op)
	}
	_, err := write(ctx, c, op, ref, func(lib *gitea.Client, owner, name string, number int64) (struct{}, *gitea.Response, error) {
		resp, err := call(lib, owner, name, number)
		return struct{}{}, resp, err
	})
	return c.unlessThere(ctx, op, ref, err, c.unsupported(op)) // an older version has no such route
}
