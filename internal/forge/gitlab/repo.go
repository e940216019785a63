package gitlab

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/oneslot/oneslot/internal/forge"
)

// canonical is a project as we name it.
func (c *Client) canonical(path string) string { return c.host + "/" + strings.ToLower(path) }

// Repo implements forge.Reader.
func (c *Client) Repo(ctx context.Context, repo string) (forge.Repo, error) {
	op := "read " + repo
	path, err := c.path(op, repo)
	if err != nil {
		return forge.Repo{}, err
	}
	v, resp, err := c.api.Projects.GetProject(path, nil, gl.WithContext(ctx))
	if err != nil {
		return forge.Repo{}, failed(op, err, resp)
	}
	return c.repoWords(v), nil
}

func (c *Client) repoWords(v *gl.Project) forge.Repo {
	updated := when(v.UpdatedAt)
	if active := when(v.LastActivityAt); active.After(updated) {
		updated = active
	}
	return forge.Repo{
		ID: id(v.ID), Name: c.canonical(v.PathWithNamespace), Default: v.DefaultBranch,
		Public: v.Visibility == gl.PublicVisibility, Archived: v.Archived, Updated: updated,
	}
}

// Repos implements forge.Poller. It lists the projects that the token's user is a
// member of; if all globs are plain names, just those.
func (c *Client) Repos(ctx context.Context, globs []string) ([]forge.Repo, error) {
	if len(globs) > 0 && !slices.ContainsFunc(globs, func(g string) bool { return strings.ContainsAny(g, `*?[\{`) }) {
		list := make([]forge.Repo, 0, len(globs))
		for _, name := range globs {
			r, err := c.Repo(ctx, c.canonical(name))
			switch {
			case err == nil:
				list = append(list, r)
			case !errors.Is(err, forge.ErrNotFound): // the caller sees which are missing
				return nil, err
			}
		}
		return list, nil
	}
	o := gl.ListProjectsOptions{Membership: gl.Ptr(true), OrderBy: gl.Ptr("id"), Sort: gl.Ptr("asc")}
	// By key, not by page: projects come and go meanwhile.
	o.ListOptions = gl.ListOptions{Pagination: "keyset", PerPage: perPage}
	found, _, err := all(ctx, "list the projects", func(with ...gl.RequestOptionFunc) ([]*gl.Project, *gl.Response, error) {
		return c.api.Projects.ListProjects(&o, with...)
	})
	if err != nil {
		return nil, err
	}
	list := make([]forge.Repo, len(found))
	for i, v := range found {
		list[i] = c.repoWords(v)
	}
	return list, nil
}

// maxCommits is how many pages of commits are read.
const maxCommits = 5

// Commits implements forge.Reader.
func (c *Client) Commits(ctx context.Context, repo string, since time.Time) ([]forge.Commit, bool, error) {
	op := "list the commits of " + repo
	path, err := c.path(op, repo)
	if err != nil {
		return nil, false, err
	}
	o := gl.ListCommitsOptions{ListOptions: hundred}
	if !since.IsZero() {
		o.Since = &since
	}
	found, _, more, err := pages(ctx, op, maxCommits, func(with ...gl.RequestOptionFunc) ([]*gl.Commit, *gl.Response, error) {
		return c.api.Commits.ListCommits(path, &o, with...)
	})
	if err != nil {
		return nil, false, err
	}
	list := make([]forge.Commit, len(found))
	for i, v := range found {
		list[i] = forge.Commit{Sha: v.ID, Message: v.Message, At: when(v.CommittedDate)}
	}
	return list, more, nil
}
