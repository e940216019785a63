package gitlab

import (
	"context"
	"net/http"
	"strconv"
	"time"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// maxMoves is how often an issue is followed to where it was moved.
const maxMoves = 5

// Thread implements forge.Reader.
func (c *Client) Thread(ctx context.Context, ref slot.Ref) (forge.Thread, error) {
	op := "read " + ref.String()
	p, err := c.place(op, ref)
	if err != nil {
		return forge.Thread{}, err
	}
	return c.thread(ctx, op, p)
}

func (c *Client) thread(ctx context.Context, op string, p place) (forge.Thread, error) {
	if p.merge {
		return c.merge(ctx, op, p)
	}
	for range maxMoves {
		v, resp, err := c.api.Issues.GetIssue(p.project, p.number, gl.WithContext(ctx))
		if err != nil {
			return forge.Thread{}, failed(op, err, resp)
		}
		if v.MovedToID == 0 {
			return c.issueWords(op, v)
		}
		if p, err = c.moved(ctx, op, v.MovedToID); err != nil {
			return forge.Thread{}, err
		}
	}
	return forge.Thread{}, &forge.Error{Op: op, Detail: "it was moved again and again"}
}

// moved finds an issue by the id that is its own in the whole GitLab. REST has that for
// administrators alone; GraphQL for whoever may see the issue.
func (c *Client) moved(ctx context.Context, op string, id int64) (place, error) {
	var told struct {
		Data struct {
			Issue *struct {
				IID     int64 `json:"iid,string"`
				Project int64 `json:"projectId"`
			} `json:"issue"`
		} `json:"data"`
	}
	resp, err := c.api.GraphQL.Do(gl.GraphQLQuery{
		Query:     `query($id: IssueID!) { issue(id: $id) { iid projectId } }`,
		Variables: map[string]any{"id": "gid://gitlab/Issue/" + strconv.FormatInt(id, 10)},
	}, &told, gl.WithContext(ctx))
	if err != nil {
		return place{}, failed(op, err, resp)
	}
	v := told.Data.Issue
	if v == nil || v.IID == 0 || v.Project == 0 {
		return place{}, &forge.Error{Kind: forge.ErrNotFound, Op: op, Detail: "it was moved to a project that the token may not see"}
	}
	return place{project: v.Project, number: v.IID}, nil
}

// merge reads a merge request, with what lists leave out.
func (c *Client) merge(ctx context.Context, op string, p place) (forge.Thread, error) {
	v, resp, err := c.api.MergeRequests.GetMergeRequest(p.project, p.number, nil, gl.WithContext(ctx))
	if err != nil {
		return forge.Thread{}, failed(op, err, resp)
	}
	t, err := c.mergeWords(op, &v.BasicMergeRequest)
	if err != nil {
		return forge.Thread{}, err
	}
	t.Base.Sha = v.DiffRefs.StartSha
	if t.Head.Repo == "" && v.SourceProjectID != 0 {
		fork, resp, err := c.api.Projects.GetProject(v.SourceProjectID, nil, gl.WithContext(ctx))
		switch {
		case err == nil:
			t.Head.Repo = c.canonical(fork.PathWithNamespace)
		case resp == nil || resp.StatusCode != http.StatusNotFound:
			return forge.Thread{}, failed(op, err, resp)
		}
	}
	return t, nil
}

// Reopened implements forge.Reader.
func (c *Client) Reopened(ctx context.Context, ref slot.Ref) (time.Time, error) {
	op := "read when " + ref.String() + " was reopened"
	p, err := c.place(op, ref)
	if err != nil {
		return time.Time{}, err
	}
	list, err := c.states(ctx, op, p)
	var last time.Time
	for _, e := range list {
		if at := when(e.CreatedAt); e.State == "reopened" && at.After(last) {
			last = at
		}
	}
	return last, err
}
