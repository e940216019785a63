package gate

import (
	"context"
	"sync"
)

// Tick begins a new look at the world: the first Ask after it reads each list anew,
// and all others share what it found.
func (s *Set) Tick() {
	for _, e := range s.entries {
		if l, ok := e.Gate.(Lister); ok {
			l.Tick()
		}
	}
}

// Watch calls changed with the type of a gate whenever something that was in
// somebody's way may be gone, until ctx ends; call Tick before asking again. A gate
// that cannot watch is looked at by its Every alone.
func (s *Set) Watch(ctx context.Context, changed func(gateType string)) {
	var wg sync.WaitGroup
	for _, e := range s.entries {
		if w, ok := e.Gate.(Watcher); ok {
			wg.Go(func() { _ = w.Watch(ctx, func() { changed(e.Type()) }) })
		}
	}
	<-ctx.Done()
	wg.Wait()
}

// shared is a list that is read once per tick, for all who ask. A failure is
// shared too, so that a hanging source costs one time limit per tick and not one
// per ref.
type shared[T any] struct {
	mu      sync.Mutex
	reading *reading[T]
}

type reading[T any] struct {
	done chan struct{}
	list T
	err  error
}

// Tick forgets the list.
func (s *shared[T]) Tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = nil
}

// get returns the list of this tick, or one that is read for this ask alone.
func (s *shared[T]) get(ctx context.Context, fresh bool, read func(context.Context) (T, error)) (T, error) {
	if fresh {
		return read(ctx)
	}
	s.mu.Lock()
	r := s.reading
	if r == nil {
		r = &reading[T]{done: make(chan struct{})}
		s.reading = r
		go r.run(ctx, read)
	}
	s.mu.Unlock()
	select {
	case <-r.done:
		return r.list, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// run reads on behalf of everybody, so it does not end with the first who asked,
// but at that one's time limit.
func (r *reading[T]) run(ctx context.Context, read func(context.Context) (T, error)) {
	defer close(r.done)
	limit, ok := ctx.Deadline()
	ctx = context.WithoutCancel(ctx)
	if ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, limit)
		defer cancel()
	}
	r.list, r.err = read(ctx)
}

// had returns the list if it was read, and well.
func (s *shared[T]) had() (list T, ok bool) {
	s.mu.Lock()
	r := s.reading
	s.mu.Unlock()
	if r == nil {
		return list, false
	}
	select {
	case <-r.done:
		return r.list, r.err == nil
	default:
		return list, false
	}
}
