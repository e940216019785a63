package hook

import (
	"slices"
	"strings"
)

// maxSpoken bounds how much of a text is read, in bytes: no forge but GitLab (1 MB)
// takes much longer comments, and nobody writes commands that far down.
const maxSpoken = 256 << 10

// line is a line of what a comment's author says.
type line struct {
	raw  string // as written; empty if it does not begin as the author's own words
	free string // without code and HTML comments
}

// spoken gives the lines of a Markdown text that its author says in his own words
// there: without code, quotes, quoted mail and HTML comments. Where the rules of
// Markdown are finer than this, less is spoken.
func spoken(text string) []line {
	text = text[:min(len(text), maxSpoken)]
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	var out []line
	var fence string // what the open fence began with
	for at := 0; at < len(text); {
		raw := text[at:lineEnd(text, at)]
		next := at + len(raw) + 1
		switch bare := strings.TrimLeft(raw, " "); {
		case fence != "":
			if closes(bare, fence) && len(raw)-len(bare) < 4 {
				fence = ""
			}
		case indented(raw), strings.HasPrefix(bare, ">"):
		case opens(bare) != "":
			fence = opens(bare)
		case mailQuote(text[at:]):
			return out
		default:
			var free string
			free, next = inline(text, at)
			out = append(out, line{raw: raw, free: free})
		}
		at = next
	}
	return out
}

// inline gives what is left of the line at a place, and where the next line
// begins: behind the end of what the line opens and does not close.
func inline(text string, at int) (free string, next int) {
	var b strings.Builder
	for at < len(text) && text[at] != '\n' {
		switch {
		case text[at] == '\\' && at+1 < len(text) && text[at+1] != '\n':
			b.WriteString(text[at : at+2])
			at += 2
		case text[at] == '`':
			n := run(text[at:])
			end := codeEnd(text, at+n, n)
			if end < 0 { // nothing closes it
				b.WriteString(text[at : at+n])
				end = at + n
			}
			at = end
		case strings.HasPrefix(text[at:], "<!--"):
			end := strings.Index(text[at:], "-->")
			if end < 0 {
				return b.String(), len(text)
			}
			at += end + len("-->")
		default:
			b.WriteByte(text[at])
			at++
			continue
		}
		b.WriteByte(0) // no word goes across
	}
	return b.String(), at + 1
}

// codeEnd is the place after the next run of exactly n backticks in the same
// paragraph, or -1.
func codeEnd(text string, at, n int) int {
	for at < len(text) {
		switch text[at] {
		case '`':
			got := run(text[at:])
			if at += got; got == n {
				return at
			}
		case '\n':
			if at++; strings.TrimLeft(text[at:lineEnd(text, at)], " \t") == "" {
				return -1
			}
		default:
			at++
		}
	}
	return -1
}

// run is how often s repeats its first byte.
func run(s string) int { return len(s) - len(strings.TrimLeft(s, s[:1])) }

func lineEnd(text string, at int) int {
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(text)
}

// indented lines are code, or belong to something above them.
func indented(raw string) bool {
	return strings.HasPrefix(raw, "    ") || strings.HasPrefix(strings.TrimLeft(raw, " "), "\t")
}

// opens gives the marks that open a fence, or "".
func opens(s string) string {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return ""
	}
	n := run(s)
	if n < 3 || s[0] == '`' && strings.Contains(s[n:], "`") {
		return ""
	}
	return s[:n]
}

func closes(s, fence string) bool {
	return s != "" && s[0] == fence[0] && run(s) >= len(fence) && strings.Trim(s[run(s):], " \t") == ""
}

// mailQuote reports whether a text begins with the line that mail programs put
// before what they quote, unless the quote is marked as one by itself.
func mailQuote(text string) bool {
	if strings.HasPrefix(text, "-----Original Message-----") {
		return true
	}
	if !strings.HasPrefix(text, "On ") {
		return false
	}
	for range 3 { // it may be broken into some lines
		end := lineEnd(text, 0)
		said := strings.TrimRight(text[:end], " \t")
		text = strings.TrimPrefix(text[end:], "\n")
		if strings.HasSuffix(said, "wrote:") {
			return !strings.HasPrefix(strings.TrimLeft(text, " \t\n"), ">")
		}
		if said == "" {
			return false
		}
	}
	return false
}

// command is the first line that begins with one of the commands as a whole word,
// or "".
func command(lines []line, commands []string) string {
	for _, l := range lines {
		for _, c := range commands {
			rest, ok := strings.CutPrefix(l.raw, c)
			if ok && c != "" && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
				return strings.TrimRight(l.raw, " \t")
			}
		}
	}
	return ""
}

// mentions reports whether @NAME with a login, or an app's slug, is in the lines.
func mentions(lines []line, own Own) bool {
	for _, l := range lines {
		text := l.free
		for {
			before, after, ok := strings.Cut(text, "@")
			if !ok {
				break
			}
			if before == "" || !wordByte(before[len(before)-1]) {
				for _, login := range slices.Concat(own.Logins, own.Apps) {
					if names(after, login) {
						return true
					}
				}
			}
			text = after
		}
	}
	return false
}

// names reports whether s begins with the login as a whole word.
func names(s, login string) bool {
	if login == "" || len(s) < len(login) || !strings.EqualFold(s[:len(login)], login) {
		return false
	}
	return len(s) == len(login) || !wordByte(s[len(login)]) && s[len(login)] != '-'
}

func wordByte(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
