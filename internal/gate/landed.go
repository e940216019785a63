package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
)

// landing is how the fix of an issue came onto the default branch.
type landing struct {
	by string // the pull request or the commit
	at time.Time
}

// NewLanded is the gate "landed": an open issue whose fix is on the default branch
// already is skipped. That is a pull request merged into it that closes the issue, or
// a commit on it since the issue was made whose message does, unless a later one took
// it back. An issue that was opened again after that wants more.
//
// Where the forge links no pull requests, only commits tell: there, what a merged pull
// request says has closed the issue at that moment, or was not meant to.
func NewLanded(f Facts) Gate {
	return fact{name: "landed", facts: f, judge: func(ctx context.Context, q about) (Answer, error) {
		t, pass, ok, err := q.issue(ctx, "landed")
		if !ok {
			return pass, err
		}
		var seen []string
		for _, find := range []func(context.Context, forge.Thread) (landing, string, error){q.merged, q.committed} {
			found, note, err := find(ctx, t)
			if err != nil {
				return Answer{}, err
			}
			if note != "" {
				seen = append(seen, note)
			}
			if found.by == "" {
				continue
			}
			again, err := q.openedAgain(ctx)
			if err != nil {
				return Answer{}, err
			}
			if again.IsZero() || again.Before(found.at) {
				return skip("landed", "by "+found.by, "on the default branch"+at(found.at)), nil
			}
			seen = append(seen, "by "+found.by+at(found.at)+", and opened again"+at(again))
		}
		return proceed("landed", "not landed", strings.Join(seen, "; ")), nil
	}}
}

// openedAgain is when the issue was last opened again; zero if never, or if the forge
// does not tell.
func (q about) openedAgain(ctx context.Context) (time.Time, error) {
	t, err := q.look.reopened.get(ctx, false, func(ctx context.Context) (time.Time, error) {
		return q.forge.Reopened(ctx, q.Ref)
	})
	if errors.Is(err, forge.ErrUnsupported) {
		return time.Time{}, nil
	}
	return t, err
}

// merged is the last pull request that closes the issue and was merged into the
// default branch of the issue's own repository, as far as the forge tells: what was
// merged in a fork has landed nothing here, as little as what was closed without a
// merge.
func (q about) merged(ctx context.Context, issue forge.Thread) (last landing, note string, err error) {
	pulls, known, err := q.linked(ctx, issue)
	if err != nil {
		return landing{}, "", err
	}
	var seen []string
	if !known {
		seen = append(seen, "the forge links no pull requests")
	}
	for _, p := range pulls {
		if p.State != forge.Merged || last.by != "" && !p.Closed.After(last.at) {
			continue
		}
		if in := p.Ref.Repo(); in != issue.Ref.Repo() && in != q.Ref.Repo() {
			seen = append(seen, p.Ref.String()+" was merged in another repository")
			continue
		}
		if p.Base.Branch == "" || p.Closed.IsZero() { // lists may leave it out
			if p, err = q.forge.Thread(ctx, p.Ref); err != nil {
				return landing{}, "", err
			}
		}
		repo, err := q.ownRepo(ctx)
		if err != nil {
			return landing{}, "", err
		}
		if p.Base.Branch == repo.Default {
			last = landing{p.Ref.String(), p.Closed}
		}
	}
	return last, strings.Join(seen, "; "), nil
}

// committed is the newest commit on the default branch that closes the issue, and was
// not taken back. read says how much of the branch was read, if that is not all.
func (q about) committed(ctx context.Context, issue forge.Thread) (newest landing, read string, err error) {
	repo := issue.Ref.Repo()
	list, more, err := q.forge.Commits(ctx, repo, issue.Created)
	switch {
	case errors.Is(err, forge.ErrUnsupported):
		return landing{}, "the forge lists no commits", nil
	case err != nil:
		return landing{}, "", err
	case more:
		read = fmt.Sprintf("only the newest %d commits since%s were read", len(list), strings.TrimPrefix(at(issue.Created), " at"))
	}
	var undone []string
	for _, c := range list { // newest first
		if slices.ContainsFunc(undone, func(sha string) bool { return strings.HasPrefix(c.Sha, sha) }) {
			continue
		}
		if sha := reverted(c.Message); sha != "" {
			undone = append(undone, sha)
		} else if q.closes(c.Message, repo, issue) {
			return landing{"commit " + c.Sha[:min(12, len(c.Sha))], c.At}, read, nil
		}
	}
	return landing{}, read, nil
}

// reverted is the commit that a message of git's own says to take back, or "".
func reverted(message string) string {
	_, sha, ok := strings.Cut(message, "\nThis reverts commit ")
	if !ok {
		return ""
	}
	sha = strings.ToLower(sha)
	end := strings.IndexFunc(sha, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) })
	if end >= 0 {
		sha = sha[:end]
	}
	if len(sha) < 7 {
		return ""
	}
	return sha
}
