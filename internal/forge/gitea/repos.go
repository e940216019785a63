package gitea

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"code.gitea.io/sdk/gitea"

	"github.com/oneslot/oneslot/internal/forge"
)

// Me implements forge.Reader.
func (c *Client) Me(ctx context.Context) (string, error) {
	const op = "ask who the token is of"
	u, _, err := ask(ctx, c, op, func(lib *gitea.Client) (*gitea.User, *gitea.Response, error) { return lib.GetMyUserInfo() })
	if err != nil {
		return "", err
	}
	if u.UserName == "" {
		return "", &forge.Error{Op: op, Detail: "the answer names nobody"}
	}
	return u.UserName, nil
}

// Repo implements forge.Reader.
func (c *Client) Repo(ctx context.Context, repo string) (forge.Repo, error) {
	op := "read " + repo
	owner, name, err := c.repo(op, repo)
	if err != nil {
		return forge.Repo{}, err
	}
	r, _, err := ask(ctx, c, op, func(lib *gitea.Client) (*gitea.Repository, *gitea.Response, error) {
		return lib.GetRepo(owner, name)
	})
	if err != nil {
		return forge.Repo{}, err
	}
	if r.FullName == "" || r.ID == 0 {
		return forge.Repo{}, &forge.Error{Op: op, Detail: "the answer names no repository"}
	}
	return c.fromRepo(r), nil
}

func (c *Client) fromRepo(r *gitea.Repository) forge.Repo {
	return forge.Repo{
		ID: strconv.FormatInt(r.ID, 10), Name: c.canonical(r.FullName), Default: r.DefaultBranch,
		Public: !r.Private && !r.Internal, Archived: r.Archived, Updated: r.Updated,
	}
}

// Repos implements forge.Poller. A name is read, the repositories of an owner are
// listed, and only for other patterns all that the token's account has a part in. A
// name or owner that is not there is left out: the caller sees that nothing matched.
// If one cannot be read, the others are returned all the same, with the error.
func (c *Client) Repos(ctx context.Context, globs []string) ([]forge.Repo, error) {
	var out []forge.Repo
	var failed []error
	seen := map[string]bool{}
	add := func(repos []forge.Repo, err error) {
		if err != nil {
			failed = append(failed, err)
			return
		}
		for _, r := range repos {
			if !seen[r.ID] {
				seen[r.ID] = true
				out = append(out, r)
			}
		}
	}
	if len(globs) == 0 {
		globs = []string{"*/*"}
	}
	everything := false
	for _, glob := range globs {
		owner, name, _ := strings.Cut(glob, "/")
		switch {
		case !wild(owner) && !wild(name):
			r, err := c.Repo(ctx, c.host+"/"+strings.ToLower(glob))
			add(visible([]forge.Repo{r}, err))
		case !wild(owner):
			add(visible(c.ofOwner(ctx, owner)))
		case !everything:
			everything = true
			add(c.listRepos(ctx, "list my repositories", func(lib *gitea.Client, page gitea.ListOptions) ([]*gitea.Repository, *gitea.Response, error) {
				return lib.ListMyRepos(gitea.ListReposOptions{ListOptions: page})
			}))
		}
	}
	return out, errors.Join(failed...)
}

// visible leaves out what is not there or may not be seen.
func visible(repos []forge.Repo, err error) ([]forge.Repo, error) {
	if errors.Is(err, forge.ErrNotFound) {
		return nil, nil
	}
	return repos, err
}

// ofOwner lists the repositories of a user, or else of an organisation.
func (c *Client) ofOwner(ctx context.Context, owner string) ([]forge.Repo, error) {
	op := "list the repositories of " + owner
	of, err := c.listRepos(ctx, op, func(lib *gitea.Client, page gitea.ListOptions) ([]*gitea.Repository, *gitea.Response, error) {
		return lib.ListUserRepos(owner, gitea.ListReposOptions{ListOptions: page})
	})
	if err == nil || !errors.Is(err, forge.ErrNotFound) {
		return of, err
	}
	return c.listRepos(ctx, op, func(lib *gitea.Client, page gitea.ListOptions) ([]*gitea.Repository, *gitea.Response, error) {
		return lib.ListOrgRepos(owner, gitea.ListOrgReposOptions{ListOptions: page})
	})
}

// listRepos lists repositories: those that the token may not see are counted, and left
// out.
func (c *Client) listRepos(ctx context.Context, op string, get func(*gitea.Client, gitea.ListOptions) ([]*gitea.Repository, *gitea.Response, error)) ([]forge.Repo, error) {
	found, _, err := all(ctx, c, list[*gitea.Repository]{
		op: op, id: by(func(r *gitea.Repository) int64 { return r.ID }), hides: true, get: get,
	})
	var out []forge.Repo
	for _, r := range found {
		out = append(out, c.fromRepo(r))
	}
	return out, err
}

// wild reports whether a part of a pattern can match more than one name.
func wild(part string) bool { return part == "" || strings.ContainsAny(part, `*?[\`) }
