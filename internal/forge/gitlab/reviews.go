package gitlab

import (
	"context"
	"slices"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Reviews implements forge.Reader. GitLab's reviews have neither an id nor a commit of
// their own: there are approvals, and what each reviewer last decided.
func (c *Client) Reviews(ctx context.Context, ref slot.Ref) (forge.Reviews, error) {
	op := "read the reviews of " + ref.String()
	p, err := c.place(op, ref)
	if err != nil {
		return forge.Reviews{}, err
	}
	if !p.merge {
		return forge.Reviews{}, unsupported(op, "it is no merge request")
	}
	list, err := c.verdicts(ctx, op, p)
	if err != nil {
		return forge.Reviews{}, err
	}
	talks, _, err := all(ctx, op, func(with ...gl.RequestOptionFunc) ([]*gl.Discussion, *gl.Response, error) {
		return c.api.Discussions.ListMergeRequestDiscussions(p.project, p.number, &gl.ListMergeRequestDiscussionsOptions{ListOptions: hundred}, with...)
	})
	if err != nil {
		return forge.Reviews{}, err
	}
	out := forge.Reviews{Reviews: list, Known: true}
	for _, talk := range talks {
		if open(talk) {
			out.Unresolved = append(out.Unresolved, forge.Talk{ID: talk.ID, Last: last(talk)})
		}
	}
	return out, nil
}

func (c *Client) verdicts(ctx context.Context, op string, p place) ([]forge.Review, error) {
	approvals, resp, err := c.api.MergeRequests.GetMergeRequestApprovals(p.project, p.number, gl.WithContext(ctx))
	if err != nil {
		return nil, failed(op, err, resp)
	}
	reviewers, resp, err := c.api.MergeRequests.GetMergeRequestReviewers(p.project, p.number, gl.WithContext(ctx))
	if err != nil {
		return nil, failed(op, err, resp)
	}
	var list []forge.Review
	approved := map[string]bool{}
	for _, v := range approvals.ApprovedBy {
		if v.User != nil {
			approved[v.User.Username] = true
			list = append(list, forge.Review{Author: person(v.User.Username), State: "approved", At: when(v.ApprovedAt), UpdatedText: text(v.ApprovedAt)})
		}
	}
	for _, v := range reviewers {
		state := map[string]string{"requested_changes": "changes_requested", "reviewed": "commented"}[v.State]
		if state != "" && v.User != nil && !approved[v.User.Username] {
			list = append(list, forge.Review{Author: person(v.User.Username), State: state, At: when(v.CreatedAt), UpdatedText: text(v.CreatedAt)})
		}
	}
	slices.SortStableFunc(list, func(a, b forge.Review) int { return a.At.Compare(b.At) })
	return list, nil
}

// open reports whether a thread can be resolved, and is not.
func open(talk *gl.Discussion) bool {
	return slices.ContainsFunc(talk.Notes, func(n *gl.Note) bool { return n.Resolvable && !n.Resolved })
}

func last(talk *gl.Discussion) forge.Comment {
	var newest forge.Comment
	for _, n := range talk.Notes {
		if !n.System && n.ID > newest.ID {
			newest = note(n)
		}
	}
	return newest
}
