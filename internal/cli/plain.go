package cli

import (
	"io"
	"unicode"
	"unicode/utf8"
)

// plainWriter passes text on without what could do something to a terminal:
// control characters other than newline and tab, and those that turn the
// direction of writing. Bytes that are no text become U+FFFD.
type plainWriter struct {
	w    io.Writer
	rest []byte // the beginning of a character whose end is still to come
}

func (p *plainWriter) Write(b []byte) (int, error) {
	in := append(p.rest, b...)
	out := make([]byte, 0, len(in))
	for len(in) > 0 && utf8.FullRune(in) {
		r, size := utf8.DecodeRune(in)
		if r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) {
			out = utf8.AppendRune(out, r)
		}
		in = in[size:]
	}
	p.rest = append([]byte(nil), in...)
	if _, err := p.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
