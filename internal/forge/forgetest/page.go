package forgetest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// paging is one page of a list.
type paging struct {
	page, per, last int
	lo, hi          int // list[lo:hi] is the page
}

// paged reads page and the parameter named size from the query.
func paged(r *http.Request, total int, size string, usual, most int) paging {
	p := paging{page: max(1, number(r.URL.Query().Get("page"))), per: number(r.URL.Query().Get(size))}
	if p.per <= 0 {
		p.per = usual
	}
	p.per = min(p.per, most)
	p.last = max(1, (total+p.per-1)/p.per)
	p.lo = min(total, (p.page-1)*p.per)
	p.hi = min(total, p.lo+p.per)
	return p
}

// link writes the Link header of a page; without rel "last" where that is not told.
func (f *face) link(r *http.Request, p paging) string {
	var links []string
	add := func(rel string, page int) {
		q := r.URL.Query()
		q.Set("page", strconv.Itoa(page))
		links = append(links, fmt.Sprintf("<%s?%s>; rel=%q", f.at(r.URL.EscapedPath()), q.Encode(), rel))
	}
	if p.page < p.last {
		add("next", p.page+1)
		add("last", p.last)
	}
	if p.page > 1 {
		add("first", 1)
		add("prev", p.page-1)
	}
	return strings.Join(links, ",")
}
