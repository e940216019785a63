package poll

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/markup"
	"github.com/oneslot/oneslot/internal/slot"
)

// silent is how far back edits of comments are taken for news by a process that never
// read the conversation: they may have moved no time that a list goes by.
const silent = 24 * time.Hour

// words is a comment or a review.
type words struct {
	by       forge.Person
	id       int64
	text     string
	updated  string // as the forge wrote it
	created  time.Time
	sha      string // what a review is of; empty: the head of now
	bareHook bool   // webhooks of it have no id
}

// lookRemarks finds comments that are new or were changed.
func (p *pass) lookRemarks(t *thread) error {
	all, err := p.src.Client.Comments(p.ctx, t.ref)
	if p.src.count("comments", err); err != nil {
		return err
	}
	edited := t.commented
	if edited.IsZero() {
		edited = p.since.Add(-silent)
	}
	for _, c := range all.List {
		w := words{by: c.Author, id: c.ID, text: c.Body, updated: c.UpdatedText, created: c.Created}
		if w.updated == "" {
			w.updated = written(c.Updated)
		}
		if !c.Created.Before(p.since) {
			p.remark(t, w, slot.Commented)
		}
		// As for webhooks, an edit asks for nothing whose old text is not known.
		if c.Updated.Sub(c.Created) > time.Second && !c.Updated.Before(edited) {
			p.say(t, w, slot.Commented, "", w.updated)
		}
	}
	if !all.At.IsZero() {
		t.commented = all.At.Add(-overlap)
	}
	return nil
}

// remark makes the event of what somebody said: a command, a mention, or plain words. It
// reports whether it was more than plain.
func (p *pass) remark(t *thread, w words, plain slot.EventKind) bool {
	kind, line := plain, ""
	lines := markup.Spoken(w.text)
	if line = markup.Command(lines, p.o.Commands); line != "" {
		kind = slot.Command
	} else if markup.Mentions(lines, p.o.Own.Names()...) {
		kind = slot.Mentioned
	}
	if kind != "" {
		p.say(t, w, kind, line, written(w.created)) // made once, whatever becomes of it
	}
	return kind != plain
}

func (p *pass) say(t *thread, w words, kind slot.EventKind, line, when string) {
	if p.own(w.by) || mark.Written(w.text) {
		return
	}
	id := ""
	if w.id != 0 {
		id = strconv.FormatInt(w.id, 10)
	}
	f := p.event(t, kind, "")
	f.Facts.Comment, f.Facts.Command = id, mark.Line(line)
	by(&f.Facts, w.by)
	if w.bareHook {
		id = ""
	}
	f.Fingerprint = mark.Said(kind, id, when, cmp.Or(w.sha, t.sha), w.by.Login, w.text)
	p.add(f)
}

// lookReviews finds verdicts, and threads that nobody resolved.
func (p *pass) lookReviews(t *thread) error {
	all, err := p.src.Client.Reviews(p.ctx, t.ref)
	if p.src.count("reviews", err); err != nil {
		return err
	}
	n := len(p.found)
	var said []uint64
	for _, r := range all.Reviews {
		sum := sumOf(r.Author.Login, r.State)
		said = append(said, sum)
		p.review(t, r, !r.At.Before(p.since) || r.At.IsZero() && !t.first && !slices.Contains(t.said, sum))
	}
	t.said, t.first = said, false
	for _, talk := range all.Unresolved {
		c := talk.Last
		w := words{by: c.Author, id: c.ID, text: c.Body, updated: c.UpdatedText, created: c.Created}
		shown := c.Created
		if c.Shown.After(shown) {
			shown = c.Shown
		}
		// A command counts while it is fresh, as any; unresolved it is for as long as it is.
		if shown.Before(p.since) || p.remark(t, w, slot.ReviewComment) {
			p.say(t, w, slot.ReviewComment, "", written(c.Created))
		}
	}
	for i := range p.found[n:] {
		f := &p.found[n+i]
		f.Condition = f.Kind == slot.ChangesRequested || f.Kind == slot.ReviewComment && unresolved(all, f.Facts.Comment)
	}
	t.hot.put(reviews, slices.ContainsFunc(p.found[n:], func(f Found) bool { return f.Condition }))
	return nil
}

func unresolved(all forge.Reviews, id string) bool {
	return slices.ContainsFunc(all.Unresolved, func(t forge.Talk) bool { return strconv.FormatInt(t.Last.ID, 10) == id })
}

// review tells of a verdict. Changes that were asked for stay true until the reviewer
// says otherwise; all else counts when it is fresh.
func (p *pass) review(t *thread, r forge.Review, fresh bool) {
	w := words{by: r.Author, id: r.ID, text: r.Body, updated: r.UpdatedText, created: r.At, sha: r.Sha, bareHook: p.src.bareReviews()}
	if w.updated == "" {
		w.updated = written(r.At)
	}
	plain := map[string]slot.EventKind{
		"approved": slot.Approved, "changes_requested": slot.ChangesRequested, "commented": slot.ReviewComment,
	}[r.State]
	switch {
	case plain == "" || plain != slot.ChangesRequested && !fresh:
		return
	case plain != slot.ReviewComment && r.ID == 0: // GitLab
		p.verdict(t, w, plain)
	case plain != slot.ReviewComment:
		p.say(t, w, plain, "", w.updated)
		if fresh {
			p.remark(t, w, "")
		}
	default:
		p.remark(t, w, plain)
	}
}

// verdict tells of one that is no more than that: it has neither an id nor a text.
func (p *pass) verdict(t *thread, w words, kind slot.EventKind) {
	if p.own(w.by) {
		return
	}
	f := p.event(t, kind, mark.Verdict(kind, w.updated, t.sha, w.by.Login))
	by(&f.Facts, w.by)
	p.add(f)
}

// bareReviews reports whether the forge's webhooks give reviews no id.
func (s *source) bareReviews() bool {
	return s.Type == "gitea" || s.Type == "forgejo" || s.Type == "gogs"
}
