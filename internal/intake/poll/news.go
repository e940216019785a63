package poll

import (
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/markup"
	"github.com/oneslot/oneslot/internal/slot"
)

// news tells what happened to a thread, by how it was. One that changed while nobody
// looked (was is nil) may have seen any of it: an event too many is cheap, one that is
// lost is not.
func (p *pass) news(was, th *thread, t forge.Thread) error {
	if was == nil && !t.Created.Before(p.since) {
		was = &thread{} // it is new
		if !p.own(t.Author) {
			p.add(p.byAuthor(th, slot.Opened, mark.Changed(slot.Opened, written(t.Created), "")))
		}
	} else if was == nil && p.o.Wants(slot.Reopened) {
		at, err := p.src.Client.Reopened(p.ctx, t.Ref)
		if p.src.count("reopened", err); err != nil && !p.withhold("reopenings", err) {
			return err
		}
		if err == nil && !at.IsZero() && !at.Before(p.since) {
			p.add(p.event(th, slot.Reopened, mark.Changed(slot.Reopened, written(at), "")))
		}
	}
	p.body(was, th, t)
	if err := p.acts(p.set(was, th, t), was != nil); err != nil {
		return err
	}
	// Nothing says who wrote or pushed. Of our own threads that is mostly us.
	if p.own(t.Author) {
		return nil
	}
	if was == nil || was.text != 0 && was.text != th.text {
		p.add(p.byAuthor(th, slot.Edited, mark.Changed(slot.Edited, t.UpdatedText, mark.Digest(t.Title))))
	}
	if th.pull && (was == nil || was.sha != "" && was.sha != th.sha) {
		p.add(p.byAuthor(th, slot.Pushed, mark.Changed(slot.Pushed, t.UpdatedText, th.sha)))
	}
	if th.pull && !th.draft && (was == nil || was.draft) {
		p.add(p.byAuthor(th, slot.Ready, mark.Changed(slot.Ready, t.UpdatedText, "")))
	}
	return nil
}

// standing tells what stands on a thread that nobody ever looked at.
func (p *pass) standing(th *thread, t forge.Thread) {
	p.body(nil, th, t)
	for _, s := range p.set(nil, th, t) {
		p.add(s.Found)
	}
}

// setting is the event of something that was set.
type setting struct {
	Found
	what string // the label, or the login
}

// set finds what was set on a thread since: labels, assignees, who is asked for a
// review. Where that is not known, of people only ourselves count.
func (p *pass) set(was, th *thread, t forge.Thread) (found []setting) {
	one := func(kind slot.EventKind, what string) {
		if p.o.Wants(kind) {
			f := p.event(th, kind, mark.Changed(kind, t.UpdatedText, what))
			if kind == slot.Labeled {
				f.Facts.Label = what
			}
			found = append(found, setting{f, what})
		}
	}
	for _, l := range th.labels {
		if (was == nil || !slices.Contains(was.labels, l)) && !slices.Contains(p.o.Labels, l) {
			one(slot.Labeled, l)
		}
	}
	people := func(kind slot.EventKind, now []string, was *thread) {
		for _, login := range now {
			if was == nil && p.o.Own.Login(login) || was != nil && !slices.Contains(was.people(kind), login) {
				one(kind, login)
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

// acts adds what was set, as the history tells of it, where a forge has one: when, and
// that it was not us. Of what may have been set at any time (sure is false), what was
// set before is no news.
func (p *pass) acts(found []setting, sure bool) error {
	h, ok := p.src.Client.(forge.Historian)
	if len(found) == 0 {
		return nil
	}
	var acts []forge.Act
	if ok {
		var err error
		acts, err = h.Acts(p.ctx, found[0].Ref)
		if p.src.count("acts", err); err != nil && !p.withhold("histories", err) {
			return err
		}
	}
	for _, f := range found {
		var last forge.Act
		for _, a := range acts {
			if a.Kind == f.Kind && strings.EqualFold(mark.Line(a.What), mark.Line(f.what)) && !a.At.Before(last.At) {
				last = a
			}
		}
		if p.own(last.By) || !last.At.IsZero() && !sure && last.At.Before(p.since) {
			continue
		}
		if !last.At.IsZero() {
			f.Fingerprint = mark.Changed(f.Kind, written(last.At), f.what)
		}
		p.add(f.Found)
	}
	return nil
}

// body tells of a mention of us in the text of the thread itself.
func (p *pass) body(was, th *thread, t forge.Thread) {
	if p.o.Wants(slot.Mentioned) && (was == nil || was.body != th.body) && !p.own(t.Author) &&
		markup.Mentions(markup.Spoken(t.Body), p.o.Own.Names()...) {
		p.add(p.byAuthor(th, slot.Mentioned, mark.Fingerprint(slot.Mentioned, written(t.Created), "body")))
	}
}

// ended tells of a thread that is open no longer. One that went to another repository
// is that one's news.
func (p *pass) ended(was *thread, t forge.Thread) {
	if !p.mine(t.Ref) || was == nil && t.Closed.Before(p.since) {
		return
	}
	kind := slot.Closed
	if t.State == forge.Merged {
		kind = slot.Merged
	}
	th := note(was, t, 0, p.now)
	f := p.event(th, kind, mark.Changed(kind, written(t.Closed), ""))
	f.Facts.State = t.State
	p.add(f)
}

// byAuthor is an event that the thread's author caused, as far as anybody can tell.
func (p *pass) byAuthor(th *thread, kind slot.EventKind, fingerprint string) Found {
	f := p.event(th, kind, fingerprint)
	by(&f.Facts, th.author)
	return f
}

// written is a time as forges write it.
func written(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
