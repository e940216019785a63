package gate

import (
	"context"
	"slices"
	"strings"
)

// NewLabel is the gate "label": while one of the labels is set, somebody else works
// on it.
func NewLabel(f Facts, labels []string) Gate {
	return fact{name: "label", facts: f, judge: func(ctx context.Context, q about) (Answer, error) {
		t, err := q.thread(ctx)
		if err != nil {
			return Answer{}, err
		}
		if i := slices.IndexFunc(t.Labels, func(l string) bool { return contains(labels, l) }); i >= 0 {
			return deferral("label", "set", t.Labels[i]+" is set"), nil
		}
		return proceed("label", "not set", ""), nil
	}}
}

// NewAssignee is the gate "assignee": what is assigned to somebody else is theirs. own
// are the logins that we work as.
func NewAssignee(f Facts, own []string) Gate {
	return fact{name: "assignee", facts: f, judge: func(ctx context.Context, q about) (Answer, error) {
		t, err := q.thread(ctx)
		if err != nil {
			return Answer{}, err
		}
		others := slices.DeleteFunc(slices.Clone(t.Assignees), func(l string) bool { return containsBot(own, l) })
		if len(others) > 0 {
			return deferral("assignee", "somebody else", "assigned to "+strings.Join(others, ", ")), nil
		}
		return proceed("assignee", "nobody else", ""), nil
	}}
}
