package gitlab

import (
	"context"
	"time"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/oneslot/oneslot/internal/forge"
)

const (
	perPage  = 100
	maxPages = 1000 // of one list: an answer that never ends is none
)

var hundred = gl.ListOptions{PerPage: perPage}

// pages reads a list page by page, at most so many, and gives the first answer too:
// its clock is the earliest. more says that there are further pages.
func pages[T any](ctx context.Context, op string, most int, get func(with ...gl.RequestOptionFunc) ([]T, *gl.Response, error)) (list []T, first *gl.Response, more bool, err error) {
	with := []gl.RequestOptionFunc{gl.WithContext(ctx)}
	for range most {
		some, resp, err := get(with...)
		if err != nil {
			return nil, nil, false, failed(op, err, resp)
		}
		if first == nil {
			first = resp
		}
		list = append(list, some...)
		next := follow(resp)
		if next == nil {
			return list, first, false, nil
		}
		with = []gl.RequestOptionFunc{gl.WithContext(ctx), next}
	}
	return list, first, true, nil
}

// follow asks for the next page, by number or by the parameters (not the address) of
// the Link; nil after the last one.
func follow(resp *gl.Response) gl.RequestOptionFunc {
	switch {
	case resp.NextPage > resp.CurrentPage:
		return gl.WithOffsetPaginationParameters(resp.NextPage)
	case resp.NextLink != "":
		return gl.WithKeysetPaginationParameters(resp.NextLink)
	}
	return nil
}

// all reads a whole list.
func all[T any](ctx context.Context, op string, get func(with ...gl.RequestOptionFunc) ([]T, *gl.Response, error)) ([]T, *gl.Response, error) {
	list, first, more, err := pages(ctx, op, maxPages, get)
	if err == nil && more {
		err = &forge.Error{Kind: forge.ErrShort, Op: op, Detail: "there is no end to it"}
	}
	if err != nil {
		return nil, nil, err
	}
	return list, first, nil
}

// sweep reads a list that is ordered by a time, ascending, without counting pages: what
// changes meanwhile moves to the end, and would let others slip between two pages. Each
// answer goes on from the last one's time, both included.
func sweep[T any](ctx context.Context, op string, since time.Time, at func(T) (id int64, when *time.Time), get func(since *time.Time, with ...gl.RequestOptionFunc) ([]T, *gl.Response, error)) ([]T, *gl.Response, error) {
	var list []T
	var first *gl.Response
	newest := map[int64]int{} // id: index in list
	page := int64(1)
	for range maxPages {
		from := &since
		if since.IsZero() {
			from = nil
		}
		some, resp, err := get(from, gl.WithContext(ctx), gl.WithOffsetPaginationParameters(page))
		if err != nil {
			return nil, nil, failed(op, err, resp)
		}
		if first == nil {
			first = resp
		}
		var last time.Time
		for _, one := range some {
			id, when := at(one)
			if i, known := newest[id]; known {
				list[i] = one
			} else {
				newest[id] = len(list)
				list = append(list, one)
			}
			if when != nil {
				last = when.Truncate(time.Second) // as it is asked for
			}
		}
		if follow(resp) == nil {
			return list, first, nil
		}
		if last.After(since) {
			since, page = last, 1
		} else {
			page++ // so many in one second
		}
	}
	return nil, nil, &forge.Error{Kind: forge.ErrShort, Op: op, Detail: "there is no end to it"}
}
