package gitlab

import (
	"context"
	"slices"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Reviews implements forge.Reader. GitLab's reviews have neither an id nor a commit of
// their own: there are approvals, and what each reviewer last decided. When that was is
// told by GitLab's own note of it alone; what it says of a reviewer is when he was made
// one.
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
		dated(list, talk)
		if open(talk) {
			out.Unresolved = append(out.Unresolved, forge.Talk{ID: talk.ID, Last: last(talk)})
		}
	}
	slices.SortStableFunc(list, func(a, b forge.Review) int { return a.At.Compare(b.At) })
	return out, nil
}

// verdicts are what each reviewer last decided, of approvals with their time.
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
			list = append(list, forge.Review{Author: person(v.User.Username), State: state})
		}
	}
	return list, nil
}

// verdictNote is what GitLab's own note of a verdict says; notes are in no other language.
// https://gitlab.com/gitlab-org/gitlab/-/blob/master/app/services/system_notes/merge_requests_service.rb
func verdictNote(state string) string {
	switch state {
	case "changes_requested":
		return "requested changes"
	case "approved":
		return "approved this merge request"
	}
	return ""
}

// dated notes when verdicts were given, if a thread is GitLab's note of that: the last of
// each reviewer counts. Writing it is what changes the merge request, so its time is that
// of the webhook, too. Approvals have a time of their own, but not in all versions.
func dated(list []forge.Review, talk *gl.Discussion) {
	for _, n := range talk.Notes {
		for i := range list {
			r := &list[i]
			if n.System && n.Body != "" && n.Author.Username == r.Author.Login && n.Body == verdictNote(r.State) && when(n.CreatedAt).After(r.At) {
				r.At, r.UpdatedText = when(n.CreatedAt), text(n.CreatedAt)
			}
		}
	}
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
