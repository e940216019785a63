package poll

import (
	"slices"
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
	p.set(was, th, t)
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
func (p *pass) standing(th *thread, t forge.Thread) { p.set(nil, th, t) }

// set tells what was set on a thread since: labels, assignees, reviewers, a mention of
// us. Where that is not known, of people only ourselves count.
func (p *pass) set(was, th *thread, t forge.Thread) {
	for _, l := range th.labels {
		if (was == nil || !slices.Contains(was.labels, l)) && !slices.Contains(p.o.Labels, l) {
			f := p.event(th, slot.Labeled, mark.Changed(slot.Labeled, t.UpdatedText, l))
			f.Facts.Label = l
			p.add(f)
		}
	}
	people := func(kind slot.EventKind, now []string, was *thread) {
		for _, login := range now {
			if was == nil && p.o.Own.Login(login) || was != nil && !slices.Contains(was.people(kind), login) {
				p.add(p.event(th, kind, mark.Changed(kind, t.UpdatedText, login)))
			}
		}
	}
	people(slot.Assigned, t.Assignees, was)
	if was != nil && !was.ref.IsZero() && was.sha == "" {
		people(slot.ReviewRequested, t.Reviewers, nil) // lists left out who was asked
	} else {
		people(slot.ReviewRequested, t.Reviewers, was)
	}
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
