package config

import (
	"cmp"
	"fmt"
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
type Problems struct{ List []Problem }

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

func (p *Problems) add(at Origin, format string, args ...any) {
	p.List = append(p.List, Problem{at, fmt.Sprintf(format, args...)})
}

// Err sorts what was found, and is nil if that is nothing.
func (p *Problems) Err() error {
	if len(p.List) == 0 {
		return nil
	}
	slices.SortStableFunc(p.List, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Origin.Line, b.Origin.Line), cmp.Compare(a.Origin.Column, b.Origin.Column))
	})
	return p
}
