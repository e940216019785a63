package github

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/forge"
)

// Checks implements forge.Reader: the newest check run of each name and suite, and the
// newest status of each context. GitHub counts both lists itself; one that is shorter
// is not whole.
func (c *Client) Checks(ctx context.Context, repo, sha string) ([]forge.Check, error) {
	ctx, path, err := c.at(ctx, repo)
	if err != nil {
		return nil, err
	}
	op := fmt.Sprintf("read the checks of %s at %s", repo, sha)
	path += "/commits/" + url.PathEscape(sha)
	total := 0
	runs, _, err := all(op, url.Values{"filter": {"latest"}}, (*github.CheckRun).GetID, func(query url.Values) ([]*github.CheckRun, *github.Response, error) {
		var page github.ListCheckRunsResults
		resp, err := c.get(ctx, op, path+"/check-runs?"+query.Encode(), &page)
		total = page.GetTotal()
		return page.CheckRuns, resp, err
	})
	if err != nil {
		return nil, err
	}
	if err := short(op, len(runs), total); err != nil {
		return nil, err
	}
	statuses, _, err := all(op, nil, (*github.RepoStatus).GetID, func(query url.Values) ([]*github.RepoStatus, *github.Response, error) {
		var page github.CombinedStatus
		resp, err := c.get(ctx, op, path+"/status?"+query.Encode(), &page)
		total = page.GetTotalCount()
		return page.Statuses, resp, err
	})
	if err != nil {
		return nil, err
	}
	if err := short(op, len(statuses), total); err != nil {
		return nil, err
	}
	var checks []forge.Check
	for _, r := range runs {
		checks = append(checks, checkRun(r))
	}
	for _, s := range statuses {
		checks = append(checks, commitStatus(s))
	}
	return checks, nil
}

func short(op string, got, total int) error {
	if got >= total {
		return nil
	}
	return &forge.Error{Kind: forge.ErrShort, Op: op, Detail: fmt.Sprintf("%d of %d", got, total)}
}

// checkRun has Again as the webhook check_run.completed does: the time of completion.
func checkRun(r *github.CheckRun) forge.Check {
	c := forge.Check{
		Name: r.GetName(), State: forge.Pending, Result: r.GetStatus(), App: appName(r.App),
		ID: strconv.FormatInt(r.GetID(), 10), Again: text(r.GetCompletedAt()),
	}
	if r.GetStatus() == "completed" {
		c.State, c.Result = outcome(r.GetConclusion()), r.GetConclusion()
	}
	return c
}

// commitStatus has Again as the webhook status does.
func commitStatus(s *github.RepoStatus) forge.Check {
	return forge.Check{
		Name: s.GetContext(), State: outcome(s.GetState()), Result: s.GetState(),
		ID: strconv.FormatInt(s.GetID(), 10), Again: statusText(s.GetUpdatedAt()),
	}
}

// outcome is what a conclusion or a status says about the commit. A check that was
// cancelled, skipped or is stale says nothing; one that asks for an action has failed
// until somebody acts.
func outcome(result string) string {
	switch result {
	case "success":
		return forge.Success
	case "failure", "error", "timed_out", "startup_failure", "action_required":
		return forge.Failure
	case "pending", "expected":
		return forge.Pending
	}
	return forge.Neutral
}
