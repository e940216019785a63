package config

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// reader reads one TOML file into a Config. It goes through the syntax tree and
// not through toml.Unmarshal, which stops at the first wrong type.
type reader struct {
	root  scope
	parts []part
	c     *Config
	bad   *Problems
	path  string
	lines []int           // where each line begins
	seen  map[string]bool // tables that were opened or refused, by path
}

func readTOML(path string, data []byte, c *Config, bad *Problems) []part {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // editors hide it, so do we
	r := &reader{root: scope{rows: schema()}, c: c, bad: bad, path: path, lines: []int{0}, seen: map[string]bool{}}
	for i, b := range data {
		if b == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	if r.readable(data) {
		r.read(data)
	}
	return r.parts
}

// readable refuses what is no text, which a syntax error would explain badly.
func (r *reader) readable(data []byte) bool {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		r.bad.add(r.at(0), "the file is UTF-16; save it as UTF-8")
		return false
	}
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		if c == 0 {
			r.bad.add(r.at(i), "a NUL byte: this is no text file")
			return false
		}
		if c == utf8.RuneError && size == 1 {
			r.bad.add(r.at(i), "not UTF-8")
			return false
		}
		i += size
	}
	return true
}

// large is how much of a file, in bytes, is shown to the library in any case: its time
// grows with the square of the keys.
const large = 64 << 10

func (r *reader) read(data []byte) {
	var p unstable.Parser
	p.Reset(data)
	in, tables := r.root, len(data) // where the first begins
	for p.NextExpression() {
		switch n := p.Expression(); n.Kind {
		case unstable.Table, unstable.ArrayTable:
			at := r.begin(n)
			tables = min(tables, r.lines[at.Line-1])
			in = r.header(n)
		case unstable.KeyValue:
			if tables == len(data) {
				r.begin(n)
			}
			r.keyValue(in, n)
		}
	}
	if err := p.Error(); err != nil {
		at := r.at(len(data))
		var pe *unstable.ParserError
		if errors.As(err, &pe) {
			at = r.at(int(p.Range(pe.Highlight).Offset))
		}
		r.bad.add(at, "%s", oneLine(err))
		r.bad.cut = at
		r.until(at, tables < min(len(data), large) && toml.Unmarshal(data[:tables], &map[string]any{}) == nil)
		return
	}
	// The tree does not show what is defined twice, but the library does. A large
	// file is shown to it only when all its keys are known, which are few.
	if len(data) > large && len(r.bad.List) > 0 {
		r.parts = nil
		return
	}
	var all map[string]any
	if err := toml.Unmarshal(data, &all); err != nil {
		at := r.at(0)
		var de *toml.DecodeError
		if errors.As(err, &de) {
			at.Line, at.Column = de.Position()
		}
		r.bad.add(at, "%s", oneLine(err))
		r.until(at, r.lines[at.Line-1] >= tables) // it stops at the first
	}
}

// begin notes the part that a header or a key of the root begins. Of a table whose name
// has a typing error it is known what was meant; a key could be any other.
func (r *reader) begin(n *unstable.Node) Origin {
	keys := n.Key()
	keys.Next()
	k := keys.Node()
	name, at := string(k.Data), r.at(int(k.Raw.Offset))
	switch {
	case find(r.root.rows, name) != nil:
	case n.Kind == unstable.KeyValue:
		name = ""
	default:
		name = nearest(name, r.root.rows)
	}
	r.parts = append(r.parts, part{at, name})
	return at
}

// until notes that nobody knows what is wrong from at on. If that is behind all keys of
// the root, it is in tables.
func (r *reader) until(at Origin, tables bool) {
	i := slices.IndexFunc(r.parts, func(p part) bool { return p.at.compare(at) >= 0 })
	if i < 0 {
		i = len(r.parts)
	}
	r.parts = append(r.parts[:i], part{at: at})
	if tables {
		r.parts[i].name = unread
	}
}

// oneLine is the library's message, which may repeat any key of the file.
func oneLine(err error) string {
	s := strings.TrimPrefix(err.Error(), "toml: ")
	if checkName(s) != nil {
		return quote(s)
	}
	return s
}

// at is the place of a byte.
func (r *reader) at(offset int) Origin {
	line := sort.SearchInts(r.lines, offset+1)
	return Origin{Name: r.path, Line: line, Column: offset - r.lines[line-1] + 1}
}

// dir is what relative paths in the file count from.
func (r *reader) dir() (string, error) { return filepath.Dir(r.path), nil }
