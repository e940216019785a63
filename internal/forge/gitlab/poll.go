package gitlab

import (
	"context"
	"errors"
	"slices"
	"time"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/oneslot/oneslot/internal/forge"
)

// Changed implements forge.Poller. GitLab answers its lists with a 304 at times, but
// counts that as any other request; so it is asked what changed last, and the lists are
// read if that differs.
func (c *Client) Changed(ctx context.Context, repo string, since time.Time, seen forge.Seen) (forge.Changes, error) {
	op := "list the changes of " + repo
	path, err := c.path(op, repo)
	if err != nil {
		return forge.Changes{}, err
	}
	now, err := c.quick(ctx, op, path, since)
	if err != nil {
		return forge.Changes{}, err
	}
	if unchanged(seen.ETag, now.seen.ETag) {
		return forge.Changes{Unchanged: true, Seen: now.seen, At: now.at}, nil
	}
	threads, first, err := c.list(ctx, op, path, listing{since: since, by: "updated_at"})
	if err != nil {
		return forge.Changes{}, err
	}
	// What was looked at before the lists is in them.
	out := forge.Changes{Threads: threads, Seen: now.seen, At: now.at}
	if out.At.IsZero() {
		out.At, err = date(op, first)
	}
	return out, err
}

// Open implements forge.Poller.
func (c *Client) Open(ctx context.Context, repo string) ([]forge.Thread, error) {
	op := "list what is open in " + repo
	path, err := c.path(op, repo)
	if err != nil {
		return nil, err
	}
	list, _, err := c.list(ctx, op, path, listing{state: "opened", by: "created_at"})
	return list, err
}

// Redeliver implements forge.Poller. GitLab lists the deliveries of a hook and sends
// one again, but tells neither when they were nor whether one was repeated already.
// https://docs.gitlab.com/api/project_webhooks/#list-webhook-events
func (c *Client) Redeliver(context.Context, string, time.Time) (int, error) {
	return 0, unsupported("ask for deliveries again", "GitLab does not tell when they failed")
}

// listing is which issues and merge requests are wanted, and by which time they are
// ordered.
type listing struct {
	state string // empty: all
	since time.Time
	by    string // updated_at, created_at
}

// list reads issues and merge requests, oldest first, and gives the first answer.
func (c *Client) list(ctx context.Context, op, path string, l listing) ([]forge.Thread, *gl.Response, error) {
	asc, all := gl.Ptr("asc"), gl.Ptr("all")
	if l.state != "" {
		all = &l.state
	}
	pick := func(created, updated *time.Time) *time.Time {
		if l.by == "created_at" {
			return created
		}
		return updated
	}
	issues, first, err := sweep(ctx, op, l.since, func(v *gl.Issue) (int64, *time.Time) { return v.ID, pick(v.CreatedAt, v.UpdatedAt) },
		func(since *time.Time, with ...gl.RequestOptionFunc) ([]*gl.Issue, *gl.Response, error) {
			o := &gl.ListProjectIssuesOptions{ListOptions: hundred, OrderBy: &l.by, Sort: asc, State: all, Scope: gl.Ptr("all")}
			*l.bound(&o.CreatedAfter, &o.UpdatedAfter) = since
			return c.api.Issues.ListProjectIssues(path, o, with...)
		})
	if err != nil {
		return nil, nil, err
	}
	merges, _, err := sweep(ctx, op, l.since, func(v *gl.BasicMergeRequest) (int64, *time.Time) { return v.ID, pick(v.CreatedAt, v.UpdatedAt) },
		func(since *time.Time, with ...gl.RequestOptionFunc) ([]*gl.BasicMergeRequest, *gl.Response, error) {
			o := &gl.ListProjectMergeRequestsOptions{ListOptions: hundred, OrderBy: &l.by, Sort: asc, State: all, Scope: gl.Ptr("all")}
			*l.bound(&o.CreatedAfter, &o.UpdatedAfter) = since
			return c.api.MergeRequests.ListProjectMergeRequests(path, o, with...)
		})
	if err != nil {
		return nil, nil, err
	}
	threads := make([]forge.Thread, 0, len(issues)+len(merges))
	for _, v := range issues {
		if v.MovedToID != 0 {
			continue // it lives on elsewhere, as another
		}
		t, err := c.issueWords(op, v)
		if err != nil {
			return nil, nil, err
		}
		threads = append(threads, t)
	}
	for _, v := range merges {
		t, err := c.mergeWords(op, v)
		if err != nil {
			return nil, nil, err
		}
		threads = append(threads, t)
	}
	slices.SortStableFunc(threads, func(a, b forge.Thread) int {
		return pick(&a.Created, &a.Updated).Compare(*pick(&b.Created, &b.Updated))
	})
	return threads, first, nil
}

func limited(err error) bool { return errors.Is(err, forge.ErrLimited) }

func (l listing) bound(created, updated **time.Time) **time.Time {
	if l.by == "created_at" {
		return created
	}
	return updated
}
