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
	// orphansEach is how often orphans are looked up when nobody asks for it, and
	// orphansLeast how far apart it is done at least.
	orphansEach  = time.Minute
	orphansLeast = time.Second
	// settleHead is how old an orphan must be for "no pull request" to be an answer,
	// where lists lag: some four times as much as they were seen to.
	settleHead = time.Minute
	// settleLook is how long it is until the second look at such a head, and half of
	// how long it is until the third.
	settleLook = 5 * time.Second
	// maxWait bounds how long a head that could not be looked up is put off.
	maxWait = time.Hour
	noPull  = "no pull request has this head"
)

// orphans is what is remembered of the look-ups. One goroutine uses it.
type orphans struct {
	failed string // the last failure that was logged
	waits  map[head]wait
}

// wait is how a head is put off that could not be looked up, or was nobody's yet.
type wait struct {
	fails, looks int
	until        time.Time
}

// head is a commit that orphans are about.
type head struct{ repo, sha string }

// answer is what a head is the head of.
type answer struct {
	pulls  []forge.Thread
	branch string // the default branch, if it is the head of that
	err    error
	wait   wait // until the next look, if this one is no answer
}

// after is the wait that follows a look.
func (w wait) after(err error) wait {
	if err != nil {
		return wait{fails: w.fails + 1, until: time.Now().Add(min(orphansEach<<min(w.fails, 10), maxWait))}
	}
	return wait{looks: w.looks + 1, until: time.Now().Add(min(settleLook<<min(w.looks, 10), settleHead))}
}

// lookUp finds the pull requests of orphans. Those that could not be looked up stay. It
// returns when to come again.
func (p *Poller) lookUp(ctx context.Context) time.Duration {
	round := lookUp{Poller: p, waits: map[head]wait{}, answers: map[head]answer{}}
	var hosts []string
	for _, s := range p.sources {
		hosts = append(hosts, s.Host)
	}
	for after := int64(0); len(hosts) > 0; {
		list, err := p.o.Unresolved.Orphans(ctx, hosts, after)
		if err != nil {
			p.orphans.log(ctx, p.o.Log, err)
			return orphansEach // and who waits does so
		}
		if len(list) == 0 {
			break
		}
		for _, o := range list {
			round.one(ctx, o)
			after = o.N
		}
	}
	p.orphans.waits = round.waits // those of heads without orphans are over
	p.orphans.log(ctx, p.o.Log, round.failed)
	next := orphansEach
	for _, w := range round.waits {
		next = min(next, time.Until(w.until))
	}
	return max(next, orphansLeast)
}

// lookUp is one round.
type lookUp struct {
	*Poller
	waits   map[head]wait // as of this round
	answers map[head]answer
	failed  error
}

// one looks an orphan up, unless its time has not come: who nudges is not told anew what
// was read a moment ago.
func (r *lookUp) one(ctx context.Context, o Orphan) {
	h, s := head{o.Event.Repo, o.Event.Sha}, r.of(o.Event)
	a, known := r.answers[h]
	if !known {
		w, waits := r.orphans.waits[h]
		if waits {
			r.waits[h] = w
		}
		if now := time.Now(); s == nil || now.Before(w.until) || now.Before(s.limited()) || ctx.Err() != nil {
			return
		}
		if a = s.headOf(ctx, h); a.err != nil {
			r.failed = errors.Join(r.failed, s.fail(ctx, a.err))
		}
		a.wait = w.after(a.err)
		r.answers[h] = a
		delete(r.waits, h)
	}
	if a.err != nil || a.none() && s.Lags && time.Since(o.Event.At) < settleHead {
		r.waits[h] = a.wait
		return
	}
	events, reason := adopt(o.Event, a), ""
	if len(events) == 0 {
		reason = noPull
	}
	if err := r.o.Unresolved.Resolve(ctx, o.N, events, reason); err != nil {
		r.failed = errors.Join(r.failed, err)
	}
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
