package gate

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/oneslot/oneslot/internal/slot"
)

// pattern is a configured name of units or containers: text, placeholders, and the
// marks * ? [] of a shell.
//
// Hosts, owners and repositories are held in lower case by refs and written as they
// please by others, so names compare without case.
type pattern struct {
	text  string
	quote func(value string) string // makes a value what it is in such names
}

// newPattern checks a pattern. Errors match slot.ErrUsage.
func newPattern(text string, quote func(string) string) (pattern, error) {
	p := pattern{text, quote}
	if err := slot.CheckExpand(text); err != nil {
		return p, err
	}
	if text == "" || strings.Contains(text, "/") {
		return p, fmt.Errorf("%w: %q is no pattern of names", slot.ErrUsage, text)
	}
	if _, err := path.Match(globs(p.text), ""); err != nil {
		return p, fmt.Errorf("%w: %q: %v", slot.ErrUsage, text, err)
	}
	return p, nil
}

// globs writes a text for path.Match, which knows an escape that names do not have.
func globs(text string) string {
	return strings.NewReplacer(`\`, `\\`, `[!`, `[^`).Replace(text)
}

// wide is the pattern for all refs at once, with any in the place of each value.
// What it finds is to be looked at with match.
func (p pattern) wide(any string) string {
	ref, err := slot.ParseCanonical("example.com/owner/repo#1") // it has all there is to name
	if err != nil {
		return any
	}
	text, err := slot.ExpandFunc(p.text, ref, "0", func(string) string { return any })
	if err != nil {
		return any
	}
	return text
}

// match is the test for the names of one ref: each value stands for itself, so that
// what belongs to #1 never matches what belongs to #15. It is an error if the ref
// can have no such name.
func (p pattern) match(ref slot.Ref, sha string) (func(name string) bool, error) {
	if sha == "" && strings.Contains(p.text, "{sha}") {
		return nil, fmt.Errorf("%w: no head commit is known", slot.ErrNoPart)
	}
	literal, err := slot.ExpandFunc(globs(p.text), ref, sha, func(v string) string {
		return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(p.quote(v))
	})
	if err != nil {
		return nil, err
	}
	return func(name string) bool { return fits(literal, name) }, nil
}

// fits reports whether a name matches what globs returned.
func fits(globs, name string) bool {
	ok, err := path.Match(strings.ToLower(globs), strings.ToLower(name))
	return ok && err == nil
}

// matchAny joins patterns: whether a name matches one of those that the ref can
// have names of. It is an error if that is none.
func matchAny(patterns []pattern, ref slot.Ref, sha string) (func(name string) bool, error) {
	var tests []func(string) bool
	var failed error
	for _, p := range patterns {
		test, err := p.match(ref, sha)
		if errors.Is(err, slot.ErrNoPart) {
			failed = err
			continue
		}
		if err != nil {
			return nil, err
		}
		tests = append(tests, test)
	}
	if len(tests) == 0 {
		return nil, failed
	}
	return func(name string) bool {
		for _, test := range tests {
			if test(name) {
				return true
			}
		}
		return false
	}, nil
}
