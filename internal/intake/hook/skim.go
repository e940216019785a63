package hook

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"reflect"
	"strconv"
	"sync"
	"unicode/utf8"
)

// Payloads are mostly addresses that nobody asked for. encoding/json would look at
// each byte of them twice, and takes long over the rest.

// maxDepth is how deep JSON may be nested, as in encoding/json.
const maxDepth = 10_000

// skim fills the struct that to points to from a JSON text. It knows what our types
// are made of: structs with a json tag at each field, slices, strings, int64 and bool,
// and pointers to them. A value of another type than expected is left out: what is
// there may do. It reports whether the text is valid; invalid UTF-8 is.
func skim(text []byte, to any) bool {
	s := skimmer{in: text}
	ok := s.value(reflect.ValueOf(to).Elem())
	s.space()
	return ok && s.at == len(s.in)
}

type skimmer struct {
	in    []byte
	at    int
	depth int
}

// value reads a value into to, unless that is invalid: then nobody wants it.
func (s *skimmer) value(to reflect.Value) bool {
	s.space()
	from, first := s.at, s.peek()
	switch first {
	case '{':
		return s.nested('}', place(to, reflect.Struct))
	case '[':
		return s.nested(']', place(to, reflect.Slice))
	case '"':
		if !s.text() {
			return false
		}
		if to = place(to, reflect.String); to.IsValid() {
			to.SetString(unquote(s.in[from:s.at]))
		}
		return true
	case 't', 'f':
		if to = place(to, reflect.Bool); to.IsValid() {
			to.SetBool(first == 't')
		}
		return s.word("true") || s.word("false")
	case 'n':
		if to.IsValid() && (to.Kind() == reflect.Pointer || to.Kind() == reflect.Slice) {
			to.SetZero()
		}
		return s.word("null")
	}
	if !s.number() {
		return false
	}
	if to = place(to, reflect.Int64); to.IsValid() {
		if n, err := strconv.ParseInt(string(s.in[from:s.at]), 10, 64); err == nil {
			to.SetInt(n)
		}
	}
	return true
}

// place is where a value of a kind goes: to, or what it points to. It is invalid if
// that is of another kind.
func place(to reflect.Value, kind reflect.Kind) reflect.Value {
	switch {
	case !to.IsValid() || to.Kind() == kind:
		return to
	case to.Kind() != reflect.Pointer || to.Type().Elem().Kind() != kind:
		return reflect.Value{}
	case to.IsNil():
		to.Set(reflect.New(to.Type().Elem()))
	}
	return to.Elem()
}

// nested reads an object or an array.
func (s *skimmer) nested(end byte, to reflect.Value) bool {
	if s.depth++; s.depth > maxDepth {
		return false
	}
	s.at++
	s.space()
	var fields map[string]int
	switch {
	case !to.IsValid():
	case end == '}':
		fields = fieldsOf(to.Type())
	default:
		to.Set(reflect.MakeSlice(to.Type(), 0, 0))
	}
	for more := s.peek() != end; more; {
		var part reflect.Value
		switch {
		case end == '}':
			from := s.at
			if s.peek() != '"' || !s.text() {
				return false
			}
			if fields != nil {
				part = member(to, fields, s.in[from:s.at])
			}
			if s.space(); s.peek() != ':' {
				return false
			}
			s.at++
		case to.IsValid():
			n := to.Len()
			to.Grow(1)
			to.SetLen(n + 1)
			part = to.Index(n)
		}
		if !s.value(part) {
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
	s.at++
	s.depth--
	return true
}

// member is the field that a key, with its quotes, stands for; invalid if none.
func member(of reflect.Value, fields map[string]int, key []byte) reflect.Value {
	i, ok := fields[string(key[1:len(key)-1])]
	if !ok && bytes.IndexByte(key, '\\') >= 0 {
		i, ok = fields[unquote(key)]
	}
	if !ok {
		return reflect.Value{}
	}
	return of.Field(i)
}

// unquote is what a valid JSON string says.
func unquote(text []byte) (s string) {
	if bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return string(text[1 : len(text)-1])
	}
	_ = json.Unmarshal(text, &s) // it is valid
	return s
}

// known has the fields of structs by their tags; map[string]int by reflect.Type.
var known sync.Map

func fieldsOf(t reflect.Type) map[string]int {
	if m, ok := known.Load(t); ok {
		return m.(map[string]int)
	}
	m := map[string]int{}
	for i := range t.NumField() {
		m[t.Field(i).Tag.Get("json")] = i
	}
	known.Store(t, m)
	return m
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
	at := s.at
	for at < len(s.in) && (s.in[at] == ' ' || s.in[at] == '\n' || s.in[at] == '\r' || s.in[at] == '\t') {
		at++
	}
	s.at = at
}

// peek is the next byte; 0, which begins nothing, at the end.
func (s *skimmer) peek() byte {
	if s.at == len(s.in) {
		return 0
	}
	return s.in[s.at]
}

func hexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
