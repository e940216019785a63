package github

import (
	"context"
	"net/url"
	"strconv"

	"github.com/google/go-github/v88/github"
)

// perPage is the most that GitHub gives at once.
const perPage = "100"

// list reads all pages of a list.
func list[T any](ctx context.Context, c *Client, op, path string, query url.Values, id func(T) int64) ([]T, *github.Response, error) {
	return all(op, query, id, func(query url.Values) ([]T, *github.Response, error) {
		var page []T
		resp, err := c.get(ctx, op, path+"?"+query.Encode(), &page)
		return page, resp, err
	})
}

// all reads page after page, until no Link leads on or a page has nothing new. What
// stands on two pages, because others moved meanwhile, is given once. The answer
// returned is the first page's.
func all[T any](op string, query url.Values, id func(T) int64, read func(url.Values) ([]T, *github.Response, error)) (list []T, first *github.Response, err error) {
	if query == nil {
		query = url.Values{}
	}
	query.Set("per_page", perPage)
	known := map[int64]bool{}
	for {
		page, resp, err := read(query)
		if first == nil {
			first = resp
		}
		if err != nil {
			return nil, first, err
		}
		if page == nil { // null
			return nil, first, empty(op)
		}
		before := len(list)
		for _, item := range page {
			if n := id(item); !known[n] {
				known[n] = true
				list = append(list, item)
			}
		}
		if !next(query, resp) || len(list) == before {
			return list, first, nil
		}
	}
}

// next makes query that of the page after resp. Of the address in Link only the
// position is taken, so that nothing leads elsewhere.
func next(query url.Values, resp *github.Response) bool {
	switch {
	case resp.After != "":
		query.Set("after", resp.After)
	case resp.Cursor != "":
		query.Set("cursor", resp.Cursor)
	case resp.NextPage > 0:
		query.Set("page", strconv.Itoa(resp.NextPage))
	default:
		return false
	}
	return true
}
