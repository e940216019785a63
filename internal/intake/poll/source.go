package poll

import (
	"context"
	"errors"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
)

const (
	// workers bounds the requests to one forge at a time.
	workers = 4
	// catchUp is Source.CatchUp by default: with a look of two requests and a tick of
	// two minutes not more than what GitHub lets a token ask.
	catchUp = 80
	// refresh is how often the patterns of repositories are read anew, and refreshSoon
	// how often when some could not be read, or match nothing.
	refresh     = time.Hour
	refreshSoon = 5 * time.Minute
)

// source is one forge and what is remembered of it.
type source struct {
	Source
	o *Options

	repos  []*repo                 // as of the last refresh
	known  map[string][]forge.Repo // what each pattern stood for then
	again  time.Time               // when the next one is
	warned map[string]bool         // patterns that match nothing
	first  int                     // who is first in turn next time
	behind atomic.Int64            // what is left of CatchUp

	mu    sync.Mutex
	until time.Time // a limit of the forge
	fails string    // the last error of the list of repositories that was logged
}

func newSource(o *Options, s Source) *source {
	s.Look = max(s.Look, 1)
	if s.CatchUp <= 0 {
		s.CatchUp = catchUp
	}
	return &source{Source: s, o: o, known: map[string][]forge.Repo{}, warned: map[string]bool{}}
}

// tick looks at all repositories once.
func (s *source) tick(ctx context.Context) error {
	if time.Now().Before(s.limited()) {
		return &forge.LimitError{Until: s.limited()}
	}
	if err := s.resolve(ctx); err != nil {
		return err
	}
	s.behind.Store(int64(s.CatchUp))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(s.repos))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(workers, len(s.repos)) {
		wg.Go(func() {
			for i := range next {
				if errs[i] = s.visit(ctx, s.repos[i]); errors.Is(errs[i], forge.ErrLimited) {
					cancel() // the others would only be told the same
				}
			}
		})
	}
	for i := range s.repos {
		if ctx.Err() != nil {
			break
		}
		next <- (i + s.first) % len(s.repos)
	}
	close(next)
	wg.Wait()
	s.first += max(1, s.CatchUp/8) // who came last when the budget ended comes first some day
	return errors.Join(errs...)
}

// visit looks at one repository, whose failure is nobody else's.
func (s *source) visit(ctx context.Context, r *repo) error {
	err := r.tick(ctx)
	r.log(s.fail(ctx, err))
	return err
}

// fail notes a limit. It returns what is worth a line in the log.
func (s *source) fail(ctx context.Context, err error) (say error) {
	var limit *forge.LimitError
	switch {
	case errors.As(err, &limit):
		s.mu.Lock()
		defer s.mu.Unlock()
		if limit.Until.After(s.until) {
			s.until = limit.Until
			s.o.Log.Warn("the forge's rate limit: it is polled again later", "forge", s.Host, "until", s.until)
		}
		return nil
	case ctx.Err() != nil:
		return nil
	}
	return err
}

func (s *source) limited() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.until
}

// count is told of each call.
func (s *source) count(call string, err error) { s.o.Metrics(s.Host, call, err) }

// turnOf spreads repositories over the ticks.
func turnOf(name string) int {
	h := fnv.New32a()
	h.Write([]byte(name)) //nolint:errcheck // it never fails
	return int(h.Sum32() % rotate)
}
