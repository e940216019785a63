package poll

import (
	"errors"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/slot"
)

const (
	// settleNone is how long a head without any check is expected to get one.
	settleNone = 10 * time.Minute
	// settlePending is how long a check may be pending until it is one among others.
	settlePending = 6 * time.Hour
	// maxVague is in how many looks in a row a forge may not know whether a pull
	// request can be merged, until that is its last word.
	maxVague = 10
	// freshFor is how long after a change pending checks are looked at in each tick.
	freshFor = 5 * time.Minute
	// spaced is by what part of the time since the last change the looks at them are
	// apart from then on, and maxSpaced the most.
	spaced    = 4
	maxSpaced = 10 * time.Minute
	// hotter is how much sooner than others it is looked at again what was true.
	hotter = 3
)

// aspects are those of a thread that any rule wants looked at: all that may have
// changed with it, or those that may change without a trace.
func (p *pass) aspects(t *thread, changed bool) set {
	s := p.watched
	if changed {
		s = p.wanted
	}
	if !t.pull {
		s &= 1 << remarks
	}
	if t.talk == 0 {
		s &^= 1 << remarks
	}
	return s
}

// aim sets what any rule wants looked at.
func (p *pass) aim() {
	want := func(a aspect, kinds ...slot.EventKind) set {
		if slices.ContainsFunc(kinds, p.o.Wants) {
			return 1 << a
		}
		return 0
	}
	p.watched = want(checks, slot.CIFailed, slot.CIPassed) | want(merge, slot.Conflict) |
		want(reviews, slot.ChangesRequested, slot.ReviewComment) | want(remarks, slot.Commented)
	p.wanted = p.watched | want(reviews, slot.Approved, slot.Command, slot.Mentioned) | want(remarks, slot.Command, slot.Mentioned)
}

// due are the aspects that cannot wait for their turn: something goes on there, or
// this process never looked.
func (p *pass) due(t *thread) set {
	s := p.aspects(t, false) & (p.open(t) | ^t.seen&^(1<<remarks))
	if t.vagueHead() {
		s |= 1 << merge
	}
	if !t.pull {
		s = 0
	}
	return s
}

// open are the aspects of a thread that are not settled, and not left to their turn.
func (p *pass) open(t *thread) set {
	s := t.open
	if !p.fresh(t.moved) {
		s.put(checks, false)
	}
	return s
}

// fresh reports whether something has changed not long ago.
func (p *pass) fresh(moved time.Time) bool { return p.now.Sub(moved) < freshFor }

// quiet reports whether nothing is going on.
func (p *pass) quiet() bool {
	for _, t := range p.threads {
		if p.due(t) != 0 {
			return false
		}
	}
	return !p.branchDue()
}

// busy looks at all that goes on.
func (p *pass) busy() error {
	var failed error
	if p.branchDue() {
		failed = p.lookBranch()
	}
	for ref, t := range p.threads {
		due := p.due(t)
		if due == 0 || p.done[ref] || due&p.open(t) == 0 && p.src.behind.Add(-1) < 0 {
			continue
		}
		if err := p.again(t, due); err != nil {
			failed = errors.Join(failed, err)
		}
		if p.ctx.Err() != nil || errors.Is(failed, forge.ErrLimited) {
			break
		}
		if err := p.full(); err != nil {
			return err
		}
	}
	return failed
}

// slow looks at the checks that have been pending for longest beyond their time; false:
// there are none.
func (p *pass) slow() (bool, error) {
	var thread *thread
	most := time.Duration(-1)
	late := func(looked int64, moved time.Time) time.Duration {
		return p.now.Sub(time.Unix(0, looked)) - min(p.now.Sub(moved)/spaced, maxSpaced)
	}
	for _, t := range p.threads {
		if !t.open.has(checks) || p.done[t.ref] || p.fresh(t.moved) || !p.aspects(t, false).has(checks) {
			continue
		}
		if l := late(t.looked[checks], t.moved); l > most {
			thread, most = t, l
		}
	}
	if b := p.branch; b.open && p.wantsBranch() && !p.fresh(b.moved) && late(b.looked, b.moved) > most {
		return true, p.lookBranch()
	}
	if thread == nil {
		return false, nil
	}
	return true, p.again(thread, 1<<checks)
}

// oldest looks at what was looked at longest ago; false: there is nothing to look at.
func (p *pass) oldest() (bool, error) {
	var thread *thread
	var what aspect
	now := p.now.UnixNano()
	most := int64(-1)
	for _, t := range p.threads {
		s := p.aspects(t, false)
		for a := range aspects {
			age := now - t.looked[a]
			if t.hot.has(a) {
				age *= hotter
			}
			if s.has(a) && !p.done[t.ref] && age > most {
				thread, what, most = t, a, age
			}
		}
	}
	if p.wantsBranch() && p.branch.age(now) > most {
		return true, p.lookBranch()
	}
	if thread == nil {
		return false, nil
	}
	return true, p.again(thread, 1<<what)
}

// again looks at some of a thread that is known.
func (p *pass) again(was *thread, what set) error {
	th := *was
	err := p.forgive(try{ref: th.ref}, p.lookAt(&th, what))
	if err != nil {
		return err
	}
	p.did(th.ref)
	p.after(func() {
		if p.threads[th.ref] == was {
			p.threads[th.ref] = &th
		}
	})
	return nil
}

// lookAt reads aspects of a thread. What the token may not read is left out.
func (p *pass) lookAt(t *thread, what set) error {
	if t.pull && t.sha == "" && what != 0 { // whoever reads that learns the head
		what |= 1 << merge
	}
	for a := range aspects {
		if what.has(a) {
			t.look(a, p.now)
		}
	}
	// The head comes first, for it is what the checks are of.
	for _, a := range []aspect{merge, checks, reviews, remarks} {
		if !what.has(a) {
			continue
		}
		err := p.lookers()[a](t)
		if !p.withhold(a.String(), err) && err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) lookers() [aspects]func(*thread) error {
	return [...]func(*thread) error{checks: p.lookChecks, merge: p.lookMerge, reviews: p.lookReviews, remarks: p.lookRemarks}
}

// lookChecks finds what failed, and what passed, at the head.
func (p *pass) lookChecks(t *thread) error {
	if t.sha == "" {
		return nil
	}
	list, err := p.src.Client.Checks(p.ctx, p.Name, t.sha)
	if p.src.count("checks", err); err != nil {
		return err
	}
	before := t.results
	failed, open := p.results(&t.results, t.sha, t.since, list, func(c forge.Check, kind slot.EventKind, fingerprint string) Found {
		return p.event(t, kind, fingerprint)
	})
	if t.results.moved(before) {
		t.moved = p.now
	}
	t.hot.put(checks, failed)
	t.open.put(checks, open)
	return nil
}

// results are what checks told of a head when they were read last.
type results struct {
	passed uint64 // a sum of those that passed; 0: none was read
	all    uint64 // a sum of all, in any order
	// old: no process ever looked before. What passed until then is no news.
	old bool
}

// moved reports whether they are others than they were.
func (r results) moved(was results) bool { return was.passed != 0 && r.all != was.all }

// results tells of what failed, at each reading, and of what passed, when it is new. It
// reports whether anything failed, and whether something is to be expected yet.
func (p *pass) results(was *results, sha string, since time.Time, list []forge.Check, event func(c forge.Check, kind slot.EventKind, fingerprint string) Found) (failed, open bool) {
	var passed []Found
	var all uint64
	sum := []string{sha}
	open = len(list) == 0 && p.now.Sub(since) < settleNone
	for _, c := range list {
		all += sumOf(c.Name, c.State, c.ID, c.Again)
		open = open || c.State == forge.Pending && p.now.Sub(since) < settlePending
		kind := slot.CIFailed
		if c.State == forge.Success {
			kind = slot.CIPassed
		}
		if c.State != forge.Failure && c.State != forge.Success || p.o.Own.App(c.App) {
			continue
		}
		f := event(c, kind, mark.Check(kind, sha, c.ID, c.Again, c.Name))
		f.Facts.Check, f.Facts.Result, f.Facts.App = mark.Line(c.Name), mark.Line(c.Result), mark.Line(c.App)
		if f.Ref.IsZero() {
			continue
		}
		if kind == slot.CIPassed {
			passed, sum = append(passed, f), append(sum, f.Fingerprint)
			continue
		}
		f.Condition, failed = true, true
		p.add(f)
	}
	if s := sumOf(sum...); s != was.passed && !was.old {
		for _, f := range passed {
			p.add(f)
		}
	}
	*was = results{passed: sumOf(sum...), all: all}
	return failed, open
}

// lookMerge reads a pull request whole.
func (p *pass) lookMerge(t *thread) error {
	full, err := p.src.Client.Thread(p.ctx, t.ref)
	if p.src.count("thread", err); err != nil {
		return err
	}
	if full.State != forge.Open || !p.mine(full.Ref) {
		return nil // the list of changes tells of that
	}
	before := *t
	*t = *note(&before, full, before.mark, p.now)
	t.looked, t.seen, t.open = before.looked, before.seen, before.open
	if before.sha != "" {
		if t.sha != before.sha {
			t.open.put(checks, true)
		}
		if err := p.news(&before, t, full); err != nil {
			return err
		}
	}
	p.merge(t, full.Mergeable)
	return nil
}

// merge tells of a conflict.
func (p *pass) merge(t *thread, mergeable string) {
	t.look(merge, p.now)
	if t.vague++; mergeable != "" {
		t.vague = 0
	}
	t.open.put(merge, mergeable == "" && t.vague < maxVague && p.o.Wants(slot.Conflict))
	t.hot.put(merge, mergeable == "conflict")
	if t.hot.has(merge) {
		f := p.event(t, slot.Conflict, mark.Fingerprint(slot.Conflict, t.sha, t.base))
		f.Condition = true
		p.add(f)
	}
}
