package mark

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is kept of a forge's words.
const (
	MaxFact = 512 // bytes of a fact
	MaxList = 100 // labels of a ref, pull requests of a check
)

// Line makes one bounded line of forge text: what could break a line, end a string
// or turn the direction of writing becomes U+FFFD.
func Line(s string) string {
	s = strings.Map(func(r rune) rune {
		if ' ' <= r && r < 0x7f { // most are
			return r
		}
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			return utf8.RuneError
		}
		return r
	}, s)
	if len(s) <= MaxFact {
		return s
	}
	end := MaxFact
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// Short bounds an id to most bytes, without making one of two.
func Short(s string, most int) string {
	if len(s) <= most {
		return Line(s)
	}
	return "sha256:" + Digest(s)
}

// Digest stands for a text that is too long, or too free, to be compared as it is.
func Digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// layouts of the times that forges write. GitLab's webhooks have another one than its
// API, and no fractions of seconds.
var layouts = []string{time.RFC3339, "2006-01-02 15:04:05 UTC", "2006-01-02 15:04:05 -0700"}

// Moment is the first of the times that says one, in UTC and whole seconds, so that
// a time is the same by whatever path it came. What is no time at all is one line,
// only ever compared; "" if none says anything.
func Moment(times ...string) string {
	for _, s := range times {
		if s == "" || strings.HasPrefix(s, "0001-") {
			continue
		}
		for _, layout := range layouts {
			if t, err := time.Parse(layout, s); err == nil {
				return t.UTC().Format(time.RFC3339)
			}
		}
		return Line(s)
	}
	return ""
}

// Commit is s if it is the name of a commit, else "".
func Commit(s string) string {
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
