package poll

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/slot"
)

// Forge is what is asked of a forge; a forge.Client has it. One that is a
// forge.Historian, too, is asked who set what.
type Forge interface {
	Thread(ctx context.Context, ref slot.Ref) (forge.Thread, error)
	Comments(ctx context.Context, ref slot.Ref) (forge.Comments, error)
	Checks(ctx context.Context, repo, sha string) ([]forge.Check, error)
	Reviews(ctx context.Context, ref slot.Ref) (forge.Reviews, error)
	PullsByHead(ctx context.Context, repo, sha string) ([]forge.Thread, error)
	Commits(ctx context.Context, repo string, since time.Time) (list []forge.Commit, more bool, err error)
	Reopened(ctx context.Context, ref slot.Ref) (time.Time, error)
	Repo(ctx context.Context, repo string) (forge.Repo, error)
	Repos(ctx context.Context, globs []string) ([]forge.Repo, error)
	Changed(ctx context.Context, repo string, since time.Time, seen forge.Seen) (forge.Changes, error)
	Open(ctx context.Context, repo string) ([]forge.Thread, error)
	Redeliver(ctx context.Context, repo string, since time.Time) (n int, err error)
}

// Found is a wish that was found.
type Found struct {
	slot.Event
	// Condition: it was read just now, and is true now. It is handed on at each
	// reading; whether it is wanted again is for the queue to say.
	Condition bool
	// Rule is the only rule that it is for; empty: all that want it.
	Rule string
}

// Sink takes what was found.
type Sink interface {
	// Accept puts all of it on disk, or fails. What was handed on before is handed on
	// again at any time, and told by its fingerprint. Changes that a person asked for
	// come before those of bots. It is called by several goroutines.
	Accept(ctx context.Context, found []Found) error
}

// Cursors keep small texts by key, for all processes of a store.
type Cursors interface {
	// Cursor is empty for a key without a text.
	Cursor(ctx context.Context, key string) (string, error)
	SetCursor(ctx context.Context, key, text string) error
}

// Orphan is the event of a check that named no pull request.
type Orphan struct {
	N     int64 // its number on record
	Event slot.Event
}

// Unresolved keeps the events of checks that named no pull request.
type Unresolved interface {
	// Orphans are those of some hosts with a number above after, by number: some
	// hundreds; none, and there are no more.
	Orphans(ctx context.Context, hosts []string, after int64) ([]Orphan, error)
	// Resolve puts events in an orphan's place, one for each ref that it turned out
	// to be about; none, and it ends for the reason.
	Resolve(ctx context.Context, n int64, events []slot.Event, reason string) error
}

// Source is one forge.
type Source struct {
	Host   string // canonical
	Type   string // github, forgejo, gitea, gogs or gitlab
	Client Forge
	// Repos are globs of "owner/repo"; "*" ends at a slash.
	Repos []string
	// Poll is the time between ticks, give or take a tenth; zero: it is only asked for
	// the pull requests of orphans.
	Poll time.Duration
	// Lags: a list may be behind what the forge told before.
	Lags bool
	// Look is how many requests one look at a pull request costs, from 1; after it a
	// quiet repository is left alone for the ticks that the others would have taken.
	Look int
	// CatchUp bounds, for one tick, the pull requests that are looked at for no other
	// reason than that this process never did: after a restart that is all of them,
	// and others need the forge's limit, too. 0: some tens.
	CatchUp int
	// Redeliver names the repositories whose failed webhook deliveries are ours to ask
	// for again; nil: none.
	Redeliver func(repo string) bool
}

// Every asks for a scheduled event for each open ref, once in each period.
type Every struct {
	Rule string
	Each time.Duration
}

// Options are what a Poller works with. Forges and Sink are needed.
type Options struct {
	Sources    []Source
	Sink       Sink
	Cursors    Cursors    // nil: after a restart only what is true now is found
	Unresolved Unresolved // nil: nobody looks orphans up
	// Own is what oneslot acts as: nothing that it did makes an event. Labels are those
	// that only oneslot sets.
	Own      mark.Own
	Labels   []string
	Commands []string // of comments, such as "/oneslot"
	// Wants reports whether any rule wants a kind; what none wants is not read. nil:
	// all kinds.
	Wants func(slot.EventKind) bool
	Every []Every
	// Known is told of each repository as it is now, by its id. nil: nobody is.
	Known func(ctx context.Context, host string, r forge.Repo)
	// Metrics is told of each call of a client. nil: nobody is.
	Metrics func(host, call string, err error)
	Log     *slog.Logger // nil: nothing is logged
}

// Poller looks at forges. Tick and Run do not run at the same time.
type Poller struct {
	o       Options
	sources []*source
	nudged  chan struct{}
	orphans orphans
}

// New makes a Poller. Nothing is asked yet.
func New(o Options) *Poller {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Wants == nil {
		o.Wants = func(slot.EventKind) bool { return true }
	}
	if o.Metrics == nil {
		o.Metrics = func(string, string, error) {}
	}
	p := &Poller{o: o, nudged: make(chan struct{}, 1)}
	for _, s := range o.Sources {
		p.sources = append(p.sources, newSource(&p.o, s))
	}
	return p
}

// Nudge has orphans looked up now, for there are new ones. It never blocks.
func (p *Poller) Nudge() {
	select {
	case p.nudged <- struct{}{}:
	default:
	}
}

// Run looks at each forge at its own pace, at once first, until ctx ends. What fails is
// logged, and tried again.
func (p *Poller) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, s := range p.sources {
		if s.Poll <= 0 {
			continue
		}
		wg.Go(func() {
			for next := time.Duration(0); pause(ctx, next, nil); {
				s.tick(ctx) //nolint:errcheck // it is logged
				next = max(jitter(s.Poll), time.Until(s.limited()))
			}
		})
	}
	if p.o.Unresolved != nil {
		wg.Go(func() {
			for next := time.Duration(0); pause(ctx, next, p.nudged); {
				next = p.lookUp(ctx) - orphansLeast
				if !pause(ctx, orphansLeast, nil) {
					return
				}
			}
		})
	}
}

// Tick looks at everything once. The error joins those of all repositories.
func (p *Poller) Tick(ctx context.Context) error {
	errs := make([]error, len(p.sources))
	var wg sync.WaitGroup
	for i, s := range p.sources {
		if s.Poll > 0 {
			wg.Go(func() { errs[i] = s.tick(ctx) })
		}
	}
	wg.Wait()
	if p.o.Unresolved != nil {
		p.lookUp(ctx)
	}
	return errors.Join(errs...)
}

// pause reports whether to go on: after d, or when poked.
func pause(ctx context.Context, d time.Duration, poked <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-poked:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// jitter keeps hosts that were started together apart.
func jitter(d time.Duration) time.Duration { return d - d/10 + rand.N(d/5+1) }
