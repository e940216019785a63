package hook

import (
	"strings"

	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/markup"
	"github.com/oneslot/oneslot/internal/slot"
)

// said is a comment or a review, of any forge.
type said struct {
	id      string // empty if the forge gives none
	text    string
	old     *string // before an edit; nil if it was new or nobody knows
	edited  bool
	updated string
	by      user // who wrote it
	app     *app
	member  string // by's association
}

// say reads a comment or review as GitHub has it.
func (r *reading) say(m *message, c *comment) said {
	s := said{
		text: c.Body, updated: mark.Moment(c.SubmittedAt, c.CreatedAt, c.UpdatedAt), by: c.User, app: c.App, member: c.Association,
		edited: m.Action == "edited",
	}
	if s.edited { // what it was made with stays, whatever becomes of it
		s.updated = mark.Moment(c.UpdatedAt, c.SubmittedAt)
	}
	if c.ID != 0 {
		s.id = number(c.ID)
	}
	if m.Changes.Body != nil {
		s.old = &m.Changes.Body.From
	}
	if m.Action != "created" && m.Action != "submitted" && m.Action != "reviewed" && m.Action != "edited" {
		r.ignore("action %q of a comment is of no use", m.Action)
	}
	return s
}

// remark makes the event of a comment: a command, a mention, or what it is plainly.
func (r *reading) remark(s said, plain slot.EventKind) {
	if r.Ignored != "" || r.ownWords(s) {
		return
	}
	if s.edited && s.old != nil && *s.old == s.text {
		r.ignore("nothing of the text changed")
		return
	}
	kind, line := r.meaning(s)
	if kind == "" {
		kind = plain
	}
	r.addSaid(s, kind, line)
}

// meaning is Command with its line, Mentioned, or "". An edit asks only for what
// the old text did not ask; where that is not known, for nothing.
func (r *reading) meaning(s said) (slot.EventKind, string) {
	if s.edited && s.old == nil {
		return "", ""
	}
	lines := markup.Spoken(s.text)
	line := markup.Command(lines, r.hook.Commands)
	hit := line == "" && markup.Mentions(lines, r.hook.Own.Names()...)
	if s.edited && (line != "" || hit) {
		before := markup.Spoken(*s.old)
		if line != "" && line == markup.Command(before, r.hook.Commands) || hit && markup.Mentions(before, r.hook.Own.Names()...) {
			return "", ""
		}
	}
	switch {
	case line != "":
		return slot.Command, line
	case hit:
		return slot.Mentioned, ""
	}
	return "", ""
}

// review makes the event of a review's verdict, and one of a command in its text.
func (r *reading) review(event string, m *message) {
	s := r.say(m, m.Review)
	verdict := strings.ToLower(m.Review.State)
	if m.Review.Type != "" || event != "pull_request_review" { // Gitea: the event is the verdict, the sender the reviewer
		_, verdict, _ = strings.Cut(strings.Replace(event, "_review_", "_", 1), "pull_request_")
		s.text, s.by = m.Review.Content, m.Sender
		s.updated = mark.Moment(s.updated, m.Pull.updatedAt())
	}
	if r.Ignored != "" || r.ownWords(s) {
		return
	}
	var plain slot.EventKind
	switch {
	case verdict == "approved" && !s.edited:
		plain = slot.Approved
	case (verdict == "changes_requested" || verdict == "rejected") && !s.edited:
		plain = slot.ChangesRequested
	case verdict == "approved", verdict == "changes_requested", verdict == "commented", verdict == "comment":
		plain = slot.ReviewComment
	default:
		r.ignore("a review that is %q is of no use", verdict)
		return
	}
	kind, line := r.meaning(s)
	if kind == "" || plain != slot.ReviewComment {
		r.addSaid(s, plain, "")
	}
	if kind != "" {
		r.addSaid(s, kind, line)
	}
}

func (t *thing) updatedAt() string {
	if t == nil {
		return ""
	}
	return t.UpdatedAt
}

// ownWords ignores what oneslot itself wrote or changed, whoever touched it since.
func (r *reading) ownWords(s said) bool {
	own := r.hook.Own
	if mark.Written(s.text) {
		r.ignore("own: a comment of oneslot's, by %s", s.by.name())
		return true
	}
	if !own.Login(r.facts.Actor) && !own.Login(s.by.name()) && !own.App(s.app.names()...) {
		return false
	}
	r.ignore("own: a comment of %s", s.by.name())
	return true
}

func (r *reading) addSaid(s said, kind slot.EventKind, line string) {
	f := r.facts
	f.Comment, f.App, f.Command = s.id, s.app.name(), mark.Line(line)
	f.Association = association(user{Login: f.Actor}, s.by, s.member)
	r.add(slot.Event{
		Ref: r.About.Ref, Kind: kind, Sha: r.About.Sha, Facts: f,
		Fingerprint: mark.Said(kind, s.id, s.updated, r.About.Sha, s.by.name(), s.text),
	})
}
