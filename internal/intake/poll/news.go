package poll

import (
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
	if was == nil && p.isNew(t) {
		was = &thread{}
		if !p.own(t.Author) {
			p.add(p.byAuthor(th, slot.Opened, mark.Changed(slot.Opened, written(t.Created), "")))
		}
	}
	p.body(was, th, t)
	found := p.set(was, th, t)
	if was == nil && p.o.Wants(slot.Reopened) {
		found = append(found, setting{Found: p.event(th, slot.Reopened, "")})
	}
	if err := p.acts(th, found); err != nil {
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

// isNew reports whether nobody ever told of a thread. The place on disk stays behind the
// opening for a while; what it names was told of, and may have seen anything since.
func (p *pass) isNew(t forge.Thread) bool {
	_, told := p.past[t.Ref]
	return !t.Created.Before(p.since) && !(told && t.Updated.After(t.Created))
}

// standing tells what stands on a thread that nobody ever looked at.
func (p *pass) standing(th *thread, t forge.Thread) {
	p.body(nil, th, t)
	for _, s := range p.set(nil, th, t) {
		p.add(s.Found)
	}
}

// body tells of a mention of us in the text of the thread itself.
func (p *pass) body(was, th *thread, t forge.Thread) {
	if p.o.Wants(slot.Mentioned) && (was == nil || was.body != th.body) && !p.own(t.Author) &&
		markup.Mentions(markup.Spoken(t.Body), p.o.Own.Names()...) {
		p.add(p.byAuthor(th, slot.Mentioned, mark.Fingerprint(slot.Mentioned, written(t.Created), "body")))
	}
}

// ended tells of a thread that is open no longer, and who closed it, as far as the forge
// tells. One that went to another repository is that one's news.
func (p *pass) ended(was *thread, t forge.Thread) error {
	if !p.mine(t.Ref) || was == nil && t.Closed.Before(p.since) {
		return nil
	}
	kind := slot.Closed
	if t.State == forge.Merged {
		kind = slot.Merged
	}
	if !p.o.Wants(kind) {
		return nil
	}
	th := note(was, t, 0, p.now)
	f := p.event(th, kind, mark.Changed(kind, written(t.Closed), ""))
	f.Facts.State = t.State
	return p.acts(th, []setting{{Found: f, sure: true, at: t.Closed}})
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
