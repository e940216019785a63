package config

import (
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Rule says which events start what. Durations are more than zero unless they say
// otherwise.
type Rule struct {
	Name Value[string] // path-safe
	On   Value[[]slot.EventKind]
	// Run is a command with its arguments, which may hold placeholders; never empty.
	Run   Value[[]string]
	Match Match
	// Env names variables of the coordinator that are passed on although they would
	// be taken out as its secrets.
	Env      Value[[]string]
	Priority Value[int64]
	Timeout  Value[time.Duration]
	TTL      Value[time.Duration] // from a second
	Grace    Value[time.Duration] // at most a third of TTL
	Attempts Value[int64]         // from 1
	Backoff  Value[Range]
	Quiet    Value[time.Duration] // zero or more
	MaxQuiet Value[time.Duration] // not less than Quiet
	// Again is after how long a condition that still holds is worked on again, at the
	// same head; zero for never.
	Again Value[time.Duration]
	// Every is the time between scheduled events of the rule's own, for each open ref
	// that matches; from a minute, or zero for none. With it On names scheduled.
	Every Value[time.Duration]
	// Link has an issue and the pull request that closes it share one slot.
	Link Value[bool]

	origin Origin
}

// Match narrows a rule to some refs. What is not set fits all.
type Match struct {
	Labels   Value[[]string] // any of them
	Branches Value[[]string] // globs of the branch that changes go to
	Authors  Value[[]string] // of the issue or pull request, in lower case
	Draft    Value[bool]     // counts only if it was set
}

// everyMin bounds how often all open refs are looked at again.
const everyMin = time.Minute

func newRule(at Origin) Rule {
	return Rule{
		Timeout:  byDefault(90 * time.Minute),
		TTL:      byDefault(time.Minute),
		Grace:    byDefault(10 * time.Second),
		Attempts: byDefault[int64](3),
		Backoff:  byDefault(Range{30 * time.Second, 30 * time.Minute}),
		Quiet:    byDefault(2 * time.Second),
		MaxQuiet: byDefault(10 * time.Second),
		Again:    byDefault(30 * time.Minute),
		Every:    byDefault(time.Duration(0)),
		Link:     byDefault(false),
		origin:   at,
	}
}

// DefaultRule has every setting at its default, and neither name, kinds nor
// command: what a wish without a rule goes by.
func DefaultRule() Rule { return newRule(Origin{}) }
