package reserve

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what others put into our comments, in runes; a link in bytes.
const (
	maxSummary = 2000
	maxReason  = 300
	maxLink    = 500
)

// End is what came of the work, for people.
type End struct {
	Outcome string // one word: done, failed, ...
	Summary string // what the worker says; may be empty
	Link    string // http or https; anything else is left out
}

// text writes the part of the comment that people read. What is not ours stands in a
// code block, where no forge mentions, closes, links or obeys anything.
func (r record) text(limit int) string {
	since := r.Since.UTC().Format("2006-01-02 15:04 MST")
	who := fmt.Sprintf("host `%s`, path `%s`", r.Marker.Host, r.Marker.Path)
	var b strings.Builder
	switch r.Marker.State {
	case Posted:
		fmt.Fprintf(&b, "**oneslot** is about to work on this: %s, since %s.\n", who, since)
	case Running:
		fmt.Fprintf(&b, "**oneslot** works on this: %s, since %s. Please leave this comment as it is.\n", who, since)
	case Ended:
		fmt.Fprintf(&b, "**oneslot** worked on this: %s, since %s. Outcome: `%s`.\n", who, since, word(r.End.Outcome))
		if link := safeLink(r.End.Link); link != "" {
			fmt.Fprintf(&b, "\nLink: <%s>\n", link)
		}
	}
	if r.Marker.Forced {
		b.WriteString("\nA person passed the reservations of others.\n")
		b.WriteString(block(r.Reason, maxReason, limit-b.Len()))
	}
	if r.Marker.State == Ended {
		b.WriteString(block(r.End.Summary, maxSummary, limit-b.Len()))
	}
	return b.String()
}

// block quotes a text in a fence that nothing in it closes, cut to so many runes, and
// to room bytes in all; "" if there is no room.
func block(text string, runes, room int) string {
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) && r != utf8.RuneError {
			return r
		}
		return -1 // also what changes the direction of reading
	}, strings.ReplaceAll(text, "\r\n", "\n"))
	text = strings.TrimSpace(text)
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	cut := shorten(text, runes, room-2*len(fence)-len("\n\n\n\n"))
	if cut == "" {
		return ""
	}
	return "\n" + fence + "\n" + cut + "\n" + fence + "\n"
}

// shorten cuts a text to so many runes and bytes, with a mark that it was cut.
func shorten(text string, runes, room int) string {
	const more = "…"
	text = strings.ToValidUTF8(text, "")
	if len(text) <= room && utf8.RuneCountInString(text) <= runes {
		return text
	}
	end := 0
	for at, r := range text {
		if runes--; runes < 0 || at+utf8.RuneLen(r)+len(more) > room {
			break
		}
		end = at + utf8.RuneLen(r)
	}
	if end == 0 {
		return ""
	}
	return text[:end] + more
}

// safeLink gives a link that can stand between < and >, or "".
func safeLink(link string) string {
	u, err := url.Parse(link)
	if err != nil || len(link) > maxLink || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	for i := range len(link) {
		if c := link[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("<>\"'`\\()[]{}|@", c) >= 0 {
			return ""
		}
	}
	return link
}
