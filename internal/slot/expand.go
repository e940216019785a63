package slot

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrNoPart: a ref has nothing to put in a placeholder's place. It comes with
// ErrUsage.
var ErrNoPart = errors.New("the ref has no such part")

// Expand replaces the placeholders of a configured text by what a ref says of
// itself:
//
//	{ref}     the canonical form
//	{owner}   the owner, or all groups as group/sub
//	{repo}    the repository's name alone
//	{number}  of the issue, pull or merge request
//	{sha}     the head commit; empty if no event named one
//	{slug}    see Ref.Slug
//	{dashed}  owner-repo-number, groups with dashes too
//
// "${name}" is a shell's and stays, like any other brace. It is an error if the
// ref has no such part (ErrNoPart: a key has no owner, a branch no number), and if
// {ref} holds more than the letters, digits and marks of an ordinary name: a branch, a check or
// a key may be forge text, and a text that a shell may get must not become a
// command. {slug} and the worker's environment can name every ref.
//
// Errors match ErrUsage.
func Expand(s string, r Ref, sha string) (string, error) {
	return expand(s, func(name string) (string, error) {
		value, err := placeholder(name, r, sha)
		if err == nil && name == "ref" && !ordinary(value) {
			return "", fmt.Errorf("%w: {ref}: %s has characters that do not belong into a command or a name; {slug} names it", ErrUsage, shown(r))
		}
		return value, err
	})
}

// ExpandFunc is Expand for a place where quote makes any value harmless, so that
// every ref can be named there.
func ExpandFunc(s string, r Ref, sha string, quote func(value string) string) (string, error) {
	return expand(s, func(name string) (string, error) {
		value, err := placeholder(name, r, sha)
		return quote(value), err
	})
}

// CheckExpand names the first placeholder of s that Expand does not know.
func CheckExpand(s string) error {
	_, err := expand(s, func(name string) (string, error) {
		switch name {
		case "ref", "owner", "repo", "number", "sha", "slug", "dashed":
			return "", nil
		}
		return "", unknownPlaceholder(name)
	})
	return err
}

func unknownPlaceholder(name string) error {
	return fmt.Errorf("%w: {%s} is no placeholder; there are {ref} {owner} {repo} {number} {sha} {slug} {dashed}", ErrUsage, name)
}

func expand(s string, value func(name string) (string, error)) (string, error) {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "{")
		out.WriteString(before)
		if !ok {
			return out.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || !isWord(name) || strings.HasSuffix(before, "$") {
			out.WriteByte('{')
			s = rest
			continue
		}
		v, err := value(name)
		if err != nil {
			return "", err
		}
		out.WriteString(v)
		s = after
	}
}

func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

func placeholder(name string, r Ref, sha string) (string, error) {
	missing := func(part string) error {
		return fmt.Errorf("%w: {%s}: %w: %s has no %s", ErrUsage, name, ErrNoPart, shown(r), part)
	}
	switch name {
	case "ref", "slug":
		if r.IsZero() {
			return "", missing("ref")
		}
		if name == "slug" {
			return r.Slug(), nil
		}
		return r.String(), nil
	case "owner", "repo":
		if r.Repo() == "" {
			return "", missing("owner and no repository")
		}
		if name == "owner" {
			return r.Owner(), nil
		}
		return r.Name(), nil
	case "number", "dashed":
		if r.Number() == 0 {
			return "", missing("number")
		}
		if name == "number" {
			return strconv.Itoa(r.Number()), nil
		}
		return fmt.Sprintf("%s-%s-%d", strings.ReplaceAll(r.Owner(), "/", "-"), r.Name(), r.Number()), nil
	case "sha":
		if len(sha) > 64 || strings.Trim(sha, "0123456789abcdef") != "" {
			return "", fmt.Errorf("%w: {sha}: the head commit is not named by a hash", ErrUsage)
		}
		return sha, nil
	}
	return "", unknownPlaceholder(name)
}

func shown(r Ref) string {
	if r.IsZero() {
		return "what is asked for"
	}
	return strconv.Quote(r.String())
}

// ordinary reports whether s means the same to a shell, a path and a person.
func ordinary(s string) bool {
	for i := range len(s) {
		if c := s[i]; !alnum(c) && !strings.ContainsRune("-._/@:#!+=", rune(c)) {
			return false
		}
	}
	return !slices.Contains(strings.Split(s, "/"), "..")
}
