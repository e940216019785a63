package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/ending"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// stopAll ends all runs of the queue, whichever daemon started them.
func (s *server) stopAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopMost)
	defer cancel()
	items, err := s.Queue.Items(ctx, queue.Filter{State: string(queue.Running)})
	if err != nil {
		return err
	}
	var wait sync.WaitGroup
	errs := make([]error, len(items))
	for i, it := range items {
		wait.Go(func() {
			stop := ending.Stopper{Ender: s.Ender(), Ref: it.Ref, Path: slot.PathManual, Reason: "the daemon was told to stop its workers", Log: s.Log}
			errs[i] = s.stopOne(ctx, stop, it.Run)
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// stopOne ends a run, and waits until its supervisor has seen that there is a
// daemon: it would start what follows itself.
func (s *server) stopOne(ctx context.Context, stop ending.Stopper, run string) error {
	r, err := s.Store.Run(ctx, run)
	if err != nil {
		return err
	}
	gone, cancel, err := proc.Watch(r.Holder.Process)
	if err == nil {
		defer cancel()
	}
	if _, err := stop.Stop(ctx); err != nil {
		return err
	}
	select {
	case <-gone: // nil if it is out of sight
	case <-time.After(supervisorMost):
	}
	return nil
}
