package hook

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Payloads are mostly addresses that nobody asked for. encoding/json would look at
// each byte of them twice; skim looks once, and leaves it the rest.

// maxDepth is how deep JSON may be nested, as in encoding/json.
const maxDepth = 10_000

// keeper judges a member by its key and by that of the member that it is in, or
// among the elements of; the latter is empty at the top.
type keeper func(in, key []byte) bool

// skim returns a JSON text without the members that keep does not want, at any
// depth. It reports whether the text is valid; invalid UTF-8 is.
func skim(text []byte, keep keeper) ([]byte, bool) {
	s := skimmer{in: text, keep: keep, out: make([]byte, 0, 2<<10)}
	ok := s.value(nil, true)
	s.space()
	return s.out, ok && s.at == len(s.in)
}

type skimmer struct {
	in, out []byte
	at      int
	depth   int
	keep    keeper
}

// value reads the value of a key, and copies it if it is wanted.
func (s *skimmer) value(of []byte, want bool) bool {
	s.space()
	switch from := s.at; s.peek() {
	case '{':
		return s.nested(of, '}', want)
	case '[':
		return s.nested(of, ']', want)
	case '"':
		return s.text() && s.copy(from, want)
	case 't':
		return s.word("true") && s.copy(from, want)
	case 'f':
		return s.word("false") && s.copy(from, want)
	case 'n':
		return s.word("null") && s.copy(from, want)
	default:
		return s.number() && s.copy(from, want)
	}
}

// nested reads an object or an array.
func (s *skimmer) nested(of []byte, end byte, want bool) bool {
	if s.depth++; s.depth > maxDepth {
		return false
	}
	s.copyByte(s.in[s.at], want)
	s.at++
	s.space()
	copied := false
	for more := s.peek() != end; more; {
		wanted, key := want, of
		if end == '}' {
			from := s.at
			if s.peek() != '"' || !s.text() {
				return false
			}
			text := s.in[from:s.at]
			key = text[1 : len(text)-1]
			if wanted = want && s.wants(of, key); wanted {
				s.copyByte(',', copied)
				s.out = append(append(s.out, text...), ':')
			}
			if s.space(); s.peek() != ':' {
				return false
			}
			s.at++
		} else {
			s.copyByte(',', wanted && copied)
		}
		copied = copied || wanted
		if !s.value(key, wanted) {
			return false
		}
		s.space()
		if more = s.peek() == ','; more {
			s.at++
			s.space()
		}
	}
	if s.peek() != end {
		return false
	}
	s.copyByte(end, want)
	s.at++
	s.depth--
	return true
}

// wants judges a key. One with an escape may be any.
func (s *skimmer) wants(in, key []byte) bool {
	return s.keep(in, key) || bytes.IndexByte(key, '\\') >= 0
}

// text reads a string.
func (s *skimmer) text() bool {
	in, at := s.in, s.at+1
	for ; ; at++ {
		at = plain(in, at)
		if at == len(in) || in[at] < ' ' {
			return false
		}
		if in[at] == '"' {
			s.at = at + 1
			return true
		}
		if at++; at == len(in) {
			return false
		}
		switch in[at] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			for range 4 {
				if at++; at == len(in) || !hexDigit(in[at]) {
					return false
				}
			}
		default:
			return false
		}
	}
}

// plain is the place of the first quote, backslash or control character from at on,
// or the end. It looks at eight bytes at once: a byte less than c loses its own top
// bit by subtracting c, and only what is above the first such byte may be wrong.
func plain(in []byte, at int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; at+8 <= len(in); at += 8 {
		w := binary.LittleEndian.Uint64(in[at:])
		quote, slash := w^'"'*ones, w^'\\'*ones
		if hit := ((w-' '*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & tops; hit != 0 {
			return at + bits.TrailingZeros64(hit)/8
		}
	}
	for at < len(in) && in[at] != '"' && in[at] != '\\' && in[at] >= ' ' {
		at++
	}
	return at
}

// number reads -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
func (s *skimmer) number() bool {
	if s.peek() == '-' {
		s.at++
	}
	if s.peek() == '0' {
		s.at++
	} else if !s.digits() {
		return false
	}
	if s.peek() == '.' {
		if s.at++; !s.digits() {
			return false
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.at++
		if c = s.peek(); c == '+' || c == '-' {
			s.at++
		}
		return s.digits()
	}
	return true
}

func (s *skimmer) digits() bool {
	from := s.at
	for c := s.peek(); '0' <= c && c <= '9'; c = s.peek() {
		s.at++
	}
	return s.at > from
}

func (s *skimmer) word(w string) bool {
	if len(s.in)-s.at < len(w) || string(s.in[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

func (s *skimmer) space() {
	for s.at < len(s.in) && s.in[s.at] <= ' ' {
		switch s.in[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// peek is the next byte; 0, which begins nothing, at the end.
func (s *skimmer) peek() byte {
	if s.at == len(s.in) {
		return 0
	}
	return s.in[s.at]
}

func (s *skimmer) copy(from int, want bool) bool {
	if want {
		s.out = append(s.out, s.in[from:s.at]...)
	}
	return true
}

func (s *skimmer) copyByte(c byte, want bool) {
	if want {
		s.out = append(s.out, c)
	}
}

func hexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
