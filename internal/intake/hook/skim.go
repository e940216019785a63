package hook

// Payloads are mostly addresses that nobody asked for. encoding/json would look at
// each byte of them twice; skim looks once, and leaves it the rest.

// maxDepth is how deep JSON may be nested, as in encoding/json.
const maxDepth = 10_000

// skim returns a JSON text without the members that keep does not want, at any
// depth. It reports whether the text is valid; invalid UTF-8 is.
func skim(text []byte, keep func(key []byte) bool) ([]byte, bool) {
	s := skimmer{in: text, keep: keep, out: make([]byte, 0, 2<<10)}
	ok := s.value(true)
	s.space()
	return s.out, ok && s.at == len(s.in)
}

type skimmer struct {
	in, out []byte
	at      int
	depth   int
	keep    func(key []byte) bool
}

// value reads a value, and copies it if it is wanted.
func (s *skimmer) value(want bool) bool {
	s.space()
	switch from := s.at; s.peek() {
	case '{':
		return s.nested('}', want)
	case '[':
		return s.nested(']', want)
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
func (s *skimmer) nested(end byte, want bool) bool {
	if s.depth++; s.depth > maxDepth {
		return false
	}
	s.copyByte(s.in[s.at], want)
	s.at++
	s.space()
	copied := false
	for more := s.peek() != end; more; {
		wanted := want
		if end == '}' {
			from := s.at
			if s.peek() != '"' || !s.text() {
				return false
			}
			key := s.in[from:s.at]
			if wanted = want && s.wants(key); wanted {
				s.copyByte(',', copied)
				s.out = append(append(s.out, key...), ':')
			}
			if s.space(); s.peek() != ':' {
				return false
			}
			s.at++
		} else {
			s.copyByte(',', wanted && copied)
		}
		copied = copied || wanted
		if !s.value(wanted) {
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

// wants judges a key, quotes and all. One with an escape may be any.
func (s *skimmer) wants(key []byte) bool {
	for _, c := range key {
		if c == '\\' {
			return true
		}
	}
	return s.keep(key[1 : len(key)-1])
}

// text reads a string.
func (s *skimmer) text() bool {
	in, at := s.in, s.at+1
	for ; ; at++ {
		for at < len(in) && in[at] != '"' && in[at] != '\\' && in[at] >= ' ' {
			at++
		}
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
	for s.at < len(s.in) {
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
