package closing

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oneslot/oneslot/internal/slot"
)

// ref reads the reference that a text begins with, and how long it is. The ref is
// zero if it names nothing that can be closed from here; the length is zero if there
// is no reference.
func (s *scan) ref(text string) (slot.Ref, int) {
	if strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") {
		return s.address(text)
	}
	path := 0
	for path < len(text) && inPath(text[path]) {
		path++
	}
	number := path + 1
	if path == len(text) || strings.IndexByte(s.marks(), text[path]) < 0 {
		return s.dashed(text)
	}
	for number < len(text) && digit(text[number]) {
		number++
	}
	if number == path+1 || !ends(text[number:]) {
		return slot.Ref{}, 0
	}
	repo, ok := s.repository(text[:path])
	if !ok {
		return slot.Ref{}, number
	}
	return s.parse(repo + text[path:number]), number
}

// marks are what a number of an issue begins with. GitLab's "!12" is a merge
// request, which nothing closes.
func (s *scan) marks() string {
	switch s.forge {
	case "gitea", "forgejo", "gogs":
		return "#!"
	}
	return "#"
}

// dashed reads GitHub's older "GH-12".
func (s *scan) dashed(text string) (slot.Ref, int) {
	const prefix = "GH-"
	if s.forge != "github" || len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return slot.Ref{}, 0
	}
	n := len(prefix)
	for n < len(text) && digit(text[n]) {
		n++
	}
	if n == len(prefix) || !ends(text[n:]) {
		return slot.Ref{}, 0
	}
	return s.parse(s.repo + "#" + text[len(prefix):n]), n
}

// repository completes what stands before the mark: nothing is the text's own
// repository, and on GitLab one name alone is a project beside it.
func (s *scan) repository(path string) (string, bool) {
	host, own, _ := strings.Cut(s.repo, "/")
	switch slashes := strings.Count(path, "/"); {
	case path == "":
		return s.repo, true
	case slashes == 0 && s.gitlab:
		return host + "/" + own[:strings.LastIndexByte(own, '/')+1] + path, true
	case slashes == 1, slashes > 1 && s.gitlab:
		return host + "/" + path, true
	}
	return "", false
}

// address reads the web address of an issue. Of another host, it is a reference
// all the same, but to nothing.
func (s *scan) address(text string) (slot.Ref, int) {
	n := strings.IndexAny(text, " \t\n<>()[]{}\"'`|\x00")
	if n < 0 {
		n = len(text)
	}
	n = len(strings.TrimRight(text[:n], ".,;:!?*_~"))
	return s.parse(text[:n]), n
}

// parse gives the ref that a text names, if it is an issue's and of this host.
func (s *scan) parse(text string) slot.Ref {
	ref, err := slot.ParseRef(text, s.grammar)
	host, _, _ := strings.Cut(s.repo, "/")
	if err != nil || ref.Kind() != slot.RefIssue || ref.Host() != host {
		return slot.Ref{}
	}
	return ref
}

// ends reports whether a number ends before a text: not in a longer word, a path or
// a decimal.
func ends(s string) bool {
	if s == "" {
		return true
	}
	switch c, _ := utf8.DecodeRuneInString(s); c {
	case '_', '-', '/', '#':
		return false
	case '.', ':':
		return len(s) == 1 || !letter(s[1]) && !digit(s[1])
	default:
		return !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}
}

func inPath(c byte) bool {
	return letter(c) || digit(c) || c == '.' || c == '-' || c == '_' || c == '/'
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
