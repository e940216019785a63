package gitlab

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/oneslot/oneslot/internal/forge"
)

// pipeline is the name of the check that a pipeline is as a whole, as in webhooks.
const pipeline = "pipeline"

// Checks implements forge.Reader: the newest pipeline, and the newest job or status of
// each name, which GitLab has in one list.
func (c *Client) Checks(ctx context.Context, repo, sha string) ([]forge.Check, error) {
	op := fmt.Sprintf("read the checks of %s in %s", sha, repo)
	path, err := c.path(op, repo)
	if err != nil {
		return nil, err
	}
	if !isCommit(sha) { // the lists go by the commit's own name alone, and are empty for any other
		tip, resp, err := c.api.Commits.GetCommit(path, sha, nil, gl.WithContext(ctx))
		if err != nil {
			return nil, failed(op, err, resp)
		}
		sha = tip.ID
	}
	jobs, _, err := all(ctx, op, func(with ...gl.RequestOptionFunc) ([]*gl.CommitStatus, *gl.Response, error) {
		return c.api.Commits.GetCommitStatuses(path, sha, &gl.GetCommitStatusesOptions{ListOptions: hundred}, with...)
	})
	if err != nil {
		return nil, err
	}
	newest := map[string]*gl.CommitStatus{}
	for _, v := range jobs {
		if old := newest[v.Name]; old == nil || v.ID > old.ID {
			newest[v.Name] = v
		}
	}
	var list []forge.Check
	for _, name := range slices.Sorted(maps.Keys(newest)) {
		v := newest[name]
		check := forge.Check{Name: v.Name, State: result(v.Status), Result: v.Status, ID: id(v.ID), Again: text(v.FinishedAt)}
		if v.AllowFailure && check.State == forge.Failure {
			check.State = forge.Neutral
		}
		list = append(list, check)
	}
	whole, err := c.pipeline(ctx, op, path, sha)
	if whole != nil {
		list = append(list, *whole)
	}
	return list, err
}

// isCommit reports whether s is the whole name of a commit.
func isCommit(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && (len(s) == 40 || len(s) == 64)
}

// pipeline reads the newest one of a commit; nil if there is none. Only its own page
// tells when it ended.
func (c *Client) pipeline(ctx context.Context, op, path, sha string) (*forge.Check, error) {
	o := gl.ListProjectPipelinesOptions{SHA: &sha, ListOptions: hundred}
	found, resp, err := c.api.Pipelines.ListProjectPipelines(path, &o, gl.WithContext(ctx))
	if err != nil || len(found) == 0 {
		return nil, failed(op, err, resp)
	}
	newest := slices.MaxFunc(found, func(a, b *gl.PipelineInfo) int { return cmp.Compare(a.ID, b.ID) })
	v, resp, err := c.api.Pipelines.GetPipeline(path, newest.ID, gl.WithContext(ctx))
	if err != nil {
		return nil, failed(op, err, resp)
	}
	return &forge.Check{Name: pipeline, State: result(v.Status), Result: v.Status, ID: id(v.ID), Again: text(v.FinishedAt)}, nil
}

// result of a job or a pipeline. One that waits for a person says nothing.
// https://docs.gitlab.com/api/jobs/
func result(status string) string {
	switch status {
	case "success":
		return forge.Success
	case "failed":
		return forge.Failure
	case "canceled", "canceling", "skipped", "manual":
		return forge.Neutral
	}
	return forge.Pending
}
