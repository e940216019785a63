package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oneslot/oneslot/internal/slot"
)

// Bounds of what is kept of a payload. Lengths are in bytes.
const (
	maxFact        = 512
	maxList        = 100 // labels of a ref, pull requests of a check
	maxGUID        = 128
	maxFingerprint = 255
)

// clean makes one bounded line of forge text: what could break a line, end a
// string or turn the direction of writing becomes U+FFFD.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			return utf8.RuneError
		}
		return r
	}, s)
	if len(s) <= maxFact {
		return s
	}
	end := maxFact
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// short bounds an id without making two of one.
func short(s string, most int) string {
	if len(s) <= most {
		return clean(s)
	}
	return "sha256:" + digest(s)
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// fingerprint tells occurrences apart. What a person can choose freely comes last.
func fingerprint(kind slot.EventKind, parts ...string) string {
	s := string(kind)
	for _, part := range parts {
		if part != "" {
			s += " " + part
		}
	}
	return short(s, maxFingerprint)
}

// moment is a time as a forge writes it, only ever compared; "" if it says none.
func moment(times ...string) string {
	for _, s := range times {
		if s != "" && !strings.HasPrefix(s, "0001-") {
			return clean(s)
		}
	}
	return ""
}

// commit is s if it is the name of a commit, else "".
func commit(s string) string {
	if len(s) != 40 && len(s) != 64 || strings.Trim(s, "0") == "" {
		return ""
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return ""
		}
	}
	return s
}

// repository is the canonical host/owner/repo, or "" if the grammar knows no such
// thing.
func repository(host, path string) string {
	ref, _ := refTo(host, path, '#', 1)
	return ref.Repo()
}

// refTo builds a ref from what a payload says. The path cannot reach beyond its
// part: it has none of the marks that end a repository.
func refTo(host, path string, mark byte, n int64) (slot.Ref, bool) {
	for i := range len(path) {
		if c := path[i]; c >= utf8.RuneSelf || strings.IndexByte("#!@:", c) >= 0 {
			return slot.Ref{}, false
		}
	}
	ref, err := slot.ParseCanonical(host + "/" + strings.ToLower(path) + string(mark) + strconv.FormatInt(n, 10))
	return ref, err == nil
}
