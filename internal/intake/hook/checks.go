package hook

import (
	"strings"

	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/slot"
)

// checkEvent reads a check run, check suite or workflow run. One that names pull
// requests is an event for each of them; one that names none is an event of its
// commit, whose pull requests are found later.
func (r *reading) checkEvent(event string, m *message) {
	c, name := m.CheckRun, ""
	switch {
	case event == "check_run" && c != nil:
		name = c.Name
	case event == "check_suite" && m.CheckSuite != nil:
		c = m.CheckSuite
		name = c.App.name()
	case event == "workflow_run" && m.WorkflowRun != nil:
		c = m.WorkflowRun
		name = c.Name
	default:
		r.ignore("%s is of no use", event)
		return
	}
	r.About = About{Kind: "commit", Sha: mark.Commit(c.HeadSha), State: c.Status + "/-"}
	if c.Conclusion != "" {
		r.About.State = mark.Line(c.Status + "/" + c.Conclusion)
	}
	pulls := r.pullsOf(m.Repository, c.Pulls)
	if len(pulls) > 0 {
		r.about("pull", '#', pulls[0].Number)
	}
	if m.Action != "completed" {
		r.ignore("action %q of a check is of no use", m.Action)
		return
	}
	if r.hook.Own.App(c.App.names()...) {
		r.ignore("own: a check of app %s", c.App.name())
		return
	}
	kind := outcome(c.Conclusion)
	if event == "check_run" && c.Conclusion == "action_required" { // the run itself asks its author for something
		kind = slot.CIFailed
	}
	branch := c.HeadBranch
	if c.Suite != nil {
		branch = c.Suite.HeadBranch
	}
	again := mark.Moment(c.CompletedAt, c.UpdatedAt)
	if c.Attempt > 0 {
		again = number(c.Attempt)
	}
	f := r.facts
	f.Check, f.Branch, f.App = mark.Line(name), mark.Line(branch), c.App.name()
	f.Fork = c.HeadRepo != nil && c.HeadRepo.ID != m.Repository.ID
	e, ok := r.result(kind, c.Conclusion, f, number(c.ID), again)
	if !ok {
		return
	}
	for _, p := range pulls {
		r.add(r.forPull(e, p))
	}
	if len(pulls) == 0 {
		r.add(e)
	}
}

// result makes the event of a check's result, without a ref.
func (r *reading) result(kind slot.EventKind, result string, f slot.Facts, id, again string) (slot.Event, bool) {
	if kind == "" {
		r.ignore("a check that is %q has neither passed nor failed", result)
		return slot.Event{}, false
	}
	f.Result = mark.Line(result)
	return slot.Event{
		Kind: kind, Sha: r.About.Sha, Facts: f,
		Fingerprint: mark.Check(kind, r.About.Sha, id, again, f.Check),
	}, true
}

// forPull makes e the event of one of the pull requests.
func (r *reading) forPull(e slot.Event, p checkPull) slot.Event {
	e.Ref, _ = mark.Ref(r.host, r.path, '#', p.Number)
	e.Facts.Pull, e.Facts.Branch, e.Facts.Base = true, mark.Line(p.Head.Ref), mark.Line(p.Base.Ref)
	if p.Head.Repo != nil && p.Base.Repo != nil {
		e.Facts.Fork = p.Head.Repo.ID != p.Base.Repo.ID
	}
	return e
}

// pullsOf leaves out the pull requests from this repository to another one: their
// numbers are the other one's. Gitea's are no pull requests to go by: heads that only
// were pushed to refs/for/BRANCH look like the repository's own.
func (r *reading) pullsOf(here repo, all []checkPull) []checkPull {
	var pulls []checkPull
	if r.hook.Forge != GitHub {
		return nil
	}
	for _, p := range all[:min(len(all), mark.MaxList)] {
		leaves := p.Head.Repo != nil && p.Base.Repo != nil && p.Head.Repo.ID == here.ID && p.Base.Repo.ID != here.ID
		if _, ok := mark.Ref(r.host, r.path, '#', p.Number); ok && !leaves {
			pulls = append(pulls, p)
		}
	}
	return pulls
}

// status reads a commit status: it never names a pull request.
func (r *reading) status(m *message) {
	r.About = About{Kind: "commit", Sha: mark.Commit(m.Sha), State: mark.Line(m.State)}
	f := r.facts
	f.Check = mark.Line(m.Context)
	if len(m.Branches) == 1 {
		f.Branch = mark.Line(m.Branches[0].Name)
	}
	if e, ok := r.result(outcome(m.State), m.State, f, number(m.ID), m.UpdatedAt); ok {
		r.add(e)
	}
}

// outcome tells what a check's result means; "" if it is neither. A check that was
// cancelled, skipped or is out of date says nothing about the commit.
func outcome(result string) slot.EventKind {
	switch strings.ToLower(result) {
	case "failure", "failed", "error", "timed_out", "startup_failure":
		return slot.CIFailed
	case "success":
		return slot.CIPassed
	}
	return ""
}
