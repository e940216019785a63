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
// configuration and no forge text.
func (m match) refuses(e slot.Event) string {
	f := e.Facts
	switch branch := target(e); {
	case len(m.labels) > 0 && !slices.ContainsFunc(m.labels, func(l string) bool { return hasLabel(f, l) }):
		return "match.labels: the event names none of " + strings.Join(m.labels, ", ")
	case len(m.branches) > 0 && branch == "":
		return "match.branches: the event names no branch that the changes go to"
	case len(m.branches) > 0 && !slices.ContainsFunc(m.branches, func(p *regexp.Regexp) bool { return p.MatchString(branch) }):
		return "match.branches: the branch is none of " + strings.Join(m.globs, ", ")
	case len(m.authors) > 0 && !slices.Contains(m.authors, strings.ToLower(f.Author)):
		return "match.authors: the author is none of " + strings.Join(m.authors, ", ")
	case m.draft != nil && *m.draft && !f.Draft:
		return "match.draft: it is no draft"
	case m.draft != nil && !*m.draft && f.Draft:
		return "match.draft: it is a draft"
	}
	return ""
}

// hasLabel compares without case, as forges do. The label that was set counts even
// if the payload's list does not have it yet.
func hasLabel(f slot.Facts, label string) bool {
	return strings.EqualFold(f.Label, label) ||
		slices.ContainsFunc(f.Labels, func(l string) bool { return strings.EqualFold(l, label) })
}

// target is the branch that the changes go to: the base of a pull request, and of
// a check on a branch that branch.
func target(e slot.Event) string {
	if e.Facts.Base != "" || e.Ref.Branch() == "" {
		return e.Facts.Base
	}
	return e.Ref.Branch()
}
