package poll

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// maxTries is how many looks in a row at one thread may fail before the others wait
// for it no longer.
const maxTries = 5

// rebuild fills the memory of a process that has none: by one list of all that is open,
// and what changed since the last process looked.
func (p *pass) rebuild() error {
	r := p.repo
	if c := p.o.Cursors; c != nil && r.onDisk == "" {
		text, err := c.Cursor(p.ctx, r.key)
		if err != nil {
			return err
		}
		r.onDisk = text
	}
	var known bool
	if r.place, known = readPlace(r.onDisk, r.Name); !known {
		// The list is read for the forge's clock alone.
		r.since = p.now.Add(-overlap)
	}
	if r.askedTill = r.since; !known {
		r.askedTill = p.now.Add(-redeliverFirst)
	}
	r.threads, r.branch = map[slot.Ref]*thread{}, branch{results: results{old: !known}}
	c, err := p.list()
	if err != nil {
		return err
	}
	open, err := p.src.Client.Open(p.ctx, p.Name)
	if p.src.count("open", err); err != nil {
		return err
	}
	listed := map[slot.Ref]bool{} // and whether more is said there than is known
	for _, t := range c.Threads {
		listed[t.Ref] = !p.settled(t)
		if told, named := r.past[t.Ref]; named {
			r.past[t.Ref] = change{t.Updated, told.mark} // a cursor does not tell when
		}
	}
	var standing []forge.Thread
	for _, t := range open {
		more, in := listed[t.Ref]
		switch {
		case !p.mine(t.Ref) || t.State != forge.Open:
		case known && more: // how it stood is not known: anything may have happened to it
		case known && !t.Updated.Before(p.since) && !p.settled(t):
			c.Threads = append(c.Threads, t) // it changed between the two lists: as above
		case !known && !in && !t.Created.Before(cmp.Or(c.At, p.since)): // made between the two: it is news in the next
		default:
			r.threads[t.Ref] = note(nil, t, sumAt(t, c.At), p.now)
			r.threads[t.Ref].old, r.threads[t.Ref].first = !known, !known
			standing = append(standing, t)
		}
	}
	p.after(func() { r.ready = true })
	if known {
		return p.work(c)
	}
	for _, t := range standing {
		p.standing(r.threads[t.Ref], t)
	}
	p.after(func() {
		for _, t := range c.Threads {
			r.past[t.Ref] = change{t.Updated, sumAt(t, c.At)}
		}
		if !c.At.IsZero() {
			r.since, r.till = c.At.Add(-overlap), c.At
		}
		r.moved = true
	})
	return p.flush()
}

// changes reads the list of what changed, and looks at each.
func (p *pass) changes() error {
	c, err := p.list()
	if err != nil || c.Unchanged {
		return err
	}
	return p.work(c)
}

func (p *pass) list() (forge.Changes, error) {
	c, err := p.src.Client.Changed(p.ctx, p.Name, p.since, p.seen)
	p.src.count("changed", err)
	if errors.Is(err, forge.ErrUnsupported) {
		return p.listAll()
	}
	if err == nil && !c.At.IsZero() {
		p.clock = c.At
	}
	return c, err
}

// listAll stands in for the list of changes where a forge has none (Gogs). What is
// open no longer is forgotten, and not told of.
func (p *pass) listAll() (forge.Changes, error) {
	list, err := p.src.Client.Open(p.ctx, p.Name)
	if p.src.count("open", err); err != nil {
		return forge.Changes{}, err
	}
	slices.SortStableFunc(list, func(a, b forge.Thread) int { return a.Updated.Compare(b.Updated) })
	for ref := range p.threads {
		if !slices.ContainsFunc(list, func(t forge.Thread) bool { return t.Ref == ref }) {
			delete(p.threads, ref)
		}
	}
	return forge.Changes{Threads: list}, nil
}

// work deals with the changed threads of a list. The place moves on only if nothing
// failed: what did is in the next list again.
func (p *pass) work(c forge.Changes) error {
	var failed error
	news := false
	for _, t := range c.Threads {
		if p.settled(t) || !p.mine(t.Ref) {
			continue
		}
		news = true
		if err := p.changed(t, c.At); err != nil {
			failed = errors.Join(failed, err)
			if p.ctx.Err() != nil || errors.Is(err, forge.ErrLimited) {
				break
			}
		}
		if err := p.full(); err != nil {
			return err
		}
	}
	if err := p.flush(); err != nil || failed != nil {
		return errors.Join(failed, err)
	}
	p.seen = c.Seen
	// A tag is of one list; without one a list is the cheaper the less it goes back.
	if news || c.Seen == (forge.Seen{}) {
		p.advance(c)
		p.moved = p.moved || news
	}
	return nil
}

// settled reports whether a list's entry is known already.
func (p *pass) settled(t forge.Thread) bool {
	sum := sumOfEntry(t)
	was, open := p.threads[t.Ref]
	if open && t.State == forge.Open && t.Head.Sha != "" && was.sha != "" && was.sha != t.Head.Sha {
		return false
	}
	if open && p.ready && was.mark == sum {
		return true
	}
	told, named := p.past[t.Ref]
	return told.mark == sum || !named && !(open && p.ready) && !p.unnamed.IsZero() && !t.Updated.After(p.unnamed)
}

// changed looks at a thread that is new, or another than it was.
func (p *pass) changed(entry forge.Thread, at time.Time) error {
	p.change = entry.Ref
	defer func() { p.change = slot.Ref{} }()
	sum := sumAt(entry, at)
	t, whole, err := p.whole(entry)
	was := p.threads[entry.Ref]
	var th *thread
	switch {
	case err != nil:
		th = note(was, entry, sum, p.now)
	case t.State != forge.Open || !p.mine(t.Ref):
		err = p.ended(was, t)
	default:
		th = note(was, t, sum, p.now)
		if whole {
			p.merge(th, t.Mergeable)
		}
		if err = p.news(was, th, t); err == nil {
			err = p.lookAt(th, p.aspects(th, true)&^(1<<merge))
		}
	}
	if err = p.forgive(try{entry.Ref, true}, err); err != nil {
		return err
	}
	if p.did(entry.Ref); th != nil {
		th.moved = p.now
	}
	p.after(func() {
		if p.past[entry.Ref] = (change{entry.Updated, sum}); th == nil {
			delete(p.threads, entry.Ref)
			return
		}
		p.threads[entry.Ref] = th
	})
	return nil
}

// whole reads what lists of some forges leave out of a pull request.
func (p *pass) whole(t forge.Thread) (forge.Thread, bool, error) {
	if !t.Pull || t.State != forge.Open || t.Head.Sha != "" && !p.o.Wants(slot.Conflict) {
		return t, false, nil
	}
	full, err := p.src.Client.Thread(p.ctx, t.Ref)
	p.src.count("thread", err)
	if p.withhold("pull requests", err) {
		return t, false, nil
	}
	return full, err == nil, err
}

// forgive lets a thread that fails and fails hold up the others no longer.
func (p *pass) forgive(t try, err error) error {
	switch {
	case err == nil:
		delete(p.tries, t)
	case p.ctx.Err() != nil || errors.Is(err, forge.ErrLimited):
	default:
		if p.tries[t]++; p.tries[t] >= maxTries {
			if p.tries[t] == maxTries {
				p.o.Log.Warn("an issue or pull request could not be read again and again; what it says is missed until it changes", "ref", t.ref, "error", err)
			}
			return nil
		}
	}
	return err
}
