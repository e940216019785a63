package gate

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/markup"
	"github.com/oneslot/oneslot/internal/slot"
)

// NewComment is the gate "comment": while another tool says in a comment that it works
// on a thread, that is honoured. The markers of some tools are known; patterns are
// regular expressions for more. A pattern is looked for in what a comment's author
// says himself, line by line, and in HTML comments that begin a line. Its group
// "until" (RFC 3339, or seconds of Unix time) tells how long the marker is live;
// without one it is for a day from the comment's last change.
//
// Only authors that t trusts can keep a thread. What a bot posts counts if t or the
// table of tools names it. Where the forge does not tell who somebody is to the
// repository, his marker counts too, since it can only put off; but it takes back
// nobody else's. Ages go by the forge's clock. Errors match slot.ErrUsage.
func NewComment(f Facts, t Trust, patterns []string) (Gate, error) {
	signs := tools()
	for _, p := range patterns {
		begins, err := regexp.Compile(p)
		if err != nil || p == "" {
			return nil, fmt.Errorf("%w: pattern %q is no regular expression: %v", slot.ErrUsage, p, err)
		}
		signs = append(signs, sign{tool: "a pattern", begins: begins, lasts: 24 * time.Hour})
	}
	return fact{name: "comment", facts: f, judge: func(ctx context.Context, q about) (Answer, error) {
		talk, err := q.comments(ctx)
		switch {
		case err != nil:
			return Answer{}, err
		case talk.At.IsZero() && len(talk.List) > 0:
			return unknown("comment", "the forge does not tell its time"), nil
		}
		for _, s := range signs {
			for _, m := range s.live(talk, t) {
				return deferral("comment", s.tool, fmt.Sprintf("comment %d by %s%s, live until %s",
					m.comment.ID, m.comment.Author.Login, m.doubt, m.until.UTC().Format(time.RFC3339))), nil
			}
		}
		return proceed("comment", "nobody's", ""), nil
	}}, nil
}

// sign is how a tool says in comments that it works on a thread. Of its patterns, the
// groups are: id, which tells claims apart; until, when it lapses; and seconds, how
// long it lasts from the comment's last change.
type sign struct {
	tool   string
	begins *regexp.Regexp
	ends   *regexp.Regexp // of the claim with the same id; nil: it lapses
	// edited: each comment is a claim of its own, and is edited at its end.
	edited bool
	lasts  time.Duration // if the marker does not say
	bots   []string      // that the tool posts as
}

// mark is a claim of another tool.
type mark struct {
	id      string
	comment forge.Comment
	doubt   string // of its author
	until   time.Time
}

// live are the tool's claims that are neither ended nor lapsed.
func (s sign) live(talk forge.Comments, t Trust) []mark {
	var marks []mark
	for _, c := range talk.List {
		known, doubt := t.author(c.Author, s.bots), ""
		if !known {
			if c.Author.Association != "" {
				continue
			}
			doubt = " (the forge does not tell who that is to the repository)"
		}
		same := func(id string) func(mark) bool { // what this author may take back
			return func(m mark) bool { return m.id == id && (known || m.comment.Author.Login == c.Author.Login) }
		}
		var ended []string // in this comment
		for _, line := range lines(c.Body) {
			if id, ok := s.end(line, c); ok {
				marks = slices.DeleteFunc(marks, same(id))
				ended = append(ended, id)
			}
			if m, ok := s.begin(line, c); ok && !slices.Contains(ended, m.id) {
				m.doubt = doubt
				marks = append(slices.DeleteFunc(marks, same(m.id)), m)
			}
		}
	}
	return slices.DeleteFunc(marks, func(m mark) bool { return !m.until.After(talk.At) })
}

// lines are those in which a marker is looked for.
func lines(body string) []string {
	var all []string
	for _, l := range markup.Spoken(body) {
		if all = append(all, l.Free); strings.HasPrefix(l.Raw, "<!--") {
			all = append(all, l.Raw)
		}
	}
	return all
}

func (s sign) end(line string, c forge.Comment) (id string, ok bool) {
	if s.ends == nil {
		return "", false
	}
	m := s.ends.FindStringSubmatch(line)
	return s.id(s.ends, m, c), m != nil
}

func (s sign) begin(line string, c forge.Comment) (mark, bool) {
	m := s.begins.FindStringSubmatch(line)
	if m == nil {
		return mark{}, false
	}
	changed := c.Updated
	if changed.IsZero() {
		changed = c.Created
	}
	until := changed.Add(s.lasts)
	if n, err := strconv.ParseInt(group(s.begins, m, "seconds"), 10, 32); err == nil {
		until = changed.Add(time.Duration(n) * time.Second)
	}
	if at, ok := moment(group(s.begins, m, "until")); ok {
		until = at
	}
	return mark{id: s.id(s.begins, m, c), comment: c, until: until}, true
}

func (s sign) id(r *regexp.Regexp, m []string, c forge.Comment) string {
	if s.edited {
		return strconv.FormatInt(c.ID, 10)
	}
	return group(r, m, "id")
}

// group is what a named group has matched, or "".
func group(r *regexp.Regexp, m []string, name string) string {
	if i := r.SubexpIndex(name); i > 0 && i < len(m) {
		return m[i]
	}
	return ""
}

// moment reads a time as RFC 3339 or as seconds of Unix time.
func moment(s string) (time.Time, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.Unix(n, 0), true
	}
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil
}

// author reports whether somebody's comment may keep a thread; also names bots
// that are trusted beside those of t.
func (t Trust) author(p forge.Person, also []string) bool {
	if p.Bot {
		named := slices.Concat(t.Bots, t.Logins, also)
		return containsBot(named, p.Login) || containsBot(named, p.App)
	}
	return contains(t.Logins, p.Login) || contains(t.Associations, p.Association)
}
