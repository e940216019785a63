package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// rereads are the waits before a short list is read again.
var rereads = [...]time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}

// comment has what the library's leaves out.
type comment struct {
	github.IssueComment
	App *github.App `json:"performed_via_github_app"`
}

// Comments implements forge.Reader. The counter is read first: so a comment that goes
// while pages are read, and lets another one slip between two pages, makes the list
// short and is noticed.
func (c *Client) Comments(ctx context.Context, ref slot.Ref) (forge.Comments, error) {
	op := "read the comments of " + ref.String()
	for try := 0; ; try++ {
		found, count, err := c.comments(ctx, op, ref)
		if err != nil || len(found.List) >= count {
			return found, err
		}
		short := &forge.Error{Kind: forge.ErrShort, Op: op, Detail: fmt.Sprintf("%d of %d", len(found.List), count)}
		if try == len(rereads) {
			return forge.Comments{}, short
		}
		if short.Err = c.pause(ctx, rereads[try]); short.Err != nil {
			return forge.Comments{}, short
		}
	}
}

func (c *Client) comments(ctx context.Context, op string, ref slot.Ref) (forge.Comments, int, error) {
	_, t, err := c.issue(ctx, op, ref)
	if err != nil {
		return forge.Comments{}, 0, err
	}
	ctx, path, err := c.at(ctx, t.Ref.Repo())
	if err != nil {
		return forge.Comments{}, 0, err
	}
	raw, first, err := list(ctx, c, op, fmt.Sprintf("%s/issues/%d/comments", path, t.Ref.Number()), nil, (*comment).GetID)
	if err != nil {
		return forge.Comments{}, 0, err
	}
	found := forge.Comments{At: date(first)}
	for _, one := range raw {
		found.List = append(found.List, one.words())
	}
	slices.SortFunc(found.List, func(a, b forge.Comment) int { return cmp.Compare(a.ID, b.ID) })
	return found, t.Comments, nil
}

func (c *comment) words() forge.Comment {
	return forge.Comment{
		ID: c.GetID(), Author: person(c.User, c.App, c.GetAuthorAssociation()), Body: c.GetBody(),
		Created: c.GetCreatedAt().Time, Updated: c.GetUpdatedAt().Time, UpdatedText: text(c.GetUpdatedAt()),
	}
}

// Comment implements forge.Writer.
func (c *Client) Comment(ctx context.Context, ref slot.Ref, body string) (forge.Comment, error) {
	var made comment
	_, err := c.write(ctx, ref, func(ctx context.Context, path string, number int) (*github.Response, error) {
		return c.send(ctx, "comment on "+ref.String(), http.MethodPost, fmt.Sprintf("%s/issues/%d/comments", path, number), body, &made)
	})
	return made.words(), err
}

// EditComment implements forge.Writer.
func (c *Client) EditComment(ctx context.Context, ref slot.Ref, id int64, body string) (forge.Comment, error) {
	var made comment
	_, err := c.write(ctx, ref, func(ctx context.Context, path string, _ int) (*github.Response, error) {
		op := fmt.Sprintf("edit comment %d of %s", id, ref)
		return c.send(ctx, op, http.MethodPatch, fmt.Sprintf("%s/issues/comments/%d", path, id), body, &made)
	})
	return made.words(), err
}

// send writes a comment's body, and reads what was made of it.
func (c *Client) send(ctx context.Context, op, method, path, body string, made *comment) (*github.Response, error) {
	resp, err := c.do(ctx, op, method, path, &github.IssueComment{Body: &body}, made)
	if err == nil && made.GetID() == 0 {
		err = &forge.Error{Op: op, Detail: "the answer is not a comment"}
	}
	return resp, locked(err)
}

// DeleteComment implements forge.Writer. A 404 alone does not tell that the comment is
// gone: the thread must be there to be seen, and the comment not.
func (c *Client) DeleteComment(ctx context.Context, ref slot.Ref, id int64) error {
	op := fmt.Sprintf("delete comment %d of %s", id, ref)
	var place string
	seen, err := c.write(ctx, ref, func(ctx context.Context, path string, _ int) (*github.Response, error) {
		place = fmt.Sprintf("%s/issues/comments/%d", path, id)
		resp, err := c.do(ctx, op, http.MethodDelete, place, nil, nil)
		return resp, locked(err)
	})
	if seen == nil || !errors.Is(err, forge.ErrNotFound) {
		return err
	}
	if _, there := c.get(ctx, op, place, new(comment)); errors.Is(there, forge.ErrNotFound) {
		return nil
	}
	return err
}
