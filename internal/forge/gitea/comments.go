package gitea

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"code.gitea.io/sdk/gitea"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Comments implements forge.Reader. The counter is read first: a comment that is
// written meanwhile makes the list longer, never short. A pull request has none that
// could be compared; its list is whole at once, as any.
func (c *Client) Comments(ctx context.Context, ref slot.Ref) (forge.Comments, error) {
	op := "read the comments of " + ref.String()
	for try := 0; ; try++ {
		issue, err := c.issue(ctx, op, ref)
		if err != nil {
			return forge.Comments{}, err
		}
		found, err := c.comments(ctx, op, ref)
		if err != nil {
			return forge.Comments{}, err
		}
		want := issue.Comments
		if issue.PullRequest != nil && c.kind != Gogs {
			// It counts reviews, or answers at lines, even deleted ones, depending on the
			// version: so it proves nothing.
			want = 0
		}
		if len(found.List) >= want {
			return found, nil
		}
		if try == len(c.again) {
			return forge.Comments{}, &forge.Error{Kind: forge.ErrShort, Op: op,
				Detail: fmt.Sprintf("%d of at least %d came, %d times", len(found.List), want, try+1)}
		}
		if err := clock.Pause(ctx, c.again[try]); err != nil {
			return forge.Comments{}, &forge.Error{Op: op, Detail: err.Error(), Err: err}
		}
	}
}

// comments reads the list once: whole, though a page is asked for. Should a version
// page it one day, its pages are read.
func (c *Client) comments(ctx context.Context, op string, ref slot.Ref) (forge.Comments, error) {
	owner, name, number, err := c.thread(op, ref)
	if err != nil {
		return forge.Comments{}, err
	}
	list, first, err := all(ctx, c, list[*gitea.Comment]{
		op: op, id: by(func(v *gitea.Comment) int64 { return v.ID }),
		get: func(lib *gitea.Client, page gitea.ListOptions) ([]*gitea.Comment, *gitea.Response, error) {
			return lib.ListIssueComments(owner, name, number, gitea.ListIssueCommentOptions{ListOptions: page})
		},
	})
	if err != nil {
		return forge.Comments{}, err
	}
	var out forge.Comments
	if out.At, err = date(op, first); err != nil {
		return forge.Comments{}, err
	}
	for _, v := range list {
		out.List = append(out.List, comment(v))
	}
	slices.SortFunc(out.List, func(a, b forge.Comment) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

func comment(v *gitea.Comment) forge.Comment {
	return forge.Comment{
		ID: v.ID, Author: person(v.Poster), Body: v.Body,
		Created: v.Created, Updated: v.Updated, UpdatedText: text(v.Updated),
	}
}
