package markup

import "strings"

// maxRead bounds how much of a text is read, in bytes: no forge but GitLab (1 MB)
// takes much longer comments, and nobody means what stands that far down.
const maxRead = 256 << 10

// Line is a line that begins as the author's own words.
type Line struct {
	Raw string // as written
	// Free is the line without code and HTML comments, each replaced by a NUL, and
	// with what follows on the line where the last of them ends.
	Free string
}

// Spoken gives the lines of a Markdown text that its author says in his own words
// there: without code, quotes, quoted mail and HTML comments. Where the rules of
// Markdown are finer than this, less is spoken.
func Spoken(text string) []Line {
	text = text[:min(len(text), maxRead)]
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	var out []Line
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
			out = append(out, Line{Raw: raw, Free: free})
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
