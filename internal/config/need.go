package config

import (
	"fmt"
	"math"
	"slices"
)

// Need is what somebody goes by of a configuration.
type Need int

const (
	// Whole is for what starts something, or asks what may start.
	Whole Need = iota
	// Refs is for what looks and steers: the store, and how refs are read.
	Refs
	// Claims is for what names a claim by id and token: the store, and no more.
	Claims
)

// LoadFor is Load for a need. Problems elsewhere than in what is needed are a warning:
// nobody loses what he holds over a mistake in a rule. What is needed is certain then:
// nothing that is wrong, and nothing that could not be read, could change it.
func LoadFor(src Sources, need Need) (*Config, error) {
	l := load(src)
	known, all := l.certain(need), l.certain(Refs)
	switch err := l.bad.Err(); {
	case err == nil:
		return l.c, nil
	case !known:
		return nil, err
	case !all:
		l.c.Reservation.Enabled.V = false // how, and at which forges, is not certain
	}
	l.c.Retention.Decisions.V = math.MaxInt64 // what was to be kept is not dropped
	problems := "1 problem"
	if n := len(l.bad.List); n > 1 {
		problems = fmt.Sprintf("%d problems", n)
	}
	l.c.Warnings = append(l.c.Warnings, fmt.Sprintf("%s: %s elsewhere than in what is needed here; `oneslot config check` lists them all", l.c.File, problems))
	return l.c, nil
}

// part is where something begins that stands at the root of the file, and its name.
type part struct {
	at   Origin
	name string
}

// unread is what nobody has looked at behind the first table, where no key of the root
// can stand. What may be anything has no name.
const unread = "tables"

// certain reports whether nothing that was found to be wrong is in what is needed.
func (l *loader) certain(need Need) bool {
	starts := []string{"listen", "defer_alarm", "api", "worker", "rule", "gate", "trust", "limits", "sweep", "retention"}
	spared := map[Need][]string{
		Refs:   starts,
		Claims: append(starts, "default_host", "hook", "forge", "reservation", unread),
	}
	anything := func(p part) bool { return p.name == "" }
	needed := func(p Problem) bool { return !slices.Contains(spared[need], l.partOf(p.Origin)) }
	return !slices.ContainsFunc(l.parts, anything) && !slices.ContainsFunc(l.bad.List, needed)
}

// partOf is the name of the part that a place is in; empty if it is in none.
func (l *loader) partOf(at Origin) string {
	i, found := slices.BinarySearchFunc(l.parts, at, func(p part, at Origin) int { return p.at.compare(at) })
	if !found {
		i--
	}
	if i < 0 || at.Name != l.c.File {
		return ""
	}
	return l.parts[i].name
}
