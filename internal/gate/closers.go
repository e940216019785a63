package gate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/oneslot/oneslot/internal/closing"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// linked are the pull requests that close an issue, or did. GitHub and GitLab know
// that by themselves. What others give are pull requests that speak of it, whose texts
// then tell. known is false if the forge keeps no links at all.
func (q about) linked(ctx context.Context, issue forge.Thread) (pulls []forge.Thread, known bool, err error) {
	pulls, err = q.look.closing.get(ctx, false, func(ctx context.Context) ([]forge.Thread, error) {
		return q.forge.Closing(ctx, q.Ref)
	})
	if errors.Is(err, forge.ErrUnsupported) {
		return nil, false, nil
	}
	return slices.DeleteFunc(slices.Clone(pulls), func(p forge.Thread) bool {
		return !p.Pull || !q.links() && !q.closes(words(p), p.Ref.Repo(), issue)
	}), true, err
}

// open are the open pull requests of the issue's repository whose texts close it, for
// a forge that keeps no links.
func (q about) open(ctx context.Context, issue forge.Thread) ([]forge.Thread, error) {
	all, err := q.forge.Open(ctx, issue.Ref.Repo())
	return slices.DeleteFunc(slices.Clone(all), func(p forge.Thread) bool {
		return !p.Pull || !q.closes(words(p), p.Ref.Repo(), issue)
	}), err
}

// words are what a pull request says of itself. Its title is a line of its own.
func words(p forge.Thread) string { return p.Title + "\n\n" + p.Body }

// links reports whether the forge itself links pull requests and what they close.
func (q about) links() bool { return q.kind == "github" || q.kind == "gitlab" }

// closes reports whether a text in a repository closes an issue, by the name that it
// has now or by that it was asked for.
func (q about) closes(text, repo string, issue forge.Thread) bool {
	return slices.ContainsFunc(closing.In(text, q.kind, repo), func(r slot.Ref) bool {
		return r == issue.Ref || r == q.Ref
	})
}

// issue reads the thread if it is an open issue. Otherwise pass is the answer.
func (q about) issue(ctx context.Context, gateType string) (t forge.Thread, pass Answer, ok bool, err error) {
	t, err = q.thread(ctx)
	switch {
	case err != nil:
	case t.Pull:
		pass = proceed(gateType, "a pull request", q.related(t))
	case t.State != forge.Open:
		pass = proceed(gateType, "not open", "")
	default:
		return t, Answer{}, true, nil
	}
	return t, pass, false, err
}

// related names what a pull request says it closes: its slot is another, but a person
// wants to know.
func (q about) related(t forge.Thread) string {
	return after("it closes ", refs(closing.In(words(t), q.kind, t.Ref.Repo())))
}

// refs writes some refs as people do.
func refs(list []slot.Ref) string {
	var s []string
	for _, r := range list {
		s = append(s, r.String())
	}
	return strings.Join(s, ", ")
}
