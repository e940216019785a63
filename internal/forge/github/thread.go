package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v88/github"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// issue has what the library's leaves out.
type issue struct {
	github.Issue
	App *github.App `json:"performed_via_github_app"`
}

// Thread implements forge.Reader by one request, and by a second one if it is a pull
// request. A moved issue is answered 301 to its new place; a deleted one 410, or 404
// if the token may not see the repository: an error, in no case "closed".
// https://docs.github.com/en/rest/issues/issues#get-an-issue
func (c *Client) Thread(ctx context.Context, ref slot.Ref) (forge.Thread, error) {
	op := "read " + ref.String()
	i, t, err := c.issue(ctx, op, ref)
	if err != nil || !i.IsPullRequest() {
		return t, err
	}
	ctx, path, err := c.at(ctx, t.Ref.Repo())
	if err != nil {
		return forge.Thread{}, err
	}
	var p github.PullRequest
	if _, err := c.get(ctx, op, fmt.Sprintf("%s/pulls/%d", path, t.Ref.Number()), &p); err != nil {
		return forge.Thread{}, err
	}
	pull, err := c.pull(op, &p)
	if err != nil {
		return forge.Thread{}, err
	}
	pull.Comments, pull.Author.App = t.Comments, t.Author.App
	return pull, nil
}

// issue reads an issue, or the issue's side of a pull request.
func (c *Client) issue(ctx context.Context, op string, ref slot.Ref) (issue, forge.Thread, error) {
	ctx, path, err := c.at(ctx, ref.Repo())
	if err != nil {
		return issue{}, forge.Thread{}, err
	}
	var i issue
	resp, err := c.get(ctx, op, fmt.Sprintf("%s/issues/%d", path, ref.Number()), &i)
	if err != nil {
		return issue{}, forge.Thread{}, err
	}
	t, err := c.thread(op, &i)
	t.RepoID = repositoryID(resp.Request)
	return i, t, err
}

// repositoryID is the id of a repository that a request was led to by it.
func repositoryID(req *http.Request) string {
	_, rest, _ := strings.Cut(req.URL.Path, "/repositories/")
	id, _, _ := strings.Cut(rest, "/")
	return id
}

// thread reads an issue's payload. Of the address of its repository the name is taken.
func (c *Client) thread(op string, i *issue) (forge.Thread, error) {
	parts := strings.Split(i.GetRepositoryURL(), "/")
	if i.GetID() == 0 || len(parts) < 2 {
		return forge.Thread{}, &forge.Error{Op: op, Detail: "the answer is not an issue"}
	}
	ref, err := c.ref(op, strings.Join(parts[len(parts)-2:], "/"), i.GetNumber())
	if err != nil {
		return forge.Thread{}, err
	}
	t := forge.Thread{
		Ref: ref, Pull: i.IsPullRequest(), State: forge.Open, Title: i.GetTitle(), Body: i.GetBody(),
		Author: person(i.User, i.App, i.GetAuthorAssociation()),
		Labels: labels(i.Labels), Assignees: logins(i.Assignees),
		Comments: i.GetComments(), Locked: i.GetLocked(), Draft: i.GetDraft(),
		Created: i.GetCreatedAt().Time, Updated: i.GetUpdatedAt().Time, UpdatedText: text(i.GetUpdatedAt()),
	}
	switch merged := i.PullRequestLinks.GetMergedAt(); {
	case !merged.IsZero():
		t.State, t.Closed = forge.Merged, merged.Time
	case i.GetState() == "closed":
		t.State, t.Closed, t.Reason = forge.Closed, i.GetClosedAt().Time, i.GetStateReason()
	case i.GetState() != "open":
		return forge.Thread{}, &forge.Error{Op: op, Detail: "the answer has no state"}
	}
	return t, nil
}

// pull reads a pull request's payload.
func (c *Client) pull(op string, p *github.PullRequest) (forge.Thread, error) {
	base := p.GetBase()
	if p.GetID() == 0 || base.GetRepo() == nil || p.GetHead().GetSHA() == "" {
		return forge.Thread{}, &forge.Error{Op: op, Detail: "the answer is not a pull request"}
	}
	ref, err := c.ref(op, base.GetRepo().GetFullName(), p.GetNumber())
	if err != nil {
		return forge.Thread{}, err
	}
	t := forge.Thread{
		Ref: ref, RepoID: fmt.Sprint(base.GetRepo().GetID()), Pull: true, State: forge.Open, Title: p.GetTitle(), Body: p.GetBody(),
		Author: person(p.User, nil, p.GetAuthorAssociation()),
		Labels: labels(p.Labels), Assignees: logins(p.Assignees), Reviewers: logins(p.RequestedReviewers),
		Comments: -1, Locked: p.GetLocked(), Draft: p.GetDraft(), Head: c.end(p.Head), Base: c.end(p.Base),
		Created: p.GetCreatedAt().Time, Updated: p.GetUpdatedAt().Time, UpdatedText: text(p.GetUpdatedAt()),
	}
	switch merged := p.GetMergedAt(); {
	case !merged.IsZero():
		t.State, t.Closed, t.MergeSha = forge.Merged, merged.Time, p.GetMergeCommitSHA()
	case p.GetState() == "closed":
		t.State, t.Closed = forge.Closed, p.GetClosedAt().Time
	case p.GetState() != "open":
		return forge.Thread{}, &forge.Error{Op: op, Detail: "the answer has no state"}
	}
	switch {
	case p.Mergeable == nil: // GitHub is working it out
	case *p.Mergeable:
		t.Mergeable = "clean"
	default:
		t.Mergeable = "conflict"
	}
	return t, nil
}

func (c *Client) end(b *github.PullRequestBranch) forge.End {
	return forge.End{Repo: c.name(b.GetRepo()), Branch: b.GetRef(), Sha: b.GetSHA()}
}
