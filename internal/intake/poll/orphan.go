package poll

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/slot"
)

const (
	// orphansEach is how often orphans are looked up when nobody asks for it.
	orphansEach = time.Minute
	// settleHead is how old an orphan must be for "no pull request" to be an answer,
	// where lists lag.
	settleHead = 10 * time.Second
	// maxWait bounds how long a head that could not be looked up is put off.
	maxWait = time.Hour
	noPull  = "no pull request has this head"
)

// orphans is what is remembered of the look-ups. One goroutine uses it.
type orphans struct {
	failed string // the last failure that was logged
	waits  map[head]wait
}

// wait is how a head that could not be looked up is put off.
type wait struct {
	tries int
	until time.Time
}

// head is a commit that orphans are about.
type head struct{ repo, sha string }

// answer is what a head is the head of.
type answer struct {
	pulls  []forge.Thread
	branch string // the default branch, if it is the head of that
	err    error
}

// lookUp finds the pull requests of orphans. Those that could not be looked up stay. It
// returns when to come again.
func (p *Poller) lookUp(ctx context.Context) time.Duration {
	next := orphansEach
	list, err := p.o.Unresolved.Orphans(ctx)
	if err != nil {
		p.orphans.log(ctx, p.o.Log, err)
		return next
	}
	waits, answers := map[head]wait{}, map[head]answer{}
	var failed error
	for _, o := range list {
		h := head{o.Event.Repo, o.Event.Sha}
		if w, ok := p.orphans.waits[h]; ok {
			if waits[h] = w; time.Now().Before(w.until) {
				continue
			}
		}
		s := p.of(o.Event)
		if s == nil || time.Now().Before(s.limited()) || ctx.Err() != nil {
			continue
		}
		a, known := answers[h]
		if !known {
			a = s.headOf(ctx, h)
			answers[h] = a
		}
		switch {
		case a.err != nil:
			failed = errors.Join(failed, s.fail(ctx, a.err))
			n := p.orphans.waits[h].tries
			waits[h] = wait{n + 1, time.Now().Add(min(orphansEach<<min(n, 10), maxWait))}
			continue
		case a.none() && s.Lags && time.Since(o.Event.At) < settleHead:
			next = settleHead
			continue
		}
		delete(waits, h)
		events, reason := adopt(o.Event, a), ""
		if len(events) == 0 {
			reason = noPull
		}
		if err := p.o.Unresolved.Resolve(ctx, o.N, events, reason); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	p.orphans.waits = waits
	p.orphans.log(ctx, p.o.Log, failed)
	return next
}

func (a answer) none() bool { return a.err == nil && len(a.pulls) == 0 && a.branch == "" }

// of is the forge that an event came from, if it is configured.
func (p *Poller) of(e slot.Event) *source {
	host, _, _ := strings.Cut(e.Repo, "/")
	for _, s := range p.sources {
		if s.Host == host {
			return s
		}
	}
	return nil
}

// headOf asks what a commit is the head of: of open pull requests or, if there are
// none, of the default branch.
func (s *source) headOf(ctx context.Context, h head) (a answer) {
	list, err := s.Client.PullsByHead(ctx, h.repo, h.sha)
	if s.count("pulls", err); err != nil {
		a.err = err
		return a
	}
	for _, t := range list {
		if t.Pull && t.State == forge.Open && t.Head.Sha == h.sha {
			a.pulls = append(a.pulls, t)
		}
	}
	if len(a.pulls) > 0 {
		return a
	}
	r, err := s.Client.Repo(ctx, h.repo)
	if s.count("repo", err); err != nil || r.Default == "" {
		a.err = err
		return a
	}
	p := &pass{repo: newRepo(s, r), ctx: ctx, o: s.o, now: time.Now()}
	sha, _, err := p.headOf(time.Time{})
	if a.err = err; sha == h.sha {
		a.branch = r.Default
	}
	return a
}

// adopt makes the events of an orphan: one for each of its pull requests.
func adopt(e slot.Event, a answer) []slot.Event {
	var events []slot.Event
	for _, t := range a.pulls {
		n := e
		n.Ref, n.Repo = t.Ref, t.Ref.Repo()
		th := note(nil, t, 0, time.Time{})
		f := th.known(false)
		n.Facts.State, n.Facts.Pull, n.Facts.Draft, n.Facts.Labels = f.State, f.Pull, f.Draft, f.Labels
		n.Facts.Branch, n.Facts.Base, n.Facts.Author, n.Facts.Fork = f.Branch, f.Base, f.Author, f.Fork
		events = append(events, n)
	}
	if len(events) > 0 || a.branch == "" {
		return events
	}
	if ref, err := slot.ParseCanonical(e.Repo + "@" + a.branch + ":" + e.Facts.Check); err == nil {
		e.Ref, e.Facts.Branch = ref, mark.Line(a.branch)
		events = append(events, e)
	}
	return events
}

// log speaks of a failure once, until it works again.
func (o *orphans) log(ctx context.Context, to *slog.Logger, err error) {
	switch {
	case err == nil:
		o.failed = ""
	case ctx.Err() == nil && o.failed == "":
		o.failed = err.Error()
		to.Warn("the pull requests of some checks could not be looked up; it is tried again", "error", err)
	}
}
