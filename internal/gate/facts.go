package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Forge is what the gates read of a forge; forge.Client says what each method
// promises.
type Forge interface {
	Thread(ctx context.Context, ref slot.Ref) (forge.Thread, error)
	Comments(ctx context.Context, ref slot.Ref) (forge.Comments, error)
	Checks(ctx context.Context, repo, sha string) ([]forge.Check, error)
	Reviews(ctx context.Context, ref slot.Ref) (forge.Reviews, error)
	Closing(ctx context.Context, ref slot.Ref) ([]forge.Thread, error)
	Commits(ctx context.Context, repo string, since time.Time) ([]forge.Commit, bool, error)
	Reopened(ctx context.Context, ref slot.Ref) (time.Time, error)
	Repo(ctx context.Context, repo string) (forge.Repo, error)
	Open(ctx context.Context, repo string) ([]forge.Thread, error)
}

// Facts knows the forges that are configured. A change of the configuration may
// change them: it is asked anew each time.
type Facts interface {
	// For gives the forge of a ref's host and its type ("github", "forgejo", "gitea",
	// "gogs" or "gitlab"); false if none is configured.
	For(ref slot.Ref) (f Forge, kind string, ok bool)
}

// look is what one Decide reads of a forge: each thing once, for all its gates. A
// failure is shared too. The next Decide reads all of it anew, and so nothing that was
// read before a claim answers under it.
type look struct {
	thread   shared[forge.Thread]
	comments shared[forge.Comments]
	checks   shared[[]forge.Check]
	reviews  shared[forge.Reviews]
	closing  shared[[]forge.Thread]
	repo     shared[forge.Repo]
	reopened shared[time.Time]
	acts     shared[[]forge.Act]
}

// head is the head commit of the pull request that was looked at, if one was.
func (l *look) head() string {
	t, ok := l.thread.had()
	if !ok || !t.Pull {
		return ""
	}
	return t.Head.Sha
}

// about is one question to a gate over the facts of a thread.
type about struct {
	Ask
	forge Forge
	kind  string // of the forge
}

func (q about) thread(ctx context.Context) (forge.Thread, error) {
	return q.look.thread.get(ctx, false, func(ctx context.Context) (forge.Thread, error) {
		return q.forge.Thread(ctx, q.Ref)
	})
}

func (q about) comments(ctx context.Context) (forge.Comments, error) {
	return q.look.comments.get(ctx, false, func(ctx context.Context) (forge.Comments, error) {
		return q.forge.Comments(ctx, q.Ref)
	})
}

func (q about) reviews(ctx context.Context) (forge.Reviews, error) {
	return q.look.reviews.get(ctx, false, func(ctx context.Context) (forge.Reviews, error) {
		return q.forge.Reviews(ctx, q.Ref)
	})
}

// checks are those of the thread's head, or of a branch: there is one of them in an
// ask.
func (q about) checks(ctx context.Context, repo, sha string) ([]forge.Check, error) {
	return q.look.checks.get(ctx, false, func(ctx context.Context) ([]forge.Check, error) {
		return q.forge.Checks(ctx, repo, sha)
	})
}

// ownRepo is the thread's repository.
func (q about) ownRepo(ctx context.Context) (forge.Repo, error) {
	return q.look.repo.get(ctx, false, func(ctx context.Context) (forge.Repo, error) {
		return q.forge.Repo(ctx, q.Ref.Repo())
	})
}

// fact is a gate over Facts. Refs that are no thread, and hosts without a forge, are
// none of its business.
type fact struct {
	name     string
	facts    Facts
	branches bool // it also judges branches and checks
	judge    func(ctx context.Context, q about) (Answer, error)
}

func (g fact) Type() string { return g.name }

func (g fact) Ask(ctx context.Context, a Ask) Answer {
	q, why := ask(g.facts, a)
	switch a.Ref.Kind() {
	case slot.RefIssue, slot.RefMerge:
	case slot.RefBranch, slot.RefCheck:
		if !g.branches {
			why = "no issue or pull request"
		}
	}
	if why != "" {
		return Answer{Detail: why}
	}
	ans, err := g.judge(ctx, q)
	switch {
	case errors.Is(err, forge.ErrUnsupported): // nothing is hidden: there is no such thing
		return Answer{Detail: err.Error()}
	case err != nil:
		return unread(g.name, a.Ref, err)
	}
	return ans
}

// ask finds the forge that knows what an ask is about, or says why there is none.
func ask(facts Facts, a Ask) (q about, why string) {
	if a.Ref.Host() == "" {
		return about{}, "on no forge"
	}
	if facts == nil {
		return about{}, "no forge is configured"
	}
	f, kind, ok := facts.For(a.Ref)
	if !ok {
		return about{}, "no forge is configured for " + a.Ref.Host()
	}
	if a.look == nil { // asked alone, without a Set
		a.look = &look{}
	}
	return about{a, f, kind}, ""
}

// unread is the answer when the forge could not be read. A limit says when it can be
// asked again. That, and a no, are answers of a forge that is up: they last until the
// limit is over or a person has mended something, who is told what.
func unread(gateType string, ref slot.Ref, err error) Answer {
	ans := unknown(gateType, err.Error())
	if limit, ok := errors.AsType[*forge.LimitError](err); ok {
		ans.Until = limit.Until
	}
	switch {
	case errors.Is(err, forge.ErrLimited):
		ans.Lasting = true
	case errors.Is(err, forge.ErrNotFound), errors.Is(err, forge.ErrForbidden):
		ans.Lasting = true
		ans.Detail += fmt.Sprintf("; does the token for %s have the right to read it?", ref.Host())
	case errors.Is(err, forge.ErrUnauthorized):
		ans.Lasting = true
		ans.Detail += fmt.Sprintf("; the token for %s is to be replaced", ref.Host())
	}
	return ans
}

// except skips the events that are not wanted, or lets pass if all are. Without
// events, as `oneslot run` has none, alone decides.
func except(a Ask, alone bool, wanted func(slot.Event) bool, skip Answer, pass Answer) Answer {
	for _, e := range a.Events {
		if !wanted(e) {
			skip.Events = append(skip.Events, e.ID)
		}
	}
	if len(skip.Events) == 0 && (alone || len(a.Events) > 0) {
		return pass
	}
	return skip
}

func skip(gateType, words, detail string) Answer {
	return Answer{Verdict: slot.Skip, Reason: gateType + ": " + words, Detail: detail}
}
