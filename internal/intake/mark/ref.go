package mark

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oneslot/oneslot/internal/slot"
)

// Ref builds a ref from what a forge says. The path cannot reach beyond its part: it
// has none of the marks that end a repository.
func Ref(host, path string, mark byte, n int64) (slot.Ref, bool) {
	for i := range len(path) {
		if c := path[i]; c >= utf8.RuneSelf || strings.IndexByte("#!@:", c) >= 0 {
			return slot.Ref{}, false
		}
	}
	ref, err := slot.ParseCanonical(host + "/" + strings.ToLower(path) + string(mark) + strconv.FormatInt(n, 10))
	return ref, err == nil
}

// Repo is the canonical host/owner/repo, or "" if the grammar knows no such thing.
func Repo(host, path string) string {
	ref, _ := Ref(host, path, '#', 1)
	return ref.Repo()
}
