package forgetest

import (
	"slices"
	"strings"
	"time"
)

// Request is a request that was answered, or cut.
type Request struct {
	At     time.Time
	Method string
	Route  string // the pattern that it matched: "GET /api/v3/repos/{owner}/{repo}"
	URI    string // path and query, as sent
	Login  string // whose token; empty without one
	Status int    // 0 if it was cut; 304 is told by nothing but this
	Match  string // the tag that it was to be other than (If-None-Match)
	Body   string // as sent
}

// maxRequests bounds what is kept of the past; the counters go on.
const maxRequests = 20_000

type journal struct {
	list   []Request
	counts map[count]int
}

type count struct {
	method, route string
	status        int
}

func (w *World) note(r Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.journal.list) >= maxRequests {
		w.journal.list = slices.Delete(w.journal.list, 0, maxRequests/2)
	}
	w.journal.list = append(w.journal.list, r)
	if w.journal.counts == nil {
		w.journal.counts = map[count]int{}
	}
	w.journal.counts[count{r.Method, r.Route, r.Status}]++
}

// Requests lists the last requests, oldest first.
func (w *World) Requests() []Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.journal.list)
}

// Count counts requests: of a method (empty: any), with a text in their route
// (empty: any). Unchanged are those among them that were answered 304.
func (w *World) Count(method, route string) (all, unchanged int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c, n := range w.journal.counts {
		if (method == "" || method == c.method) && strings.Contains(c.route, route) {
			all += n
			if c.status == 304 {
				unchanged += n
			}
		}
	}
	return all, unchanged
}

// Forget empties the record of requests.
func (w *World) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.journal = journal{}
}
