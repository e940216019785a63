package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/forge"
)

// Changed implements forge.Poller. Pull requests in the list have no Head, Base,
// Reviewers and Mergeable: Thread has them.
//
// The tag in Seen is of the request with that since, so a caller leaves since as it is
// while nothing changes. There is none when the list fills its first page: a change
// would add to its end, which the tag of the first page does not see.
func (c *Client) Changed(ctx context.Context, repo string, since time.Time, seen forge.Seen) (forge.Changes, error) {
	ctx, path, err := c.at(ctx, repo)
	if err != nil {
		return forge.Changes{}, err
	}
	op := "read what changed in " + repo
	mark := since.UTC().Format(time.RFC3339)
	tag, _ := strings.CutPrefix(seen.ETag, mark+" ")
	if tag == seen.ETag {
		tag = ""
	}
	raw, first, err := c.issues(ctx, op, path, "all", since, tag)
	if status(first) == http.StatusNotModified {
		return forge.Changes{Unchanged: true, Seen: seen, At: date(first)}, nil
	}
	if err != nil {
		return forge.Changes{}, err
	}
	changes := forge.Changes{At: date(first)}
	if tag := first.Header.Get("ETag"); tag != "" && first.NextPage == 0 && first.After == "" && len(raw) < 100 {
		changes.Seen.ETag = mark + " " + tag
	}
	for _, i := range raw {
		t, err := c.thread(op, i)
		if err != nil {
			return forge.Changes{}, err
		}
		changes.Threads = append(changes.Threads, t)
	}
	return changes, nil
}

// issues lists issues and pull requests by their last change, oldest first, each once.
// The answer returned is the first page's.
//
// A thread that changes while pages are read goes to the end of the list, and the next
// one slips over the edge of a page that was read already. So the next page is asked
// for by time: from the last change seen on. Only more than a page of one second needs
// a page's number.
func (c *Client) issues(ctx context.Context, op, path, state string, since time.Time, tag string) (list []*issue, first *github.Response, err error) {
	query := url.Values{"state": {state}, "sort": {"updated"}, "direction": {"asc"}, "per_page": {perPage}}
	at := map[int64]int{} // place in list
	for {
		if !since.IsZero() {
			query.Set("since", since.UTC().Format(time.RFC3339))
		}
		var page []*issue
		resp, err := c.get(ctx, op, path+"/issues?"+query.Encode(), &page, condition(tag))
		if tag = ""; first == nil {
			first = resp
		}
		if err != nil {
			return nil, first, err
		}
		if page == nil {
			return nil, first, empty(op)
		}
		fresh := false
		for _, i := range page {
			k, known := at[i.GetID()]
			switch {
			case !known:
				at[i.GetID()] = len(list)
				list, fresh = append(list, i), true
			case !list[k].GetUpdatedAt().Equal(i.GetUpdatedAt()):
				list[k], fresh = i, true
			}
		}
		// A page that begins again at a time has known ones on it; a later one has not,
		// unless the server knows no pages.
		later := query.Has("page") || query.Has("after")
		if !next(query, resp) || later && !fresh || len(page) == 0 {
			slices.SortStableFunc(list, func(a, b *issue) int { return cmp.Compare(a.GetUpdatedAt().Unix(), b.GetUpdatedAt().Unix()) })
			return list, first, nil
		}
		if last := page[len(page)-1].GetUpdatedAt().Time; last.After(since) {
			since = last
			query.Del("page")
			query.Del("after")
		}
	}
}

// condition asks for an answer only if it is another than the one with that tag. A 304
// costs nothing of the limit.
func condition(tag string) github.RequestOption {
	return func(r *http.Request) {
		if tag != "" {
			r.Header.Set("If-None-Match", tag)
		}
	}
}

// Open implements forge.Poller. The list of issues is the whole one; what it leaves out
// of pull requests is in a list of their own, where a page's edge may lose one that is
// read alone then. Reviewers are known, Mergeable is not.
func (c *Client) Open(ctx context.Context, repo string) ([]forge.Thread, error) {
	ctx, path, err := c.at(ctx, repo)
	if err != nil {
		return nil, err
	}
	op := "list what is open in " + repo
	query := url.Values{"state": {"open"}, "sort": {"created"}, "direction": {"asc"}}
	raw, _, err := list(ctx, c, op, path+"/pulls", query, (*github.PullRequest).GetID)
	if err != nil {
		return nil, err
	}
	pulls := map[int]*github.PullRequest{}
	for _, p := range raw {
		pulls[p.GetNumber()] = p
	}
	issues, _, err := c.issues(ctx, op, path, "open", time.Time{}, "")
	if err != nil {
		return nil, err
	}
	var threads []forge.Thread
	for _, i := range issues {
		t, err := c.thread(op, i)
		if err != nil {
			return nil, err
		}
		if t.Pull {
			if t, err = c.whole(ctx, op, t, pulls[t.Ref.Number()]); err != nil {
				return nil, err
			}
		}
		if t.State == forge.Open {
			threads = append(threads, t)
		}
	}
	return threads, nil
}

// whole adds to a pull request what the list of issues leaves out.
func (c *Client) whole(ctx context.Context, op string, t forge.Thread, p *github.PullRequest) (forge.Thread, error) {
	if p == nil {
		return c.Thread(ctx, t.Ref)
	}
	pull, err := c.pull(op, p)
	if err != nil {
		return forge.Thread{}, fmt.Errorf("%s: %w", t.Ref, err)
	}
	pull.Comments, pull.Author.App = t.Comments, t.Author.App
	return pull, nil
}
