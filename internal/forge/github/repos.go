package github

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/transport"
)

// Repos implements forge.Poller: what an App is installed on, or what is a user's own;
// and for each owner that a glob names, what of theirs can be seen. What is not there,
// or may not be seen, is not in the list. If one owner cannot be read, the others are
// returned all the same, with the error.
func (c *Client) Repos(ctx context.Context, globs []string) ([]forge.Repo, error) {
	found := repos{c: c, known: map[string]bool{}}
	asked, all, user := map[string]bool{}, len(globs) == 0, false
	for _, glob := range globs {
		glob = strings.ToLower(strings.TrimPrefix(glob, c.host+"/"))
		owner, name, _ := strings.Cut(glob, "/")
		switch at := transport.ForOwner(ctx, owner); {
		case asked[glob] || asked[owner]:
		case wild(owner):
			all = true
		case !wild(name) && name != "":
			asked[glob] = true
			found.add(visible(c.one(at, owner, name)))
		default:
			asked[owner] = true
			found.add(visible(c.of(at, owner)))
			if !user { // an App has a list for each owner, a user has one
				user = found.own(at)
			}
		}
	}
	if all && !user {
		found.own(ctx)
	}
	return found.list, errors.Join(found.failed...)
}

// repos collects repositories, each once, and what failed.
type repos struct {
	c      *Client
	list   []forge.Repo
	known  map[string]bool
	failed []error
}

func (r *repos) add(raw []*github.Repository, err error) {
	if err != nil {
		r.failed = append(r.failed, err)
	}
	for _, one := range raw {
		if words := r.c.repo(one); words.Name != "" && !r.known[words.ID] {
			r.known[words.ID] = true
			r.list = append(r.list, words)
		}
	}
}

// own adds what the token is for, and tells whether it is a user's: the list for Apps
// answers those with 403.
func (r *repos) own(ctx context.Context) (user bool) {
	const op = "list the repositories of the token"
	id := (*github.Repository).GetID
	raw, _, err := all(op, nil, id, func(query url.Values) ([]*github.Repository, *github.Response, error) {
		var page github.ListRepositories
		resp, err := r.c.get(ctx, op, "installation/repositories?"+query.Encode(), &page)
		return page.Repositories, resp, err
	})
	if user = errors.Is(err, forge.ErrForbidden) || errors.Is(err, forge.ErrNotFound); user {
		raw, _, err = list(ctx, r.c, op, "user/repos", nil, id)
	}
	r.add(raw, err)
	return user
}

// visible leaves out what is not there or may not be seen.
func visible(raw []*github.Repository, err error) ([]*github.Repository, error) {
	if errors.Is(err, forge.ErrNotFound) {
		return nil, nil
	}
	return raw, err
}

func wild(s string) bool { return strings.ContainsAny(s, `*?[\`) }

func (c *Client) one(ctx context.Context, owner, name string) ([]*github.Repository, error) {
	var r github.Repository
	path := "repos/" + url.PathEscape(owner) + "/" + url.PathEscape(name)
	_, err := c.get(ctx, "read "+owner+"/"+name, path, &r)
	return []*github.Repository{&r}, err
}

// of lists an owner's repositories: an organization's, else a user's.
func (c *Client) of(ctx context.Context, owner string) ([]*github.Repository, error) {
	op, id := "list the repositories of "+owner, (*github.Repository).GetID
	raw, _, err := list(ctx, c, op, "orgs/"+url.PathEscape(owner)+"/repos", url.Values{"type": {"all"}}, id)
	if errors.Is(err, forge.ErrNotFound) {
		raw, _, err = list(ctx, c, op, "users/"+url.PathEscape(owner)+"/repos", nil, id)
	}
	return raw, err
}
