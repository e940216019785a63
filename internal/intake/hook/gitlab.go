package hook

import (
	"slices"

	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/slot"
)

// gitLab reads what GitLab sends. The body says by itself what it is: system hooks
// send all kinds under one header.
func (r *reading) gitLab(body []byte) error {
	var m gitlabMessage
	if !skim(body, &m) {
		return ErrBroken
	}
	id, path := m.Project.ID, m.Project.Path
	if path == "" {
		id, path = m.ProjectID, m.Path
	}
	r.Delivery.Action = mark.Line(m.Attributes.Action)
	r.at(id, path, m.Project.WebURL)
	actor := m.User.Username
	if actor == "" {
		actor = m.UserUsername
	}
	r.facts = slot.Facts{Actor: mark.Line(actor), Bot: m.User.bot()}
	if v := m.Project.Visibility; v != nil {
		public := *v >= 20
		r.facts.Public = &public
	}
	switch m.Kind {
	case "issue", "work_item", "incident":
		r.gitlabThread(&m, "issue", &m.Attributes)
	case "merge_request":
		r.gitlabThread(&m, "pull", &m.Attributes)
	case "note":
		r.gitlabNote(&m)
	case "pipeline":
		r.pipeline(&m)
	case "build":
		r.job(&m)
	case "push", "tag_push":
		r.push(&message{Before: m.Before, After: m.After})
	default:
		if m.OldPath != "" {
			r.move(m.ProjectID, m.OldPath)
			return nil
		}
		r.ignore("%s %s is of no use", m.Kind, m.Event)
	}
	return nil
}

// gitlabAbout notes which issue or merge request it is, and how it stood.
func (r *reading) gitlabAbout(m *gitlabMessage, kind string, a *attributes) bool {
	sign := byte('#')
	if kind == "pull" {
		sign = '!'
	}
	if !r.about(kind, sign, a.IID) {
		return false
	}
	f := &r.facts
	f.State = a.state()
	if a.AuthorID != 0 && a.AuthorID == m.User.ID {
		f.Author = f.Actor
	}
	labels := a.Labels
	if len(labels) == 0 {
		labels = m.Labels
	}
	for _, l := range labels[:min(len(labels), mark.MaxList)] {
		f.Labels = append(f.Labels, mark.Line(l.Title))
	}
	r.About.State = f.State
	if kind == "pull" {
		f.Pull, f.Draft = true, a.Draft || a.WIP
		f.Branch, f.Base = mark.Line(a.SourceBranch), mark.Line(a.TargetBranch)
		f.Fork = a.SourceProject != a.TargetProject
		r.About.Sha = mark.Commit(a.LastCommit.ID)
		if f.Draft && f.State == "open" {
			r.About.State = "open draft"
		}
	}
	return true
}

// gitlabThread reads what happened to an issue or a merge request. One delivery
// may tell of several changes.
func (r *reading) gitlabThread(m *gitlabMessage, kind string, a *attributes) {
	if !r.gitlabAbout(m, kind, a) {
		return
	}
	if r.hook.Own.Login(r.facts.Actor) {
		r.ignore("own: %s was done by %s", a.Action, r.facts.Actor)
		return
	}
	one := func(kind slot.EventKind, label, detail string) {
		f := r.facts
		f.Label = mark.Line(label)
		when := a.UpdatedAt
		if kind == slot.Opened {
			when = mark.Moment(a.CreatedAt, a.UpdatedAt)
		}
		r.add(slot.Event{
			Ref: r.About.Ref, Kind: kind, Sha: r.About.Sha, Facts: f,
			Fingerprint: mark.Changed(kind, when, detail),
		})
	}
	switch a.Action {
	case "open":
		one(slot.Opened, "", "")
	case "reopen":
		one(slot.Reopened, "", "")
	case "close":
		one(slot.Closed, "", "")
	case "merge":
		one(slot.Merged, "", "")
	case "approved", "approval":
		one(slot.Approved, "", m.User.Username)
	case "update":
		r.updates(m, a, one)
		if len(r.Events) == 0 && r.Ignored == "" {
			r.ignore("an update of no use")
		}
	default:
		r.ignore("action %q is of no use", a.Action)
	}
}

// updates tells the changes of one update apart.
func (r *reading) updates(m *gitlabMessage, a *attributes, one func(kind slot.EventKind, label, detail string)) {
	c := &m.Changes
	if a.OldRev != "" {
		one(slot.Pushed, "", r.About.Sha)
	}
	if (c.Draft.Previous && !c.Draft.Current) || (c.WIP.Previous && !c.WIP.Current) {
		one(slot.Ready, "", "")
	}
	for _, l := range c.Labels.Current[:min(len(c.Labels.Current), mark.MaxList)] {
		if !slices.Contains(c.Labels.Previous, l) && !slices.Contains(r.hook.Labels, l.Title) {
			one(slot.Labeled, l.Title, l.Title)
		}
	}
	for _, u := range c.Assignees.Current[:min(len(c.Assignees.Current), mark.MaxList)] {
		if !slices.ContainsFunc(c.Assignees.Previous, u.same) {
			one(slot.Assigned, "", u.Username)
		}
	}
	for _, u := range c.Reviewers.Current[:min(len(c.Reviewers.Current), mark.MaxList)] {
		i := slices.IndexFunc(c.Reviewers.Previous, u.same)
		switch {
		case i < 0 || u.ReRequested && !c.Reviewers.Previous[i].ReRequested:
			one(slot.ReviewRequested, "", u.Username)
		case u.State == "requested_changes" && c.Reviewers.Previous[i].State != u.State:
			one(slot.ChangesRequested, "", u.Username)
		}
	}
	if c.Title != nil && (a.OldRev != "" || len(r.Events) == 0) || c.Description != nil {
		one(slot.Edited, "", mark.Digest(a.Title))
	}
}

func (u gitlabUser) same(v gitlabUser) bool {
	return u.Username != "" && u.Username == v.Username || u.ID != 0 && u.ID == v.ID
}

// gitlabNote reads a comment.
func (r *reading) gitlabNote(m *gitlabMessage) {
	a := &m.Attributes
	switch {
	case m.Merge != nil:
		if !r.gitlabAbout(m, "pull", m.Merge) {
			return
		}
	case m.Issue != nil:
		if !r.gitlabAbout(m, "issue", m.Issue) {
			return
		}
	default:
		r.About = About{Kind: "none", Sha: mark.Commit(m.Commit.ID)}
		if r.About.Sha != "" {
			r.About.Kind = "commit"
		}
		r.ignore("a comment on neither an issue nor a merge request")
		return
	}
	if a.System {
		r.ignore("GitLab's own note of a change")
		return
	}
	// Nothing says what the text was before an edit.
	s := said{
		id: number(a.ID), text: a.Note, updated: mark.Moment(a.CreatedAt, a.UpdatedAt), edited: a.Action == "update",
		by: user{Login: m.User.Username},
	}
	if s.edited {
		s.updated = mark.Moment(a.UpdatedAt)
	}
	plain := slot.Commented
	if a.Type == "DiffNote" {
		plain = slot.ReviewComment
	}
	r.remark(s, plain)
}

// pipeline reads the end of a pipeline. That of a merge request names it; its iid
// is a counter of pipelines.
func (r *reading) pipeline(m *gitlabMessage) {
	a := &m.Attributes
	r.About = About{Kind: "commit", Sha: mark.Commit(a.Sha), State: mark.Line(a.Status)}
	f := r.facts
	f.Check, f.Branch = "pipeline", mark.Line(a.Ref)
	var ref slot.Ref
	// A pipeline of a fork may name a merge request of another project, whose path
	// it does not say.
	if t := m.Merge; t != nil && (t.TargetProject == m.Project.ID || t.TargetProject == t.SourceProject) {
		if !r.about("pull", '!', t.IID) {
			return
		}
		ref = r.About.Ref
		f.Pull, f.Branch, f.Base = true, mark.Line(t.SourceBranch), mark.Line(t.TargetBranch)
		f.Fork = t.SourceProject != t.TargetProject
	}
	r.gitlabCheck(ref, a.Status, f, number(a.ID), a.FinishedAt)
}

// job reads the end of a job: it names its commit alone.
func (r *reading) job(m *gitlabMessage) {
	r.About = About{Kind: "commit", Sha: mark.Commit(m.Sha), State: mark.Line(m.BuildStatus)}
	if m.MayFail {
		r.ignore("a job that is allowed to fail")
		return
	}
	f := r.facts
	f.Check, f.Branch = mark.Line(m.BuildName), mark.Line(m.Ref)
	r.gitlabCheck(slot.Ref{}, m.BuildStatus, f, number(m.BuildID), m.BuildEnd)
}

func (r *reading) gitlabCheck(ref slot.Ref, status string, f slot.Facts, id, again string) {
	if e, ok := r.result(outcome(status), status, f, id, again); ok {
		e.Ref = ref
		r.add(e)
	}
}
