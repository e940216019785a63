package gitea

import (
	"context"
	"slices"
	"strings"
	"time"

	"code.gitea.io/sdk/gitea"

	"github.com/oneslot/oneslot/internal/forge"
)

// Changed implements forge.Poller. The forge has no conditional requests: a quiet
// repository costs one request, one whose pull requests changed at least two. Its
// since is inclusive and counts seconds. Gogs cannot be asked for changes.
func (c *Client) Changed(ctx context.Context, repo string, since time.Time, _ forge.Seen) (forge.Changes, error) {
	op := "list what changed in " + repo
	if c.kind == Gogs {
		return forge.Changes{}, c.unsupported(op)
	}
	threads, first, err := c.issues(ctx, op, repo, gitea.ListIssueOption{State: gitea.StateAll, Since: since})
	if err != nil {
		return forge.Changes{}, err
	}
	out := forge.Changes{Threads: threads}
	if out.At, err = date(op, first); err != nil {
		return forge.Changes{}, err
	}
	oldest := out.At
	for _, t := range threads {
		if t.Pull && t.Updated.Before(oldest) {
			oldest = t.Updated
		}
	}
	if slices.ContainsFunc(threads, func(t forge.Thread) bool { return t.Pull }) {
		pulls, err := c.pulls(ctx, op, repo, gitea.ListPullRequestsOptions{State: gitea.StateAll, Sort: "recentupdate"}, &oldest)
		if err != nil {
			return forge.Changes{}, err
		}
		merge(out.Threads, pulls)
	}
	slices.SortStableFunc(out.Threads, func(a, b forge.Thread) int { return a.Updated.Compare(b.Updated) })
	return out, nil
}

// Open implements forge.Poller: issues, and pull requests with their heads.
func (c *Client) Open(ctx context.Context, repo string) ([]forge.Thread, error) {
	op := "list what is open in " + repo
	if c.kind == Gogs {
		threads, _, err := c.issues(ctx, op, repo, gitea.ListIssueOption{State: gitea.StateOpen})
		return threads, err
	}
	threads, _, err := c.issues(ctx, op, repo, gitea.ListIssueOption{State: gitea.StateOpen, Type: gitea.IssueTypeIssue})
	if err != nil {
		return nil, err
	}
	pulls, err := c.pulls(ctx, op, repo, gitea.ListPullRequestsOptions{State: gitea.StateOpen}, nil)
	return append(threads, pulls...), err
}

// PullsByHead implements forge.Reader: the forge finds pull requests by the commit
// that merged them only, so the open ones are listed.
func (c *Client) PullsByHead(ctx context.Context, repo, sha string) ([]forge.Thread, error) {
	op := "find the pull requests of " + sha + " in " + repo
	if c.kind == Gogs {
		return nil, c.unsupported(op)
	}
	pulls, err := c.pulls(ctx, op, repo, gitea.ListPullRequestsOptions{State: gitea.StateOpen}, nil)
	return slices.DeleteFunc(pulls, func(t forge.Thread) bool {
		return sha == "" || !strings.EqualFold(t.Head.Sha, sha) || t.State != forge.Open
	}), err
}

// Redeliver implements forge.Poller: the API knows no deliveries.
func (c *Client) Redeliver(_ context.Context, repo string, _ time.Time) (int, error) {
	return 0, c.unsupported("list the deliveries of " + repo)
}

// issues lists issues and pull requests, the latter without their heads.
func (c *Client) issues(ctx context.Context, op, repo string, opt gitea.ListIssueOption) ([]forge.Thread, *gitea.Response, error) {
	owner, name, err := c.repo(op, repo)
	if err != nil {
		return nil, nil, err
	}
	found, first, err := all(ctx, c, list[*gitea.Issue]{
		op: op, id: by(func(i *gitea.Issue) int64 { return i.ID }),
		get: func(lib *gitea.Client, page gitea.ListOptions) ([]*gitea.Issue, *gitea.Response, error) {
			opt.ListOptions = page
			return lib.ListRepoIssues(owner, name, opt)
		},
	})
	if err != nil {
		return nil, nil, err
	}
	threads := make([]forge.Thread, 0, len(found))
	for _, i := range found {
		t, err := c.fromIssue(repo, i)
		if err != nil {
			return nil, nil, err
		}
		threads = append(threads, t)
	}
	return threads, first, nil
}

// pulls lists pull requests; sorted by their last change, down to the time until.
func (c *Client) pulls(ctx context.Context, op, repo string, opt gitea.ListPullRequestsOptions, until *time.Time) ([]forge.Thread, error) {
	owner, name, err := c.repo(op, repo)
	if err != nil {
		return nil, err
	}
	l := list[*gitea.PullRequest]{
		op: op, id: by(func(p *gitea.PullRequest) int64 { return p.Index }),
		get: func(lib *gitea.Client, page gitea.ListOptions) ([]*gitea.PullRequest, *gitea.Response, error) {
			opt.ListOptions = page
			return lib.ListRepoPullRequests(owner, name, opt)
		},
	}
	if until != nil {
		l.enough = func(page []*gitea.PullRequest) bool {
			return len(page) > 0 && moment(page[len(page)-1].Updated).Before(*until)
		}
	}
	found, _, err := all(ctx, c, l)
	if err != nil {
		return nil, err
	}
	threads := make([]forge.Thread, 0, len(found))
	for _, p := range found {
		t, err := c.fromPull(repo, p)
		if err != nil {
			return nil, err
		}
		threads = append(threads, t)
	}
	return threads, nil
}

// merge gives the pull requests among the threads what only their own list tells, if
// it was read in the same state.
func merge(threads, pulls []forge.Thread) {
	for i, t := range threads {
		if !t.Pull {
			continue
		}
		for _, p := range pulls {
			if p.Ref == t.Ref && p.Updated.Equal(t.Updated) {
				threads[i] = p
			}
		}
	}
}
