package slot

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
)

const (
	slugMax  = 63 // a DNS label, the narrowest of the places a slug goes to
	slugHash = 26 // 130 bits in base 32
)

// Slug returns a name for units, containers, folders and branches: 1 to 63 of
// the characters a-z, 0-9 and '-', the first and last a letter or digit.
//
// What tells slugs apart is the hash of the canonical form at the end; the part
// before it is only for people, and may be the same for different refs.
func (r Ref) Slug() string {
	sum := sha256.Sum256([]byte(r.String()))
	hash := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:slugHash]
	room := slugMax - slugHash - 1

	tail := ""
	words := r.path
	switch r.kind {
	case RefIssue:
		tail = "-" + strconv.Itoa(r.number)
	case RefMerge:
		tail = "-mr-" + strconv.Itoa(r.number)
	case RefBranch, RefCheck:
		words += "-" + r.name + "-" + r.check
	case RefKey:
		words = "key-" + r.name
	}
	prefix := strings.Trim(readable(words, room-len(tail))+tail, "-")
	if prefix == "" {
		return hash
	}
	return prefix + "-" + hash
}

// readable keeps the letters and digits of s, in lower case, with one '-' for
// each run of anything else, up to n characters.
func readable(s string, n int) string {
	out := make([]byte, 0, n)
	gap := false
	for i := 0; i < len(s) && len(out) < n; i++ {
		if !alnum(s[i]) {
			gap = len(out) > 0
			continue
		}
		if gap {
			out = append(out, '-')
			gap = false
		}
		out = append(out, s[i])
	}
	out = out[:min(len(out), n)]
	return strings.ToLower(strings.TrimSuffix(string(out), "-"))
}
