package gitlab

import (
	"strconv"
	"strings"
	"time"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// ref is what GitLab calls a thread: "group/sub/project#12", where it is now.
func (c *Client) ref(op string, full *gl.IssueReferences, kind slot.RefKind, number int64) (slot.Ref, error) {
	if full != nil {
		ref, err := slot.ParseCanonical(c.host + "/" + strings.ToLower(full.Full))
		if err == nil && ref.Kind() == kind && int64(ref.Number()) == number {
			return ref, nil
		}
	}
	return slot.Ref{}, &forge.Error{Op: op, Detail: "the answer does not say which issue or merge request it is"}
}

func (c *Client) issueWords(op string, v *gl.Issue) (forge.Thread, error) {
	ref, err := c.ref(op, v.References, slot.RefIssue, v.IID)
	if err != nil {
		return forge.Thread{}, err
	}
	t := forge.Thread{
		Ref: ref, RepoID: id(v.ProjectID), State: state(v.State), Title: v.Title, Body: v.Description,
		Labels: v.Labels, Comments: int(v.UserNotesCount), Locked: v.DiscussionLocked,
		Created: when(v.CreatedAt), Updated: when(v.UpdatedAt), Closed: when(v.ClosedAt), UpdatedText: text(v.UpdatedAt),
	}
	if v.Author != nil {
		t.Author = person(v.Author.Username)
	}
	for _, u := range v.Assignees {
		t.Assignees = append(t.Assignees, u.Username)
	}
	return t, nil
}

// mergeWords leaves out what only the merge request itself tells: see merge.
func (c *Client) mergeWords(op string, v *gl.BasicMergeRequest) (forge.Thread, error) {
	ref, err := c.ref(op, v.References, slot.RefMerge, v.IID)
	if err != nil {
		return forge.Thread{}, err
	}
	t := forge.Thread{
		Ref: ref, RepoID: id(v.ProjectID), Pull: true, State: state(v.State), Title: v.Title, Body: v.Description,
		Labels: v.Labels, Comments: int(v.UserNotesCount), Locked: v.DiscussionLocked, Draft: v.Draft,
		Created: when(v.CreatedAt), Updated: when(v.UpdatedAt), Closed: when(v.ClosedAt), UpdatedText: text(v.UpdatedAt),
		Head: forge.End{Branch: v.SourceBranch, Sha: v.SHA},
		Base: forge.End{Repo: ref.Repo(), Branch: v.TargetBranch},
	}
	if v.SourceProjectID == v.ProjectID {
		t.Head.Repo = ref.Repo()
	}
	if v.Author != nil {
		t.Author = person(v.Author.Username)
	}
	for _, u := range v.Assignees {
		t.Assignees = append(t.Assignees, u.Username)
	}
	for _, u := range v.Reviewers {
		t.Reviewers = append(t.Reviewers, u.Username)
	}
	switch t.State {
	case forge.Merged:
		t.Closed = when(v.MergedAt)
		for _, sha := range []string{v.MergeCommitSHA, v.SquashCommitSHA, v.SHA} {
			if t.MergeSha == "" {
				t.MergeSha = sha
			}
		}
	case forge.Open:
		t.Mergeable = mergeable(v)
	}
	return t, nil
}

// mergeable reads what GitLab found when it last tried to merge. All but the first
// states mean that it did; the rest of what they say is about other rules.
// https://docs.gitlab.com/api/merge_requests/#merge-status
func mergeable(v *gl.BasicMergeRequest) string {
	switch v.DetailedMergeStatus {
	case "", "unchecked", "checking", "preparing", "approvals_syncing":
		return ""
	case "conflict":
		return "conflict"
	}
	if v.HasConflicts {
		return "conflict"
	}
	return "clean"
}

// state of a thread: a merge request that is "locked" is being merged.
func state(s string) string {
	switch s {
	case "closed":
		return forge.Closed
	case "merged":
		return forge.Merged
	}
	return forge.Open
}

// person has no association: GitLab tells none.
func person(login string) forge.Person { return forge.Person{Login: login, Bot: bot(login)} }

// bot reports whether it is the user of an access token: GitLab names those itself
// ("project_12_bot_…"), and lets nobody else have such a name.
func bot(login string) bool {
	rest, ok := strings.CutPrefix(login, "project_")
	if !ok {
		rest, ok = strings.CutPrefix(login, "group_")
	}
	number, _, bot := strings.Cut(rest, "_bot")
	return ok && bot && number != "" && strings.Trim(number, "0123456789") == ""
}

func note(v *gl.Note) forge.Comment {
	return forge.Comment{
		ID: v.ID, Author: person(v.Author.Username), Body: v.Body,
		Created: when(v.CreatedAt), Updated: when(v.UpdatedAt), UpdatedText: text(v.UpdatedAt),
	}
}

func id(n int64) string { return strconv.FormatInt(n, 10) }

func when(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// text is a time as GitLab writes it: with milliseconds.
func text(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format("2006-01-02T15:04:05.000Z07:00")
}
