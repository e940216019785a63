package gitlab

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// PullsByHead implements forge.Reader.
func (c *Client) PullsByHead(ctx context.Context, repo, sha string) ([]forge.Thread, error) {
	op := fmt.Sprintf("find the merge requests of %s in %s", sha, repo)
	path, err := c.path(op, repo)
	if err != nil {
		return nil, err
	}
	large := gl.WithKeysetPaginationParameters("?per_page=100") // the call has no options of its own
	found, _, err := all(ctx, op, func(with ...gl.RequestOptionFunc) ([]*gl.BasicMergeRequest, *gl.Response, error) {
		return c.api.Commits.ListMergeRequestsByCommit(path, sha, append(with, large)...)
	})
	if err != nil {
		return nil, err
	}
	return c.merges(op, found, func(v *gl.BasicMergeRequest) bool { return v.State == "opened" && v.SHA == sha })
}

// merges are those of a list that are wanted.
func (c *Client) merges(op string, found []*gl.BasicMergeRequest, wanted func(*gl.BasicMergeRequest) bool) ([]forge.Thread, error) {
	var list []forge.Thread
	for _, v := range found {
		if !wanted(v) {
			continue
		}
		t, err := c.mergeWords(op, v)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// maxMerged is how many merged requests that mention an issue are asked whether they
// closed it, newest first.
const maxMerged = 20

// Closing implements forge.Reader. For an issue GitLab tells the open merge requests
// that will close it; a merged one is found among those that mention the issue.
func (c *Client) Closing(ctx context.Context, ref slot.Ref) ([]forge.Thread, error) {
	op := "read what closes " + ref.String()
	p, err := c.place(op, ref)
	if err != nil {
		return nil, err
	}
	if p.merge {
		op = "read what " + ref.String() + " closes"
		found, err := c.closes(ctx, op, p.project, p.number)
		if err != nil {
			return nil, err
		}
		list := make([]forge.Thread, 0, len(found))
		for _, v := range found {
			t, err := c.issueWords(op, v)
			if err != nil {
				return nil, err
			}
			list = append(list, t)
		}
		return list, nil
	}
	found, _, err := all(ctx, op, func(with ...gl.RequestOptionFunc) ([]*gl.BasicMergeRequest, *gl.Response, error) {
		return c.api.Issues.ListMergeRequestsClosingIssue(p.project, p.number, &gl.ListMergeRequestsClosingIssueOptions{ListOptions: hundred}, with...)
	})
	if err != nil {
		return nil, err
	}
	merged, err := c.merged(ctx, op, p)
	if err != nil {
		return nil, err
	}
	seen := map[int64]bool{}
	return c.merges(op, append(found, merged...), func(v *gl.BasicMergeRequest) bool {
		known := seen[v.ID]
		seen[v.ID] = true
		return !known
	})
}

// merged finds the merged requests that closed an issue.
func (c *Client) merged(ctx context.Context, op string, p place) ([]*gl.BasicMergeRequest, error) {
	related, _, err := all(ctx, op, func(with ...gl.RequestOptionFunc) ([]*gl.BasicMergeRequest, *gl.Response, error) {
		return c.api.Issues.ListMergeRequestsRelatedToIssue(p.project, p.number, &gl.ListMergeRequestsRelatedToIssueOptions{ListOptions: hundred}, with...)
	})
	if err != nil {
		return nil, err
	}
	related = slices.DeleteFunc(related, func(v *gl.BasicMergeRequest) bool { return v.State != "merged" })
	slices.SortFunc(related, func(a, b *gl.BasicMergeRequest) int { return cmp.Compare(b.ID, a.ID) })
	if len(related) == 0 {
		return nil, nil
	}
	issue, resp, err := c.api.Issues.GetIssue(p.project, p.number, gl.WithContext(ctx))
	if err != nil {
		return nil, failed(op, err, resp)
	}
	var list []*gl.BasicMergeRequest
	for _, v := range related[:min(len(related), maxMerged)] {
		closed, err := c.closes(ctx, op, v.ProjectID, v.IID)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(closed, func(one *gl.Issue) bool { return one.ID == issue.ID }) {
			list = append(list, v)
		}
	}
	return list, nil
}

func (c *Client) closes(ctx context.Context, op string, project any, number int64) ([]*gl.Issue, error) {
	list, _, err := all(ctx, op, func(with ...gl.RequestOptionFunc) ([]*gl.Issue, *gl.Response, error) {
		return c.api.MergeRequests.GetIssuesClosedOnMerge(project, number, &gl.GetIssuesClosedOnMergeOptions{ListOptions: hundred}, with...)
	})
	return list, err
}
