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
	// hides: its X-Total-Count counts what the token may not see, too, and pages leave
	// that out. So it proves nothing missing.
	hides bool
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

// all reads the pages of a list: what is in it twice, because it moved meanwhile, is
// there once. A list that comes shorter than it was counted at its first page is
// forge.ErrShort. The answer is that of the first page.
func all[T any](ctx context.Context, c *Client, l list[T]) (found []T, first *gitea.Response, err error) {
	seen, want := map[int64]bool{}, 0
	for page := 1; page <= maxPages; page++ {
		part, resp, err := ask(ctx, c, l.op, func(lib *gitea.Client) ([]T, *gitea.Response, error) {
			return l.get(lib, gitea.ListOptions{Page: page, PageSize: pageSize})
		})
		if err != nil {
			return nil, nil, err
		}
		if first == nil {
			first = resp
			want, _ = strconv.Atoi(resp.Header.Get("X-Total-Count")) // 0 if it is not told
		}
		fresh := false
		for _, v := range part {
			id := l.id(v)
			if id <= 0 {
				return nil, nil, &forge.Error{Op: l.op, Status: http.StatusOK, Detail: "the answer has an entry without an id"}
			}
			if !seen[id] {
				seen[id], fresh = true, true
				found = append(found, v)
			}
		}
		if l.enough != nil && l.enough(part) {
			return found, first, nil
		}
		// Not all lists have a Link, and none has it for a single page.
		more := resp.NextPage > page || len(found) < want && page*pageSize < want
		last := want > 0 && len(found) >= want || resp.Header.Get("Link") != "" || !fresh
		switch {
		case more && (fresh || len(part) == 0), !more && !last: // all of a page may be hidden
			continue
		case more, !l.hides && l.enough == nil && len(found) < want:
			return nil, nil, &forge.Error{Kind: forge.ErrShort, Op: l.op, Status: http.StatusOK,
				Detail: fmt.Sprintf("%d of at least %d came", len(found), max(want, len(found)+1))}
		}
		return found, first, nil
	}
	return nil, nil, &forge.Error{Kind: forge.ErrShort, Op: l.op, Detail: fmt.Sprintf("it has more than %d pages", maxPages)}
}
