package forgetest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Range is a random time, both ends included.
type Range struct{ Min, Max time.Duration }

// Reads is how lists of comments are behind writes.
type Reads struct {
	// Lag: an answered write (new, changed or deleted comment) shows after it. The
	// counter of the thread is right at once, unless Counter says that it lags as well.
	Lag     Range
	Counter bool
	// Of gives the lag of each write in place of Lag.
	Of func(Comment) time.Duration
	// Commit: a new comment has its id at once; it shows, and is answered, after it.
	Commit Range
	// Short: lists lose so many of their newest comments, for good.
	Short int
}

// SetReads sets how lists lag, from the next write on.
func (w *World) SetReads(r Reads) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads = r
}

// Fault is something that goes wrong with requests. The zero one answers all of
// them as ever.
type Fault struct {
	Method string // empty: any
	Path   string // a part of the path, unescaped; empty: any
	Login  string // empty: anybody

	Skip  int // so many that match pass first
	Every int // then every n-th; 0 and 1: each
	Times int // so often; 0: until it is removed

	Done   bool  // the request is carried out first, and its answer thrown away
	Delay  Range // before the answer; real time
	Cut    bool  // the connection is closed in place of an answer
	Status int   // in place of the answer; 0: the answer as it is, with Header and Delay
	Header http.Header
	Body   string // empty: the forge's usual message for the status
}

type planned struct {
	Fault
	seen, used int
}

// Inject sets a fault, after those that are set: the first that matches is done.
// The function returned removes it.
func (w *World) Inject(f Fault) (remove func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &planned{Fault: f}
	w.faults = append(slices.Clone(w.faults), p)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.faults = slices.DeleteFunc(slices.Clone(w.faults), func(q *planned) bool { return q == p })
	}
}

// Stored is a write that is kept and answered 502: POST, PATCH, PUT or DELETE.
func Stored(method string) Fault {
	return Fault{Method: method, Done: true, Status: http.StatusBadGateway}
}

// Lost is a write that is kept, with a connection that ends before the answer.
func Lost(method string) Fault { return Fault{Method: method, Done: true, Cut: true} }

// Limited is a rate limit by Retry-After, in whole seconds: 403 or 429.
func Limited(status int, seconds string) Fault {
	return Fault{Status: status, Header: http.Header{"Retry-After": {seconds}}, Body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`}
}

// Exhausted is a primary rate limit: nothing remains until reset (Unix seconds, as
// text).
func Exhausted(status int, reset string) Fault {
	return Fault{Status: status, Header: http.Header{
		"X-Ratelimit-Limit": {"5000"}, "X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {reset},
		"Ratelimit-Limit": {"2000"}, "Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {reset},
	}, Body: `{"message":"API rate limit exceeded for user ID 1."}`}
}

// fault finds what goes wrong with a request, if anything does; and how long its
// answer takes.
func (w *World) fault(r *http.Request, login string) (Fault, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.faults {
		if p.Method != "" && p.Method != r.Method || p.Login != "" && p.Login != login ||
			!strings.Contains(r.URL.Path, p.Path) || p.Times > 0 && p.used >= p.Times {
			continue
		}
		p.seen++
		if n := p.seen - p.Skip; n <= 0 || n%max(1, p.Every) != 0 {
			continue
		}
		p.used++
		return p.Fault, w.between(p.Delay)
	}
	return Fault{}, 0
}

// between wants the lock held: the random source is shared.
func (w *World) between(r Range) time.Duration {
	if r.Max <= r.Min {
		return r.Min
	}
	return r.Min + time.Duration(w.random.Int64N(int64(r.Max-r.Min)+1))
}

// Poison sets the address that stands in every address of a payload, in place of
// the forge's own: whoever follows one goes there. Empty: the forge's own.
func (w *World) Poison(base string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.poison = strings.TrimSuffix(base, "/")
}
