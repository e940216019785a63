package github

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// maxCommitPages bounds Commits: 300 of them.
const maxCommitPages = 3

// Repo implements forge.Reader.
func (c *Client) Repo(ctx context.Context, repo string) (forge.Repo, error) {
	ctx, path, err := c.at(ctx, repo)
	if err != nil {
		return forge.Repo{}, err
	}
	var r github.Repository
	if _, err := c.get(ctx, "read "+repo, path, &r); err != nil {
		return forge.Repo{}, err
	}
	if r.GetID() == 0 || r.GetFullName() == "" {
		return forge.Repo{}, empty("read " + repo)
	}
	return c.repo(&r), nil
}

func (c *Client) repo(r *github.Repository) forge.Repo {
	public := r.GetVisibility() == "public" || r.GetVisibility() == "" && !r.GetPrivate()
	return forge.Repo{
		ID: strconv.FormatInt(r.GetID(), 10), Name: c.name(r), Default: r.GetDefaultBranch(),
		Public: public, Archived: r.GetArchived(), Updated: r.GetUpdatedAt().Time,
	}
}

// Me implements forge.Reader. GET /user is not for tokens of Apps; GraphQL's viewer is
// for all, and gives them "slug[bot]".
func (c *Client) Me(ctx context.Context) (string, error) {
	const op = "find out who the token is"
	var answer struct {
		Viewer actor `json:"viewer"`
	}
	if err := c.query(ctx, op, `query Viewer { viewer { __typename login } }`, nil, &answer); err != nil {
		return "", err
	}
	if answer.Viewer.Login == "" {
		return "", empty(op)
	}
	return answer.Viewer.Login, nil
}

// Commits implements forge.Reader. A repository without a commit has none.
func (c *Client) Commits(ctx context.Context, repo string, since time.Time) (list []forge.Commit, more bool, err error) {
	ctx, path, err := c.at(ctx, repo)
	if err != nil {
		return nil, false, err
	}
	query := url.Values{"per_page": {perPage}}
	if !since.IsZero() {
		query.Set("since", since.UTC().Format(time.RFC3339))
	}
	for range maxCommitPages {
		var page []*github.RepositoryCommit
		resp, err := c.get(ctx, "read the commits of "+repo, path+"/commits?"+query.Encode(), &page)
		if status(resp) == http.StatusConflict {
			return nil, false, nil // "Git Repository is empty."
		}
		if err == nil && page == nil {
			err = empty("read the commits of " + repo)
		}
		if err != nil {
			return nil, false, err
		}
		for _, one := range page {
			list = append(list, forge.Commit{
				Sha: one.GetSHA(), Message: one.GetCommit().GetMessage(), At: one.GetCommit().GetCommitter().GetDate().Time,
			})
		}
		if !next(query, resp) {
			return list, false, nil
		}
	}
	return list, true, nil
}

// Reopened implements forge.Reader.
func (c *Client) Reopened(ctx context.Context, ref slot.Ref) (time.Time, error) {
	ctx, path, err := c.at(ctx, ref.Repo())
	if err != nil {
		return time.Time{}, err
	}
	events, _, err := list(ctx, c, "read the events of "+ref.String(), path+"/issues/"+strconv.Itoa(ref.Number())+"/events", nil, (*github.IssueEvent).GetID)
	if err != nil {
		return time.Time{}, err
	}
	var last time.Time
	for _, e := range events {
		if at := e.GetCreatedAt().Time; e.GetEvent() == "reopened" && at.After(last) {
			last = at
		}
	}
	return last, nil
}
