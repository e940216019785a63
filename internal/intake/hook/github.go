package hook

import (
	"slices"
	"strings"

	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/slot"
)

// gitHub reads what GitHub, Forgejo, Gitea and Gogs send.
func (r *reading) gitHub(event string, body []byte) error {
	var m message
	if !skim(body, &m) {
		return ErrBroken
	}
	r.Delivery.Action = mark.Line(m.Action)
	r.at(m.Repository.ID, m.Repository.path(), m.Repository.HTMLURL)
	r.facts = slot.Facts{
		Actor: mark.Line(m.Sender.name()), Bot: m.Sender.Type == "Bot",
	}
	if m.Repository.Private != nil {
		public := !*m.Repository.Private
		r.facts.Public = &public
	}
	switch {
	case m.CheckRun != nil || m.CheckSuite != nil || m.WorkflowRun != nil:
		r.checkEvent(event, &m)
	case event == "status":
		r.status(&m)
	case event == "push" || event == "create":
		r.push(&m)
	case event == "repository":
		r.moved(&m)
	case m.Issue != nil || m.Pull != nil:
		r.thread(event, &m)
	default:
		r.ignore("%s is of no use", event)
	}
	return nil
}

// thread reads what happened to an issue or a pull request.
func (r *reading) thread(event string, m *message) {
	t := m.Pull
	if m.Issue != nil {
		t = m.Issue
	}
	pull := m.Pull != nil || m.IsPull || t.Pull != nil
	kind := "issue"
	if pull {
		kind = "pull"
	}
	if !r.about(kind, '#', t.Number) {
		return
	}
	r.factsOf(t, m.Pull, pull)
	switch event {
	case "issues", "pull_request":
		r.change(m, t)
	case "issue_comment", "pull_request_review_comment":
		plain := slot.Commented
		if event == "pull_request_review_comment" {
			plain = slot.ReviewComment
		}
		if m.Comment == nil {
			r.ignore("%s without a comment", event)
			return
		}
		r.remark(r.say(m, m.Comment), plain)
	case "pull_request_review", "pull_request_approved", "pull_request_rejected", "pull_request_comment",
		"pull_request_review_approved", "pull_request_review_rejected":
		if m.Review == nil {
			r.ignore("%s without a review", event)
			return
		}
		r.review(event, m)
	default:
		r.ignore("%s is of no use", event)
	}
}

// factsOf notes how the thread stood when the delivery was sent.
func (r *reading) factsOf(t, pull *thing, isPull bool) {
	f := &r.facts
	f.Pull, f.State, f.Author = isPull, t.State, mark.Line(t.User.name())
	merged := t.Merged || t.MergedAt != "" || t.Pull != nil && (t.Pull.Merged || t.Pull.MergedAt != "")
	f.Draft = isPull && t.draft(r.hook.Forge)
	for _, l := range t.Labels[:min(len(t.Labels), mark.MaxList)] {
		f.Labels = append(f.Labels, mark.Line(l.Name))
	}
	if pull != nil {
		merged = merged || pull.Merged || pull.MergedAt != ""
		f.Draft = pull.draft(r.hook.Forge)
		r.ends(pull)
	}
	switch {
	case merged:
		f.State = "merged"
	case f.State != "closed":
		f.State = "open"
	}
	if r.About.State = f.State; f.Draft && f.State == "open" {
		r.About.State = "open draft"
	}
}

func (r *reading) ends(pull *thing) {
	f := &r.facts
	if pull.Head == nil || pull.Base == nil {
		f.Branch, f.Base = mark.Line(pull.HeadBranch), mark.Line(pull.BaseBranch)
		f.Fork = pull.HeadRepo != nil && pull.BaseRepo != nil && pull.HeadRepo.ID != pull.BaseRepo.ID
		return
	}
	r.About.Sha = mark.Commit(pull.Head.Sha)
	f.Branch, f.Base = mark.Line(pull.Head.Ref), mark.Line(pull.Base.Ref)
	// Without a repository the head was in a fork that is gone.
	f.Fork = pull.Head.Repo == nil || pull.Base.Repo == nil || pull.Head.Repo.ID != pull.Base.Repo.ID
	if r.hook.Forge != GitHub && pull.Head.Label == "" {
		// Pushed to refs/for/BRANCH (AGit): the head is said to be in the repository, but is
		// on no branch of it, and takes no right to write.
		f.Fork, f.Branch = true, ""
	}
}

// change reads a change of the issue or pull request itself.
func (r *reading) change(m *message, t *thing) {
	if r.hook.Own.Login(m.Sender.name()) {
		r.ignore("own: %s was done by %s", m.Action, m.Sender.name())
		return
	}
	kind, detail := r.kindOf(m, t)
	if kind == "" {
		r.ignore("action %q is of no use", m.Action)
		return
	}
	if kind == slot.Opened {
		if r.hook.Own.App(t.App.names()...) {
			r.ignore("own: opened by app %s", t.App.name())
			return
		}
		r.facts.App = t.App.name()
	}
	if kind == slot.Labeled && slices.Contains(r.hook.Labels, m.Label.Name) {
		r.ignore("own: the label %s is oneslot's", m.Label.Name)
		return
	}
	r.facts.Label = mark.Line(m.Label.Name)
	r.facts.Association = association(m.Sender, t.User, t.Association)
	e := slot.Event{Ref: r.About.Ref, Kind: kind, Sha: r.About.Sha, Facts: r.facts}
	switch {
	case m.Action == "label_updated" || kind == slot.Assigned && m.Assignee == nil:
		// Gitea does not say what was set, and lists what may be old: two changes
		// were seen to send the same bytes. So only the delivery tells them apart.
		if r.Delivery.GUID != "" {
			e.Fingerprint = mark.Fingerprint(kind, mark.Moment(t.UpdatedAt), r.Delivery.GUID)
		}
	case kind == slot.Opened: // which stays, whatever is updated
		e.Fingerprint = mark.Changed(kind, mark.Moment(t.CreatedAt, t.UpdatedAt), detail)
	default:
		e.Fingerprint = mark.Changed(kind, t.UpdatedAt, detail)
	}
	r.add(e)
}

// kindOf names the change, and what tells it apart from others of its kind within
// one second.
func (r *reading) kindOf(m *message, t *thing) (kind slot.EventKind, detail string) {
	switch m.Action {
	case "opened":
		return slot.Opened, ""
	case "reopened":
		return slot.Reopened, ""
	case "edited":
		if c := m.Changes.Title; r.hook.Forge != GitHub && r.facts.Pull && c != nil && wip(c.From) && !r.facts.Draft {
			return slot.Ready, ""
		}
		return slot.Edited, mark.Digest(t.Title)
	case "labeled", "label_updated":
		return slot.Labeled, m.Label.Name
	case "assigned":
		if m.Assignee != nil {
			return slot.Assigned, m.Assignee.name()
		}
		return slot.Assigned, ""
	case "review_requested":
		if m.Reviewer != nil {
			return slot.ReviewRequested, m.Reviewer.name()
		}
		return slot.ReviewRequested, m.Team.Name
	case "synchronize", "synchronized":
		return slot.Pushed, r.About.Sha
	case "ready_for_review":
		return slot.Ready, ""
	case "closed":
		if r.facts.State == "merged" && r.facts.Pull {
			return slot.Merged, ""
		}
		return slot.Closed, ""
	}
	return "", ""
}

// association is that of the one who acted, as far as it is known.
func association(actor, author user, association string) string {
	if actor.name() == "" || !strings.EqualFold(actor.name(), author.name()) {
		return ""
	}
	return strings.ToLower(mark.Line(association))
}

// push notes what was pushed: the pull requests of a branch say so themselves.
func (r *reading) push(m *message) {
	r.About.Kind = "commit"
	switch {
	case m.After == "": // a branch or tag was created
		r.About.Sha = mark.Commit(m.Sha)
	case strings.Trim(m.After, "0") == "":
		r.About.State = "deleted"
	default:
		r.About.Sha = mark.Commit(m.After)
		if r.About.State = "updated"; strings.Trim(m.Before, "0") == "" {
			r.About.State = "created"
		}
	}
	r.ignore("a push; pull requests tell of theirs themselves")
}

// moved reads a new name of a repository.
func (r *reading) moved(m *message) {
	name, owner := m.Repository.Name, m.Repository.Owner.name()
	if was := m.Changes.Repository.Name.From; was != "" {
		name = was
	}
	if was := m.Changes.Owner.From; was.User.name() != "" {
		owner = was.User.name()
	} else if was.Organization.name() != "" {
		owner = was.Organization.name()
	}
	r.move(m.Repository.ID, owner+"/"+name)
}

// move notes where the repository was before.
func (r *reading) move(id int64, was string) {
	from, to := mark.Repo(r.host, was), mark.Repo(r.host, r.path)
	if id == 0 || from == "" || to == "" || from == to {
		r.ignore("a repository event of no use")
		return
	}
	r.Moved = &Moved{ID: number(id), From: from, To: to}
	r.ignore("the repository moved from %s to %s", from, to)
}
