package gate

import (
	"context"
	"slices"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// NewOpenPR is the gate "open_pr": an issue that an open pull request closes is
// skipped, or deferred until that is closed or merged. Of a pull request it names the
// issues that it closes.
//
// A forge that links no pull requests and issues (see linked) is asked for all open
// ones of the repository instead.
func NewOpenPR(f Facts, wait bool) Gate {
	return fact{name: "open_pr", facts: f, judge: func(ctx context.Context, q about) (Answer, error) {
		t, pass, ok, err := q.issue(ctx, "open_pr")
		if !ok {
			return pass, err
		}
		pulls, known, err := q.linked(ctx, t)
		if !known && err == nil {
			pulls, err = q.open(ctx, t)
		}
		if err != nil {
			return Answer{}, err
		}
		var open []slot.Ref
		for _, p := range pulls {
			if p.State == forge.Open && !slices.Contains(open, p.Ref) {
				open = append(open, p.Ref)
			}
		}
		switch {
		case len(open) > 0 && wait:
			return deferral("open_pr", refs(open)+closesIt(open), "it waits for the end of "+refs(open)), nil
		case len(open) > 0:
			return skip("open_pr", refs(open)+closesIt(open), ""), nil
		}
		return proceed("open_pr", "none", ""), nil
	}}
}

func closesIt(pulls []slot.Ref) string {
	if len(pulls) == 1 {
		return " closes it"
	}
	return " close it"
}
