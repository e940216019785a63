package poll

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/slot"
)

// near is how far apart a forge may put the end of a thread and the act that ended it.
const near = 5 * time.Second

// setting is the event of something that was set, or done.
type setting struct {
	Found
	what string    // the label, or the login
	sure bool      // it was not so when we looked last; else it may have been so for long
	at   time.Time // when, if the thread itself tells
}

// set finds what was set on a thread since: labels, assignees, who is asked for a
// review. Where that is not known, of people only ourselves count.
func (p *pass) set(was, th *thread, t forge.Thread) (found []setting) {
	one := func(kind slot.EventKind, what string, sure bool) {
		if p.o.Wants(kind) {
			f := p.event(th, kind, mark.Changed(kind, t.UpdatedText, what))
			if kind == slot.Labeled {
				f.Facts.Label = what
			}
			found = append(found, setting{Found: f, what: what, sure: sure})
		}
	}
	for _, l := range th.labels {
		if (was == nil || !slices.Contains(was.labels, l)) && !slices.Contains(p.o.Labels, l) {
			one(slot.Labeled, l, was != nil)
		}
	}
	people := func(kind slot.EventKind, now []string, was *thread) {
		for _, login := range now {
			if was == nil && p.o.Own.Login(login) || was != nil && !slices.Contains(was.people(kind), login) {
				one(kind, login, was != nil)
			}
		}
	}
	people(slot.Assigned, t.Assignees, was)
	if was != nil && !was.ref.IsZero() && was.sha == "" {
		was = nil // lists left out who was asked
	}
	people(slot.ReviewRequested, t.Reviewers, was)
	return found
}

// acts adds what was set, as the history tells of it, where a forge has one: when, by
// whom, and that it was not us. What may have been so for long is news only if it was
// set since. Of the rest a history that is behind names somebody else: then nobody is.
func (p *pass) acts(th *thread, found []setting) error {
	if len(found) == 0 {
		return nil
	}
	acts, known, err := p.history(th.ref)
	if err != nil {
		return err
	}
	for _, f := range found {
		last := lastOf(acts, f)
		if f.Kind == slot.Reopened && !known {
			if last.At, err = p.reopened(th.ref); err != nil {
				return err
			}
		}
		told := !last.At.Before(p.since)
		if !told && !f.sure && (f.Kind == slot.Reopened || !last.At.IsZero()) {
			continue
		}
		if !told || !f.at.IsZero() && f.at.Sub(last.At).Abs() > near {
			last = forge.Act{}
		}
		if p.own(last.By) {
			continue
		}
		if !last.At.IsZero() {
			if f.at.IsZero() {
				f.Fingerprint = mark.Changed(f.Kind, written(last.At), f.what)
			}
			if strings.EqualFold(last.By.Login, th.author.Login) {
				last.By.Association = cmp.Or(last.By.Association, th.author.Association)
			}
			by(&f.Facts, last.By)
		}
		p.add(f.Found)
	}
	return nil
}

// lastOf finds the last time that something was done.
func lastOf(acts []forge.Act, f setting) (last forge.Act) {
	for _, a := range acts {
		if a.Kind == f.Kind && strings.EqualFold(mark.Line(a.What), mark.Line(f.what)) && !a.At.Before(last.At) {
			last = a
		}
	}
	return last
}

// history reads what was done to a thread; known is false where a forge does not tell.
func (p *pass) history(ref slot.Ref) (acts []forge.Act, known bool, err error) {
	h, ok := p.src.Client.(forge.Historian)
	if !ok {
		return nil, false, nil
	}
	acts, err = h.Acts(p.ctx, ref)
	p.src.count("acts", err)
	if p.withhold("histories", err) {
		return nil, false, nil
	}
	return acts, err == nil, err
}

// reopened is when a thread was last opened again, where no history tells.
func (p *pass) reopened(ref slot.Ref) (time.Time, error) {
	at, err := p.src.Client.Reopened(p.ctx, ref)
	p.src.count("reopened", err)
	if p.withhold("reopenings", err) {
		return time.Time{}, nil
	}
	return at, err
}
