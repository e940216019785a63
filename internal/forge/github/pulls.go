package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/forge"
)

// PullsByHead implements forge.Reader. The endpoint made for it, commits/SHA/pulls,
// finds nothing for a commit that is in a fork only, and of two pull requests with one
// head it would miss the fork's. So the open ones are listed, newest change first. With
// more than a page of them that endpoint is asked before the other pages are, and what
// it finds beside the first page is enough: it is one request for each of a commit's
// many statuses, in place of a hundred.
func (c *Client) PullsByHead(ctx context.Context, repo, sha string) ([]forge.Thread, error) {
	op := fmt.Sprintf("find the pull requests of %s with the head %s", repo, sha)
	ctx, path, err := c.at(ctx, repo)
	if err != nil {
		return nil, err
	}
	query := url.Values{"state": {"open"}, "sort": {"updated"}, "direction": {"desc"}, "per_page": {perPage}}
	page, resp, err := c.pullPage(ctx, op, path+"/pulls", query)
	if err != nil {
		return nil, err
	}
	heads := func(page []*github.PullRequest) []*github.PullRequest {
		return slices.DeleteFunc(page, func(p *github.PullRequest) bool { return p.GetState() != "open" || p.GetHead().GetSHA() != sha })
	}
	if len(page) == 0 || !next(query, resp) {
		return c.pulls(op, heads(page))
	}
	base := page[0].GetBase().GetRepo().GetID()
	found := heads(page)
	named, resp, err := c.pullPage(ctx, op, path+"/commits/"+url.PathEscape(sha)+"/pulls", url.Values{"per_page": {perPage}})
	if code := status(resp); err != nil && code != http.StatusNotFound && code != http.StatusUnprocessableEntity {
		return nil, err // 422: there is no commit of that name here
	}
	for _, p := range heads(named) { // those into other repositories are among them
		if p.GetBase().GetRepo().GetID() == base {
			found = append(found, p)
		}
	}
	for more := true; more && len(found) == 0; more = len(page) > 0 && next(query, resp) {
		if page, resp, err = c.pullPage(ctx, op, path+"/pulls", query); err != nil {
			return nil, err
		}
		found = append(found, heads(slices.Clone(page))...)
	}
	return c.pulls(op, found)
}

func (c *Client) pullPage(ctx context.Context, op, path string, query url.Values) ([]*github.PullRequest, *github.Response, error) {
	var page []*github.PullRequest
	resp, err := c.get(ctx, op, path+"?"+query.Encode(), &page)
	if err == nil && page == nil {
		err = empty(op)
	}
	return page, resp, err
}

// pulls reads payloads; one that is there twice is read once.
func (c *Client) pulls(op string, raw []*github.PullRequest) ([]forge.Thread, error) {
	var threads []forge.Thread
	for _, p := range raw {
		t, err := c.pull(op, p)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(threads, func(known forge.Thread) bool { return known.Ref == t.Ref }) {
			threads = append(threads, t)
		}
	}
	return threads, nil
}
