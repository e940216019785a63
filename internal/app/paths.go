package app

import (
	"context"
	"reflect"

	"github.com/oneslot/oneslot/internal/api"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/intake/poll"
	"github.com/oneslot/oneslot/internal/slot"
)

// paths are what one configuration has to do with forges. A new configuration brings
// new ones.
type paths struct {
	poller    *poll.Poller
	tickets   *tickets
	reserve   *Reservations
	relations relations
	polled    chan struct{} // closed when the poller has ended
}

// pathsOf makes them. Nothing is asked yet.
func (s *server) pathsOf(cfg *config.Config, all forges) (*paths, error) {
	reserve, err := s.reservationsOf(cfg, all, s.Log)
	if err != nil {
		return nil, err
	}
	return &paths{
		poller:  s.pollerOf(cfg, all, newDesk(s.Queue, s.Names, all.slot, s.live.Current), s.feed, s.Log),
		tickets: s.ticketsOf(cfg, all, s.Log), reserve: reserve, relations: relations{cfg, all, s.Names},
		polled: make(chan struct{}),
	}, nil
}

// walk goes the paths until ctx ends. Those of before, if any, were told to end, and are
// gone on with.
func (p *paths) walk(ctx context.Context, s *server, before *paths) {
	s.work.Go(func() {
		defer close(p.polled)
		if before != nil {
			<-before.polled
			p.poller.Adopt(before.poller, !reflect.DeepEqual(before.relations.config.Rules, p.relations.config.Rules))
		}
		p.poller.Run(ctx)
	})
	var shown *tickets
	if before != nil {
		shown = before.tickets
	}
	s.work.Go(func() { p.tickets.run(ctx, shown) })
	if p.reserve != nil {
		s.work.Go(func() {
			p.reserve.keep(ctx, s.tend)
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerMost)
			defer cancel()
			_ = p.reserve.Tend(last) // of what has just ended; what fails, the next process does
		})
	}
}

// told hears of every change.
func (s *server) told(kind, scope string) {
	p := s.paths.Load()
	if p == nil {
		return
	}
	if ref, err := slot.ParseCanonical(scope); err == nil {
		p.tickets.note(ref)
	}
	switch kind {
	case "claim":
		poke(s.tend)
	case "work":
		if scope == "" { // it is not known yet whose
			p.poller.Nudge()
		}
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Closes implements dispatch.Relations by the configuration of now.
func (s *server) Closes(ctx context.Context, ref slot.Ref) ([]slot.Ref, error) {
	return s.paths.Load().relations.Closes(ctx, ref)
}

// Reserve implements dispatch.Reservations by the configuration of now.
func (s *server) Reserve(ctx context.Context, g claim.Grant) (undo func(context.Context), waited bool, err error) {
	return s.paths.Load().reserve.Reserve(ctx, g)
}

// named is the name under which the slots of a repository are kept, by the
// configuration of now.
func (s *server) named(ctx context.Context, repo string, ask bool) (string, error) {
	if !ask {
		return s.Names.CanonicalRepo(ctx, repo)
	}
	return s.paths.Load().relations.forges.slots(ctx, repo)
}

// slot is the slot of a ref that somebody wrote, by the configuration of now.
func (s *server) slot(ctx context.Context, ref slot.Ref) (slot.Ref, error) {
	return s.paths.Load().relations.forges.slot(ctx, ref)
}

// newFeed makes the feed of changes, which the paths hear, too.
func (s *server) newFeed() *api.Feed { return api.NewFeed(s.Clock.Wall, s.told) }
