package markup

import "strings"

// Mentions reports whether one of the names, without its @, is mentioned in the
// lines: as a whole word, in any case.
func Mentions(lines []Line, names ...string) bool {
	for _, l := range lines {
		text := l.Free
		for {
			before, after, ok := strings.Cut(text, "@")
			if !ok {
				break
			}
			if before == "" || !wordByte(before[len(before)-1]) {
				for _, name := range names {
					if begins(after, name) {
						return true
					}
				}
			}
			text = after
		}
	}
	return false
}

// begins reports whether s begins with the name as a whole word.
func begins(s, name string) bool {
	if name == "" || len(s) < len(name) || !strings.EqualFold(s[:len(name)], name) {
		return false
	}
	return len(s) == len(name) || !wordByte(s[len(name)]) && s[len(name)] != '-'
}

func wordByte(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
