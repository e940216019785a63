package config

import (
	"cmp"
	"fmt"
	"strings"
)

// Value is a setting and where it came from.
type Value[T any] struct {
	V      T
	Origin Origin
}

// Origin is where a setting came from. Its zero value is the default.
type Origin struct {
	// Name is "flag --store", "environment ONESLOT_STORE" or a file's path.
	Name string
	// Line and Column (in bytes) count from 1; zero if Name is no file.
	Line, Column int
}

// String is the origin for people: a file with its line, or "default".
func (o Origin) String() string {
	switch {
	case o.Name == "":
		return "default"
	case o.Line > 0:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	}
	return o.Name
}

// compare orders places of one file.
func (o Origin) compare(other Origin) int {
	return cmp.Or(cmp.Compare(o.Line, other.Line), cmp.Compare(o.Column, other.Column))
}

// flagged begins the Name of a flag's origin.
const flagged = "flag "

// flag reports whether the value came from the command line.
func (o Origin) flag() bool { return o.Line == 0 && strings.HasPrefix(o.Name, flagged) }

func byDefault[T any](v T) Value[T] { return Value[T]{V: v} }
