package gitea

import (
	"context"
	"strconv"
	"strings"

	"code.gitea.io/sdk/gitea"

	"github.com/oneslot/oneslot/internal/forge"
)

// Checks implements forge.Reader: the newest status of each context. What Actions
// come to is among them. The state that the forge combines is not read: a made-up
// state of one status falsifies it.
func (c *Client) Checks(ctx context.Context, repo, sha string) ([]forge.Check, error) {
	op := "read the checks of " + sha + " in " + repo
	owner, name, err := c.repo(op, repo)
	if err != nil {
		return nil, err
	}
	if c.kind == Gogs {
		return nil, c.unsupported(op)
	}
	statuses, _, err := all(ctx, c, list[*gitea.Status]{
		op: op, id: by(func(s *gitea.Status) int64 { return s.ID }),
		get: func(_ *gitea.Client, page gitea.ListOptions) ([]*gitea.Status, *gitea.Response, error) {
			var combined gitea.CombinedStatus
			// Without any status, older servers send an empty body.
			resp, err := c.direct(ctx, "GET", path("repos", owner, name, "commits", sha, "status"), pageQuery(page), &combined)
			return combined.Statuses, resp, err
		},
	})
	if err != nil {
		return nil, err
	}
	var checks []forge.Check
	for _, s := range statuses {
		checks = append(checks, forge.Check{
			Name: s.Context, State: state(string(s.State)), Result: string(s.State),
			ID: strconv.FormatInt(s.ID, 10), Again: text(s.Updated),
		})
	}
	return checks, nil
}

// state reads a status. The server takes any word: one that is not known says
// nothing about the commit.
func state(word string) string {
	switch strings.ToLower(word) {
	case "pending", "running", "waiting", "blocked":
		return forge.Pending
	case "success":
		return forge.Success
	case "failure", "error":
		return forge.Failure
	}
	return forge.Neutral // warning, skipped, cancelled, and whatever else there is
}
