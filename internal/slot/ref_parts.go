package slot

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const keyPrefix = "key:"

// parsePath returns the canonical form of owner/repo or group/sub/project.
// No forge has a repository whose name ends in ".git": that is its clone
// address, and it means the same repository.
func parsePath(segs []string) (string, error) {
	if len(segs) < 2 {
		return "", bad("repository", strings.Join(segs, "/"), "needs an owner and a name")
	}
	out := make([]string, len(segs))
	for i, s := range segs {
		part := "owner"
		last := i == len(segs)-1
		if last {
			part = "repository"
		}
		if why := badSegment(s, last); why != "" {
			return "", bad(part, s, why)
		}
		out[i] = strings.ToLower(s)
	}
	name := strings.TrimSuffix(out[len(out)-1], ".git")
	if why := badSegment(name, true); why != "" || strings.HasSuffix(name, ".git") {
		return "", bad("repository", segs[len(segs)-1], "has no name before .git")
	}
	out[len(out)-1] = name
	return strings.Join(out, "/"), nil
}

func badSegment(s string, last bool) string {
	switch {
	case s == "":
		return "is empty"
	case s == "." || s == "..":
		return "is a step in a path, not a name"
	case len(s) > MaxName:
		return fmt.Sprintf("is longer than %d bytes", MaxName)
	case s[0] == '-' && !last: // GitHub has repositories, but no owners, like that
		return "starts with '-'"
	}
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || !alnum(c) && c != '.' && c != '-' && c != '_' {
			return "may only have letters (a-z), digits, '.', '-' and '_'"
		}
	}
	return ""
}

func parseNumber(s string) (int, error) {
	if s == "" {
		return 0, bad("number", "", "is missing")
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, bad("number", s, "may only have digits")
		}
	}
	if s[0] == '0' {
		if strings.Trim(s, "0") == "" {
			return 0, bad("number", s, "is zero; numbers start at 1")
		}
		return 0, bad("number", s, "has a leading zero")
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > MaxNumber {
		return 0, bad("number", s, fmt.Sprintf("is larger than %d", MaxNumber))
	}
	return int(n), nil
}

// badText is the rule for checks and keys, and part of that for branches: one
// line of text that survives any store, log and terminal.
func badText(s string) string {
	switch {
	case s == "":
		return "is empty"
	case len(s) > MaxText:
		return fmt.Sprintf("is longer than %d bytes", MaxText)
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	case strings.ContainsFunc(s, unicode.IsControl):
		return "has a control character"
	case strings.ContainsAny(s, "\u2028\u2029"):
		return "has a line separator"
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }):
		return "has a character that turns the direction of writing"
	}
	return ""
}

// badBranch follows git check-ref-format --branch, with one rule more: a name
// that starts with refs/heads/ would be a second name of another branch.
func badBranch(s string) string {
	if why := badText(s); why != "" {
		return why
	}
	switch {
	case strings.ContainsAny(s, " ~^:?*[\\"):
		return `has one of the characters that git forbids in branches: space ~ ^ : ? * [ \`
	case strings.Contains(s, ".."):
		return `has ".."`
	case strings.Contains(s, "@{"):
		return `has "@{"`
	case s[0] == '-':
		return "starts with '-'"
	case strings.HasSuffix(s, "."):
		return "ends with '.'"
	case s == "HEAD":
		return "is what is checked out, not a branch"
	case strings.HasPrefix(s, "refs/heads/"):
		return "starts with refs/heads/; leave that out"
	}
	for part := range strings.SplitSeq(s, "/") {
		switch {
		case part == "":
			return "has an empty part before, after or between slashes"
		case part[0] == '.':
			return "has a part that starts with '.'"
		case strings.HasSuffix(part, ".lock"):
			return "has a part that ends with .lock"
		}
	}
	return ""
}

func alnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
