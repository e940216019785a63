package closing

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oneslot/oneslot/internal/markup"
	"github.com/oneslot/oneslot/internal/slot"
)

// In gives the issues that a text in a repository closes, each once, in the order of
// the text. forge is the type of its forge as the configuration names it ("github",
// "forgejo", "gitea", "gogs", "gitlab"; others are read like GitHub), repo the
// canonical "host/owner/repo". A reference to another repository of the same host is
// given too; one to another host is none.
//
// A keyword in code, in a quote or in an HTML comment closes nothing, nor does a
// bare mention, nor a commit that git wrote to revert another.
func In(text, forge, repo string) []slot.Ref {
	s := scan{gitlab: forge == "gitlab", forge: forge, repo: repo}
	host, _, _ := strings.Cut(repo, "/")
	s.grammar = slot.Grammar{DefaultHost: host, Hosts: map[string]string{host: forge}}
	var lines []string
	for _, l := range markup.Spoken(text) {
		lines = append(lines, l.Free)
	}
	s.text = strings.Join(lines, "\n")
	if strings.HasPrefix(s.text, `Revert "`) {
		return nil
	}
	s.all()
	return s.found
}

// scan is one reading of a text.
type scan struct {
	text    string
	gitlab  bool
	forge   string
	repo    string
	grammar slot.Grammar
	found   []slot.Ref
}

// all looks at each word of the text.
func (s *scan) all() {
	for at := 0; at < len(s.text); {
		if !letter(s.text[at]) {
			at++
			continue
		}
		end := at
		for end < len(s.text) && letter(s.text[end]) {
			end++
		}
		if s.begins(at) && keyword(s.text[at:end], s.gitlab) {
			end = s.closed(end)
		}
		at = end
	}
}

// begins reports whether a word may begin at a place: the forges want it free of
// what stands before it.
func (s *scan) begins(at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s.text[:at])
	return at == 0 || strings.ContainsRune(" \t\n([{*,;:!?|", before) ||
		before >= utf8.RuneSelf && (unicode.IsSpace(before) || unicode.IsPunct(before))
}

// keyword reports whether a word closes what comes after it.
func keyword(word string, gitlab bool) bool {
	if gitlab {
		word = strings.ToLower(word[:1]) + word[1:]
	} else {
		word = strings.ToLower(word)
	}
	switch word {
	case "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved":
		return true
	case "closing", "fixing", "resolving", "implement", "implements", "implemented", "implementing":
		return gitlab
	}
	return false
}

// closed takes what follows a keyword that ends at a place, and gives the place
// behind it.
func (s *scan) closed(at int) int {
	rest := strings.TrimPrefix(s.text[at:], ":")
	for {
		ref := strings.TrimLeft(rest, " \t")
		if len(ref) == len(rest) { // nothing between keyword and reference
			return at
		}
		if s.gitlab {
			ref = issueWord(ref)
		}
		found, n := s.ref(ref)
		if n == 0 {
			return at
		}
		if !found.IsZero() && !slices.Contains(s.found, found) {
			s.found = append(s.found, found)
		}
		rest = ref[n:]
		at = len(s.text) - len(rest)
		if !s.gitlab {
			return at
		}
		rest = separator(rest)
	}
}

// issueWord drops the "issue" or "issues" that GitLab allows before a reference.
func issueWord(s string) string {
	for _, word := range []string{"issues ", "issue "} {
		if rest, ok := strings.CutPrefix(s, word); ok {
			return strings.TrimLeft(rest, " ")
		}
	}
	return s
}

// separator turns what stands between two references of a GitLab list, also across
// a line's end, into one space.
func separator(s string) string {
	rest := strings.TrimLeft(s, " \t")
	rest = strings.TrimPrefix(rest, ",")
	bare := strings.TrimLeft(rest, " \t\n")
	if and, ok := strings.CutPrefix(bare, "and "); ok {
		bare = and
	} else if len(rest) == len(s) || strings.HasPrefix(strings.TrimLeft(rest, " \t"), "\n") {
		return s
	}
	return " " + strings.TrimLeft(bare, " \t")
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
