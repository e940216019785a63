package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oneslot/oneslot/internal/slot"
)

// Refuse is the error for a value that somebody else than this package found to be
// bad.
func Refuse(at Origin, format string, args ...any) *Problems {
	bad := &Problems{}
	bad.add(at, format, args...)
	return bad
}

// Problem is one thing that is wrong with the configuration.
type Problem struct {
	// Origin is where; its zero value means that no one place is wrong.
	Origin  Origin
	Message string
}

// String is the line for people: file:line:column: message.
func (p Problem) String() string {
	switch o := p.Origin; {
	case o.Name == "":
		return p.Message
	case o.Line > 0:
		return fmt.Sprintf("%s:%d:%d: %s", o.Name, o.Line, o.Column, p.Message)
	default:
		return o.Name + ": " + p.Message
	}
}

// Problems are all that is wrong, in the order of the file. It matches
// slot.ErrConfig, or slot.ErrUsage if only flags are wrong.
type Problems struct {
	List []Problem

	cut Origin // the problem that ended the reading of the file, if one did
}

// Error is one line for each problem.
func (p *Problems) Error() string {
	lines := make([]string, len(p.List))
	for i, one := range p.List {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// Is reports a match with slot.ErrConfig or slot.ErrUsage.
func (p *Problems) Is(target error) bool {
	if len(p.List) > 0 && !slices.ContainsFunc(p.List, func(one Problem) bool { return !one.Origin.flag() }) {
		return target == slot.ErrUsage
	}
	return target == slot.ErrConfig
}

// InFile reports whether some of it is in a file, or is the file itself.
func (p *Problems) InFile() bool {
	return slices.ContainsFunc(p.List, func(one Problem) bool { return filepath.IsAbs(one.Origin.Name) })
}

func (p *Problems) add(at Origin, format string, args ...any) {
	p.List = append(p.List, Problem{at, fmt.Sprintf(format, args...)})
}

// Err sorts what was found, and is nil if that is nothing. Of a file that was not read
// to its end only the reason is left: what else seems to be wrong may follow from it.
func (p *Problems) Err() error {
	if p.cut != (Origin{}) {
		p.List = slices.DeleteFunc(p.List, func(one Problem) bool { return one.Origin.Name == p.cut.Name && one.Origin != p.cut })
	}
	if len(p.List) == 0 {
		return nil
	}
	slices.SortStableFunc(p.List, func(a, b Problem) int {
		return a.Origin.compare(b.Origin)
	})
	return p
}
