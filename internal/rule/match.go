package rule

import (
	"regexp"
	"slices"
	"strings"

	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/slot"
)

// match narrows a rule. What is nil fits all.
type match struct {
	labels   []string
	branches []*regexp.Regexp
	globs    []string // what branches were made from
	authors  []string
	draft    *bool
}

func newMatch(c config.Match) match {
	m := match{labels: c.Labels.V, authors: c.Authors.V, globs: c.Branches.V}
	for _, g := range c.Branches.V {
		m.branches = append(m.branches, glob(g))
	}
	if c.Draft.Origin != (config.Origin{}) {
		m.draft = &c.Draft.V
	}
	return m
}

// glob is a pattern of branches, as GitHub's workflows have them: "*" is any text
// without a slash, "**" any text, "?" one character.
func glob(pattern string) *regexp.Regexp {
	s := regexp.QuoteMeta(pattern)
	s = strings.ReplaceAll(s, `\*\*`, `.*`)
	s = strings.ReplaceAll(s, `\*`, `[^/]*`)
	s = strings.ReplaceAll(s, `\?`, `[^/]`)
	return regexp.MustCompile(`(?s)\A` + s + `\z`) // it is quoted, so it compiles
}

// refuses says what of the match does not fit; empty if all does. It repeats the
// configuration and no forge text. As long as the ref is not known, nothing is held
// against an event that it does not say.
func (m match) refuses(e slot.Event) string {
	f, later := e.Facts, e.Ref.IsZero()
	branch := target(e)
	switch {
	case len(m.labels) > 0 && !m.anyLabel(f) && !(later && len(f.Labels) == 0):
		return "match.labels: the event names none of " + strings.Join(m.labels, ", ")
	case len(m.branches) > 0 && branch == "" && !later:
		return "match.branches: the event names no branch that the changes go to"
	case len(m.branches) > 0 && branch != "" && !m.anyBranch(branch):
		return "match.branches: the branch is none of " + strings.Join(m.globs, ", ")
	case len(m.authors) > 0 && !slices.Contains(m.authors, strings.ToLower(f.Author)) && !(later && f.Author == ""):
		return "match.authors: the author is none of " + strings.Join(m.authors, ", ")
	case m.draft != nil && *m.draft && !f.Draft && !later:
		return "match.draft: it is no draft"
	case m.draft != nil && !*m.draft && f.Draft:
		return "match.draft: it is a draft"
	}
	return ""
}

// anyLabel compares without case, as forges do. The label that was set counts even
// if the payload's list does not have it yet.
func (m match) anyLabel(f slot.Facts) bool {
	return slices.ContainsFunc(m.labels, func(want string) bool {
		return strings.EqualFold(f.Label, want) ||
			slices.ContainsFunc(f.Labels, func(l string) bool { return strings.EqualFold(l, want) })
	})
}

func (m match) anyBranch(branch string) bool {
	return slices.ContainsFunc(m.branches, func(p *regexp.Regexp) bool { return p.MatchString(branch) })
}

// target is the branch that the changes go to: the base of a pull request, and of
// a check on a branch that branch.
func target(e slot.Event) string {
	if e.Facts.Base != "" || e.Ref.Branch() == "" {
		return e.Facts.Base
	}
	return e.Ref.Branch()
}
