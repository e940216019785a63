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
// Anybody can write that a pull request closes an issue. In a public repository it
// counts only if its branch is in the repository itself, or t trusts its author; others
// are named.
//
// A forge that links no pull requests and issues (see linked) is asked for all open
// ones of the repository instead.
func NewOpenPR(f Facts, t Trust, wait bool) Gate {
	return fact{name: "open_pr", facts: f, judge: func(ctx context.Context, q about) (Answer, error) {
		issue, pass, ok, err := q.issue(ctx, "open_pr")
		if !ok {
			return pass, err
		}
		pulls, known, err := q.linked(ctx, issue)
		if !known && err == nil {
			pulls, err = q.open(ctx, issue)
		}
		if err != nil {
			return Answer{}, err
		}
		var open, strange []slot.Ref
		for _, p := range pulls {
			if p.State != forge.Open || slices.Contains(open, p.Ref) || slices.Contains(strange, p.Ref) {
				continue
			}
			ours, err := q.ours(ctx, t, p)
			switch {
			case err != nil:
				return Answer{}, err
			case ours:
				open = append(open, p.Ref)
			case len(strange) < maxStrange:
				strange = append(strange, p.Ref)
			}
		}
		switch {
		case len(open) > 0 && wait:
			return deferral("open_pr", refs(open)+closesIt(open), "it waits for the end of "+refs(open)), nil
		case len(open) > 0:
			return skip("open_pr", refs(open)+closesIt(open), ""), nil
		case len(strange) > 0:
			return proceed("open_pr", "none that counts", refs(strange)+closesIt(strange)+", of an author who is not trusted"), nil
		}
		return proceed("open_pr", "none", ""), nil
	}}
}

// maxStrange bounds how many pull requests of strangers are named.
const maxStrange = 5

// ours reports whether a pull request counts: its author may write to the repository,
// or is trusted.
func (q about) ours(ctx context.Context, t Trust, p forge.Thread) (bool, error) {
	if contains(t.Logins, p.Author.Login) || containsBot(t.Bots, p.Author.Login) || contains(t.Associations, p.Author.Association) {
		return true, nil
	}
	if p.Head.Repo == "" || p.Base.Repo == "" { // a list that left them out
		var err error
		if p, err = q.forge.Thread(ctx, p.Ref); err != nil {
			return false, err
		}
	}
	if p.Head.Repo != "" && !p.Fork() {
		return true, nil
	}
	repo, err := q.ownRepo(ctx)
	return err == nil && !repo.Public, err
}

func closesIt(pulls []slot.Ref) string {
	if len(pulls) == 1 {
		return " closes it"
	}
	return " close it"
}
