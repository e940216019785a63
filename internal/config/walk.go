package config

import (
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// scope is a table: what may stand in it.
type scope struct {
	rows    []row
	path    string // of its keys, up to and with the last dot
	refused bool   // reported already: only the spelling is still looked at
}

func (s scope) enter(r *row) scope {
	return scope{rows: r.rows, path: s.path + r.name + ".", refused: s.refused || r.later}
}

// header reads [a.b] or [[a.b]] and returns the table that it begins. An empty
// scope swallows what cannot be judged.
func (r *reader) header(n *unstable.Node) scope {
	s := r.root
	for keys := n.Key(); keys.Next(); {
		k, last := keys.Node(), keys.IsLast()
		row := r.lookup(s, k)
		if row == nil {
			return scope{}
		}
		at, path := r.at(int(k.Raw.Offset)), s.path+row.name
		inner := s.enter(row)
		element := last && n.Kind == unstable.ArrayTable
		switch {
		case inner.refused:
			if row.later && !s.refused && (last || !r.seen[path]) {
				r.bad.add(at, "%s: not in this version", path)
			}
		case row.take != nil:
			r.bad.add(at, "%s takes %s, not a table", path, row.wants)
			return scope{}
		case row.open == nil && element:
			r.bad.add(at, "%s is one table: write [%s]", path, path)
			return scope{}
		case row.open != nil && element:
			row.open(r.c, at)
		case row.open != nil && (last || !r.seen[path]):
			r.bad.add(at, "%s is a list of tables: write [[%s]]", path, path)
			return scope{}
		}
		r.seen[path] = true
		s = inner
	}
	return s
}

// keyValue reads a.b = value.
func (r *reader) keyValue(s scope, n *unstable.Node) {
	for keys := n.Key(); keys.Next(); {
		k := keys.Node()
		row := r.lookup(s, k)
		if row == nil {
			return
		}
		at, path := r.at(int(k.Raw.Offset)), s.path+row.name
		if row.later && !s.refused {
			r.bad.add(at, "%s: not in this version", path)
		}
		inner := s.enter(row)
		switch {
		case keys.IsLast():
			r.value(row, inner, at, n.Value())
			return
		case inner.refused:
		case row.take != nil:
			r.bad.add(at, "%s takes %s, not a table", path, row.wants)
			return
		case row.open != nil:
			r.bad.add(at, "%s is a list of tables: write [[%s]]", path, path)
			return
		}
		s = inner
	}
}

// value reads the value of a row. inner is the scope that the row opens.
func (r *reader) value(row *row, inner scope, at Origin, v *unstable.Node) {
	path := strings.TrimSuffix(inner.path, ".")
	switch {
	case row.take != nil:
		g, fault := r.given(row, at, v)
		if fault != "" {
			row.mark(r.c, at)
			r.bad.add(at, "%s takes %s, %s", path, row.wants, fault)
		} else if err := row.take(r.c, g); err != nil {
			r.bad.add(at, "%s: %v", path, err)
		}
	case v.Kind == unstable.InlineTable && row.open == nil:
		r.table(inner, v)
	case v.Kind == unstable.Array && (row.open != nil || inner.refused):
		for list := v.Children(); list.Next(); {
			r.element(row, inner, at, list.Node())
		}
	case !inner.refused && row.open != nil:
		r.bad.add(at, "%s is a list of tables, not %s", path, kindName(v.Kind))
	case !inner.refused:
		r.bad.add(at, "%s is a table, not %s", path, kindName(v.Kind))
	}
}

// given is the value of a row, or what is wrong with how it is written.
func (r *reader) given(row *row, at Origin, v *unstable.Node) (g given, fault string) {
	g = given{text: string(v.Data), origin: at, dir: r.dir}
	switch {
	case row.form == aTexts && v.Kind == unstable.String:
		g.list = []string{g.text}
		return g, ""
	case row.form == aWord && v.Kind == unstable.Integer:
		return g, ""
	}
	want := map[form]unstable.Kind{aText: unstable.String, aBool: unstable.Bool, aNumber: unstable.Integer, aList: unstable.Array, aTexts: unstable.Array, aWord: unstable.String}
	if v.Kind != want[row.form] {
		return g, "not " + kindName(v.Kind)
	}
	if row.form == aList || row.form == aTexts {
		for list := v.Children(); list.Next(); {
			one := list.Node()
			if one.Kind != unstable.String {
				return g, "and one of these is " + kindName(one.Kind)
			}
			g.list = append(g.list, string(one.Data))
		}
	}
	return g, ""
}

// element reads one value of a list of tables.
func (r *reader) element(row *row, inner scope, at Origin, v *unstable.Node) {
	switch {
	case v.Kind == unstable.InlineTable:
		if !inner.refused {
			row.open(r.c, r.at(int(v.Raw.Offset)))
		}
		r.table(inner, v)
	case !inner.refused:
		r.bad.add(at, "%s is a list of tables, and one of these is %s",
			strings.TrimSuffix(inner.path, "."), kindName(v.Kind))
	}
}

func (r *reader) table(s scope, v *unstable.Node) {
	for list := v.Children(); list.Next(); {
		r.keyValue(s, list.Node())
	}
}

// lookup finds the row of a key. If it is not known it says so, and is nil.
func (r *reader) lookup(s scope, k *unstable.Node) *row {
	name := string(k.Data)
	if row := find(s.rows, name); row != nil {
		return row
	}
	at, meant := r.at(int(k.Raw.Offset)), nearest(name, s.rows)
	if known := find(r.root.rows, name) != nil; known || s.path != "" && meant == "" && nearest(name, r.root.rows) != "" {
		r.parts = append(r.parts, part{at: at}) // it may have been meant for the root
	}
	if s.rows == nil {
		return nil
	}
	switch {
	case meant != "":
		r.bad.add(at, "unknown key %s; did you mean %s%s?", quote(s.path+name), s.path, meant)
	case s.path != "" && find(r.root.rows, name) != nil:
		// All that follows a [table] belongs to it, which is easily forgotten.
		r.bad.add(at, "unknown key %s; did you mean %s? It must stand before the first [table]", quote(s.path+name), name)
	default:
		r.bad.add(at, "unknown key %s", quote(s.path+name))
	}
	return nil
}

// quote makes a key of the file safe to print.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.Quote(s)
}

// kindName is what people call a kind of value.
func kindName(k unstable.Kind) string {
	switch k {
	case unstable.String:
		return "a text"
	case unstable.Bool:
		return "a boolean"
	case unstable.Integer, unstable.Float:
		return "a bare number"
	case unstable.Array:
		return "a list"
	case unstable.InlineTable:
		return "a table"
	default:
		return "a date or time"
	}
}
