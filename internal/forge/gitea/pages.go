package gitea

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"code.gitea.io/sdk/gitea"

	"github.com/oneslot/oneslot/internal/forge"
)

const (
	// pageSize is the most that a server gives by default (MAX_RESPONSE_ITEMS).
	pageSize = 50
	// maxPages bounds a list: a server that never ends one does not hold us for ever.
	maxPages = 400
)

// list is how a list is read to its end.
type list[T any] struct {
	op  string
	id  func(T) int64 // above zero; see by
	get func(lib *gitea.Client, page gitea.ListOptions) ([]T, *gitea.Response, error)
	// loose: the list's X-Total-Count is of the page, or there is none. So it ends at
	// a page without anything new.
	loose bool
	// enough ends a list that need not be whole, after a page; it may be nil.
	enough func(page []T) bool
}

// by makes id safe for an entry that is null.
func by[T any](id func(*T) int64) func(*T) int64 {
	return func(v *T) int64 {
		if v == nil {
			return 0
		}
		return id(v)
	}
}

// tries is how often a list is read that moves, or is not whole.
const tries = 3

// all reads the pages of a list: what is in it twice, because it moved meanwhile, is
// there once. A list that stays shorter than its own total is forge.ErrShort. The
// answer is that of the first page.
func all[T any](ctx context.Context, c *Client, l list[T]) ([]T, *gitea.Response, error) {
	for try := 1; ; try++ {
		found, first, total, err := once(ctx, c, l)
		if err != nil {
			return nil, nil, err
		}
		if l.enough != nil || total <= len(found) {
			return found, first, nil
		}
		if try == tries {
			return nil, nil, &forge.Error{Kind: forge.ErrShort, Op: l.op, Status: http.StatusOK,
				Detail: fmt.Sprintf("%d of %d came", len(found), total)}
		}
	}
}

func once[T any](ctx context.Context, c *Client, l list[T]) (found []T, first *gitea.Response, total int, err error) {
	seen := map[int64]bool{}
	for page := 1; page <= maxPages; page++ {
		part, resp, err := ask(ctx, c, l.op, func(lib *gitea.Client) ([]T, *gitea.Response, error) {
			return l.get(lib, gitea.ListOptions{Page: page, PageSize: pageSize})
		})
		if err != nil {
			return nil, nil, 0, err
		}
		if first == nil {
			first = resp
		}
		fresh := false
		for _, v := range part {
			id := l.id(v)
			if id <= 0 {
				return nil, nil, 0, &forge.Error{Op: l.op, Status: http.StatusOK, Detail: "the answer has an entry without an id"}
			}
			if !seen[id] {
				seen[id], fresh = true, true
				found = append(found, v)
			}
		}
		if !l.loose {
			total, _ = strconv.Atoi(resp.Header.Get("X-Total-Count")) // 0 if it is not told
		}
		switch {
		case !fresh, l.enough != nil && l.enough(part):
			return found, first, total, nil
		case resp.NextPage > page: // there is more
		case total > 0 && len(found) >= total, resp.Header.Get("Link") != "":
			return found, first, total, nil
		}
	}
	return nil, nil, 0, &forge.Error{Kind: forge.ErrShort, Op: l.op, Detail: fmt.Sprintf("it has more than %d pages", maxPages)}
}
