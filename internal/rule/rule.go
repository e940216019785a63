package rule

import (
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Rule is one [[rule]], or [worker].
type Rule struct {
	Name string // empty: [worker]
	// Env names variables that the worker keeps although they are the coordinator's.
	Env []string
	// The bounds of a run, all more than zero; Grace is at most a third of TTL.
	Timeout, TTL, Grace time.Duration
	// Every is the time between scheduled events of the rule's own; zero: none.
	Every time.Duration
	// Link: an issue and the pull request that closes it share one slot.
	Link bool

	run    []string
	policy queue.Policy
	on     []slot.EventKind
	match  match
}

func newRule(c config.Rule) Rule {
	return Rule{
		Name: c.Name.V, Env: c.Env.V,
		Timeout: c.Timeout.V, TTL: c.TTL.V, Grace: c.Grace.V, Every: c.Every.V, Link: c.Link.V,
		run: c.Run.V, on: c.On.V, match: newMatch(c.Match),
		policy: queue.Policy{
			Rule: c.Name.V, Priority: int(c.Priority.V), Attempts: int(c.Attempts.V),
			BackoffMin: c.Backoff.V.Min, BackoffMax: c.Backoff.V.Max,
			Quiet: c.Quiet.V, MaxQuiet: c.MaxQuiet.V, Again: c.Again.V,
		},
	}
}

// Policy is what the queue needs to know of the rule.
func (r Rule) Policy() queue.Policy { return r.policy }

// Argv is the command to start for a ref at a head commit, which may be empty. It
// is nil if there is none. Errors match slot.ErrUsage: a placeholder names what the
// ref does not have.
func (r Rule) Argv(ref slot.Ref, sha string) ([]string, error) {
	var argv []string
	for _, arg := range r.run {
		s, err := slot.Expand(arg, ref, sha)
		if err != nil {
			return nil, err
		}
		argv = append(argv, s)
	}
	return argv, nil
}

// refuses says why the rule does not want an event; empty if it does.
func (r Rule) refuses(e slot.Event) string {
	if !slices.Contains(r.on, e.Kind) {
		return "on does not name " + string(e.Kind)
	}
	return r.match.refuses(e)
}
