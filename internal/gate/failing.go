package gate

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// NewStillFailing is the gate "still_failing": what a check found is read again. An
// event of a failed check is over if that check has passed since, and waits while it
// runs again, unless something else is waiting too. A check that is not on record at
// the head under the event's name (a suite and a workflow have names of their own) is
// judged by all checks there. own are apps whose checks do not count: ids or slugs.
func NewStillFailing(f Facts, own []string) Gate {
	return fact{name: "still_failing", facts: f, branches: true, judge: func(ctx context.Context, q about) (Answer, error) {
		failed := slices.DeleteFunc(slices.Clone(q.Events), func(e slot.Event) bool {
			return e.Kind != slot.CIFailed || e.Person()
		})
		if len(failed) == 0 {
			return proceed("still_failing", "nothing to look at", ""), nil
		}
		repo, sha, err := q.tested(ctx)
		if err != nil || sha == "" {
			return proceed("still_failing", "no commit", ""), err
		}
		checks, err := q.checks(ctx, repo, sha)
		if err != nil {
			return Answer{}, err
		}
		checks = slices.DeleteFunc(slices.Clone(checks), func(c forge.Check) bool { return containsBot(own, c.App) })
		return results(q, failed, checks), nil
	}}
}

// tested is the commit whose checks count: the head of a pull request, or the newest
// of a branch.
func (q about) tested(ctx context.Context) (repo, sha string, err error) {
	if branch := q.Ref.Branch(); branch != "" {
		return q.Ref.Repo(), branch, nil
	}
	t, err := q.thread(ctx)
	return t.Ref.Repo(), t.Head.Sha, err
}

// results weighs the failed checks of an ask against what they are now.
func results(q about, failed []slot.Event, checks []forge.Check) Answer {
	others := len(q.Events) > len(failed)
	over := skip("still_failing", "passed since", "")
	var passed, failing, pending []string
	for _, e := range failed {
		name := cmp.Or(e.Facts.Check, q.Ref.Check())
		switch state, which := stateOf(checks, name); state {
		case forge.Success:
			passed = append(passed, which)
			over.Events = append(over.Events, e.ID)
		case forge.Pending:
			pending = append(pending, which)
		case forge.Failure:
			failing = append(failing, which)
		default: // nobody says that it has passed
			failing = append(failing, which+" (no result)")
		}
	}
	over.Detail = list("passed", passed)
	switch {
	case len(passed) == len(failed):
		return over
	case len(failing) == 0 && !others:
		return deferral("still_failing", "pending", list("pending", pending))
	case len(passed) > 0:
		return over
	}
	return proceed("still_failing", "failing", list("failing", failing))
}

// stateOf is what the checks of a name come to; of all if none has that name.
func stateOf(checks []forge.Check, name string) (state, which string) {
	named := slices.DeleteFunc(slices.Clone(checks), func(c forge.Check) bool { return c.Name != name })
	if which = name; len(named) == 0 {
		named, which = checks, "all checks"
	}
	for _, state := range []string{forge.Failure, forge.Pending, forge.Success} {
		if slices.ContainsFunc(named, func(c forge.Check) bool { return c.State == state }) {
			return state, which
		}
	}
	return "", which
}

// list names some things, each once.
func list(what string, names []string) string {
	slices.Sort(names)
	return after(what+": ", strings.Join(slices.Compact(names), ", "))
}
