package gitea

import (
	"context"
	"strconv"
	"strings"
	"time"

	"code.gitea.io/sdk/gitea"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Thread implements forge.Reader. A pull request takes two requests; one that may
// have a conflict, a third a second later.
func (c *Client) Thread(ctx context.Context, ref slot.Ref) (forge.Thread, error) {
	op := "read " + ref.String()
	issue, err := c.issue(ctx, op, ref)
	if err != nil {
		return forge.Thread{}, err
	}
	t, err := c.fromIssue(ref.Repo(), issue)
	if err != nil || !t.Pull || c.kind == Gogs {
		return t, err
	}
	pull, err := c.pull(ctx, op, t.Ref)
	if err != nil {
		return forge.Thread{}, err
	}
	if mayConflict(pull) {
		if err := clock.Pause(ctx, c.recheck); err != nil {
			return forge.Thread{}, &forge.Error{Op: op, Detail: err.Error(), Err: err}
		}
		before := pull
		if pull, err = c.pull(ctx, op, t.Ref); err != nil {
			return forge.Thread{}, err
		}
		c.fill(&t, pull)
		// False twice at the same two ends: the check for conflicts had its time.
		if mayConflict(pull) && sha(pull.Head) == sha(before.Head) && sha(pull.Base) == sha(before.Base) {
			t.Mergeable = "conflict"
		}
		return t, nil
	}
	c.fill(&t, pull)
	return t, nil
}

func (c *Client) issue(ctx context.Context, op string, ref slot.Ref) (*gitea.Issue, error) {
	owner, name, number, err := c.thread(op, ref)
	if err != nil {
		return nil, err
	}
	issue, _, err := ask(ctx, c, op, func(lib *gitea.Client) (*gitea.Issue, *gitea.Response, error) {
		return lib.GetIssue(owner, name, number)
	})
	if err == nil && issue.Index != number {
		err = &forge.Error{Op: op, Detail: "the answer is about another thread"}
	}
	return issue, err
}

func (c *Client) pull(ctx context.Context, op string, ref slot.Ref) (*gitea.PullRequest, error) {
	owner, name, number, err := c.thread(op, ref)
	if err != nil {
		return nil, err
	}
	pull, _, err := ask(ctx, c, op, func(lib *gitea.Client) (*gitea.PullRequest, *gitea.Response, error) {
		return lib.GetPullRequest(owner, name, number)
	})
	if err == nil && pull.Index != number {
		err = &forge.Error{Op: op, Detail: "the answer is about another pull request"}
	}
	return pull, err
}

// fromIssue reads what issues and pull requests have in common. Its repository is
// the one that the answer names: after a rename that is another than the one asked.
func (c *Client) fromIssue(repo string, i *gitea.Issue) (forge.Thread, error) {
	t := forge.Thread{
		Pull: i.PullRequest != nil, State: string(i.State), Title: i.Title, Body: i.Body, Author: person(i.Poster),
		Labels: labels(i.Labels), Assignees: logins(i.Assignees), Comments: i.Comments, Locked: i.IsLocked,
		Created: i.Created, Updated: i.Updated, UpdatedText: text(i.Updated),
	}
	if i.Repository != nil && i.Repository.FullName != "" {
		repo, t.RepoID = c.canonical(i.Repository.FullName), strconv.FormatInt(i.Repository.ID, 10)
	}
	if i.Closed != nil && t.State != forge.Open {
		t.Closed = *i.Closed
	}
	if t.Pull {
		t.Draft = wip(t.Title)
		t.Base.Repo = repo // the head stays unknown: it counts as a fork until it is read
		if i.PullRequest.HasMerged {
			t.State = forge.Merged
			if i.PullRequest.Merged != nil {
				t.Closed = *i.PullRequest.Merged
			}
		}
	}
	return c.settle(t, repo, i.Index)
}

// fromPull reads a pull request of a list of them.
func (c *Client) fromPull(repo string, p *gitea.PullRequest) (forge.Thread, error) {
	t := forge.Thread{
		Pull: true, State: string(p.State), Title: p.Title, Body: p.Body, Author: person(p.Poster),
		Labels: labels(p.Labels), Assignees: logins(p.Assignees), Comments: p.Comments, Locked: p.IsLocked,
		Created: moment(p.Created), Updated: moment(p.Updated), UpdatedText: text(moment(p.Updated)),
	}
	if p.Base != nil && p.Base.Repository != nil {
		repo = c.canonical(p.Base.Repository.FullName)
		t.RepoID = strconv.FormatInt(p.Base.Repository.ID, 10)
	}
	c.fill(&t, p)
	return c.settle(t, repo, p.Index)
}

// settle gives a thread its ref, and refuses a state that it cannot be in: what is
// not known to be open is not closed.
func (c *Client) settle(t forge.Thread, repo string, number int64) (forge.Thread, error) {
	ref, err := slot.ParseCanonical(repo + "#" + strconv.FormatInt(number, 10))
	if err != nil {
		return forge.Thread{}, &forge.Error{Op: "read a thread of " + repo, Detail: "the answer names no repository and number", Err: err}
	}
	if t.State != forge.Open && t.State != forge.Closed && t.State != forge.Merged {
		return forge.Thread{}, &forge.Error{Op: "read " + ref.String(), Detail: "the answer names no state"}
	}
	t.Ref = ref
	return t, nil
}

// fill adds what only the pull request itself tells.
func (c *Client) fill(t *forge.Thread, p *gitea.PullRequest) {
	t.Draft = p.Draft || wip(p.Title)
	t.Head, t.Base = c.end(p.Head), c.end(p.Base)
	if p.Head != nil && p.Head.Name == "" {
		// Pushed to refs/for/BRANCH (AGit), which takes no right to write: the head is said
		// to be in the repository, but is on no branch of it. It counts as a fork.
		t.Head = forge.End{Sha: p.Head.Sha}
	}
	t.Reviewers = logins(p.RequestedReviewers)
	t.Mergeable = ""
	if p.Mergeable && p.State == gitea.StateOpen {
		t.Mergeable = "clean"
	}
	switch {
	case p.HasMerged:
		t.State, t.Closed = forge.Merged, moment(p.Merged)
		if p.MergedCommitID != nil {
			t.MergeSha = *p.MergedCommitID
		}
	case p.State == gitea.StateClosed:
		t.State, t.Closed = forge.Closed, moment(p.Closed)
	}
}

func (c *Client) end(e *gitea.PRBranchInfo) forge.End {
	if e == nil {
		return forge.End{}
	}
	out := forge.End{Branch: e.Ref, Sha: e.Sha}
	if strings.HasPrefix(e.Ref, "refs/") { // the branch is gone: the ref of the pull request is told
		out.Branch = e.Name
	}
	if e.Repository != nil {
		out.Repo = c.canonical(e.Repository.FullName)
	}
	return out
}

func sha(e *gitea.PRBranchInfo) string {
	if e == nil {
		return ""
	}
	return e.Sha
}

// mayConflict reports whether "mergeable": false can mean a conflict: drafts are
// never mergeable, and an open check for conflicts looks the same.
func mayConflict(p *gitea.PullRequest) bool {
	return p.State == gitea.StateOpen && !p.Mergeable && !p.Draft && !wip(p.Title)
}

// wip reports whether a title has one of the prefixes that make a draft, as the
// forge has them by default.
func wip(title string) bool {
	title = strings.ToUpper(title)
	return strings.HasPrefix(title, "WIP:") || strings.HasPrefix(title, "[WIP]")
}

func person(u *gitea.User) forge.Person {
	if u == nil {
		return forge.Person{}
	}
	// The forge's own workers have ids below zero; -1 is an account that is gone.
	return forge.Person{Login: u.UserName, Bot: u.ID < -1 || strings.HasSuffix(u.UserName, "[bot]")}
}

func logins(users []*gitea.User) []string {
	var list []string
	for _, u := range users {
		if u != nil && u.UserName != "" {
			list = append(list, u.UserName)
		}
	}
	return list
}

func labels(ls []*gitea.Label) []string {
	var list []string
	for _, l := range ls {
		if l != nil {
			list = append(list, l.Name)
		}
	}
	return list
}

func moment(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
