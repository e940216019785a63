package gitea

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"code.gitea.io/sdk/gitea"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// maxCommits bounds Commits.
const maxCommits = 500

// Closing implements forge.Reader: the forge keeps no such links.
func (c *Client) Closing(_ context.Context, ref slot.Ref) ([]forge.Thread, error) {
	return nil, c.unsupported("read what closes " + ref.String())
}

// Commits implements forge.Reader. Pages are read until one has nothing of the time
// asked for: dates of commits do not grow from one to the next.
func (c *Client) Commits(ctx context.Context, repo string, since time.Time) ([]forge.Commit, bool, error) {
	op := "read the commits of " + repo
	owner, name, err := c.repo(op, repo)
	if err != nil {
		return nil, false, err
	}
	if c.kind == Gogs {
		return nil, false, c.unsupported(op)
	}
	var commits []forge.Commit
	more := false
	for page := 1; ; page++ {
		part, resp, err := ask(ctx, c, op, func(lib *gitea.Client) ([]*gitea.Commit, *gitea.Response, error) {
			return lib.ListRepoCommits(owner, name, gitea.ListCommitOptions{ListOptions: gitea.ListOptions{Page: page, PageSize: pageSize}})
		})
		if status(err) == http.StatusConflict { // an empty repository has no commits
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		fresh := false
		for _, v := range part {
			commit, err := read(op, v)
			if err != nil {
				return nil, false, err
			}
			if commit.At.Before(since) {
				continue
			}
			fresh = true
			if len(commits) == maxCommits {
				more = true
				break
			}
			commits = append(commits, commit)
		}
		if more || !fresh || resp.NextPage <= page {
			return commits, more, nil
		}
	}
}

func read(op string, v *gitea.Commit) (forge.Commit, error) {
	if v == nil || v.CommitMeta == nil || v.RepoCommit == nil || v.RepoCommit.Committer == nil {
		return forge.Commit{}, &forge.Error{Op: op, Detail: "the answer has a commit without its data"}
	}
	at, err := time.Parse(time.RFC3339, v.RepoCommit.Committer.Date)
	if err != nil {
		return forge.Commit{}, &forge.Error{Op: op, Detail: "the answer has a commit without its time", Err: err}
	}
	return forge.Commit{Sha: v.SHA, Message: v.RepoCommit.Message, At: at}, nil
}

// entry is what is read of a timeline.
type entry struct {
	ID       int64        `json:"id"`
	Type     string       `json:"type"`
	Created  time.Time    `json:"created_at"`
	Body     string       `json:"body"`
	User     *gitea.User  `json:"user"`
	Label    *gitea.Label `json:"label"`
	Assignee *gitea.User  `json:"assignee"`
	Removed  bool         `json:"removed_assignee"`
}

// Reopened implements forge.Reader, by the thread's timeline.
func (c *Client) Reopened(ctx context.Context, ref slot.Ref) (time.Time, error) {
	entries, err := c.timeline(ctx, ref)
	var last time.Time
	for _, e := range entries {
		if e.Type == "reopen" && e.Created.After(last) {
			last = e.Created
		}
	}
	return last, err
}

// Acts implements forge.Historian, by the same timeline. A label that was taken away
// again is an entry of the same type; its text tells the two apart.
func (c *Client) Acts(ctx context.Context, ref slot.Ref) ([]forge.Act, error) {
	entries, err := c.timeline(ctx, ref)
	var acts []forge.Act
	for _, e := range entries {
		act := forge.Act{By: person(e.User), At: e.Created}
		switch {
		case e.Type == "label" && e.Body == "1" && e.Label != nil:
			act.Kind, act.What = slot.Labeled, e.Label.Name
		case e.Type == "assignees" && !e.Removed && e.Assignee != nil:
			act.Kind, act.What = slot.Assigned, e.Assignee.UserName
		case e.Type == "review_request" && !e.Removed && e.Assignee != nil:
			act.Kind, act.What = slot.ReviewRequested, e.Assignee.UserName
		case e.Type == "close":
			act.Kind = slot.Closed
		case e.Type == "merge_pull":
			act.Kind = slot.Merged
		case e.Type == "reopen":
			act.Kind = slot.Reopened
		default:
			continue
		}
		acts = append(acts, act)
	}
	return acts, err
}

func (c *Client) timeline(ctx context.Context, ref slot.Ref) ([]entry, error) {
	op := "read the history of " + ref.String()
	owner, name, number, err := c.thread(op, ref)
	if err != nil {
		return nil, err
	}
	if c.kind == Gogs {
		return nil, c.unsupported(op)
	}
	entries, _, err := all(ctx, c, list[entry]{
		op: op, id: func(e entry) int64 { return e.ID },
		get: func(_ *gitea.Client, page gitea.ListOptions) ([]entry, *gitea.Response, error) {
			var part []entry
			resp, err := c.direct(ctx, "GET", path("repos", owner, name, "issues", strconv.FormatInt(number, 10), "timeline"), pageQuery(page), &part)
			if err == nil {
				resp.Header.Del("X-Total-Count") // it is the page's
			}
			return part, resp, err
		},
	})
	return entries, err
}
