package forgetest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
)

// gitlabWhole is the check of a World that stands for a pipeline; others are jobs.
const gitlabWhole = "pipeline"

func gitlabStatus(c Check) object {
	o := object{
		"id": c.ID, "name": c.Name, "allow_failure": false, "created_at": gitlabTime(c.At), "updated_at": gitlabTime(c.At), "finished_at": nil,
		"status": map[string]string{"pending": "running", "success": "success", "failure": "failed", "neutral": "canceled"}[c.State],
	}
	if c.State != forge.Pending {
		o["finished_at"] = gitlabTime(c.At)
	}
	return o
}

// gitlabStatuses lists the jobs and statuses of a commit; those that were retried are
// left out. As in lib/api/commit_statuses.rb, a branch is a commit, too, but none has its
// name.
func (f *face) gitlabStatuses(r *http.Request, _ User, _ Repo) reply {
	newest := map[string]Check{}
	for _, c := range f.Checks(r.PathValue("sha")) {
		if c.Name != gitlabWhole {
			newest[c.Name] = c
		}
	}
	all := slices.SortedFunc(maps.Values(newest), func(a, b Check) int { return int(a.ID - b.ID) })
	return gitlabList(f, r, all, gitlabStatus)
}

func (f *face) gitlabPipelines(r *http.Request, _ User, _ Repo) reply {
	var all []Check
	for _, c := range f.Checks(r.URL.Query().Get("sha")) {
		if c.Name == gitlabWhole {
			all = append([]Check{c}, all...)
		}
	}
	return gitlabList(f, r, all, func(c Check) object {
		o := gitlabStatus(c)
		delete(o, "finished_at")
		return o
	})
}

func (f *face) gitlabPipeline(r *http.Request, _ User, _ Repo) reply {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, list := range f.checks {
		for _, c := range list {
			if c.ID == int64(number(r.PathValue("n"))) && c.Name == gitlabWhole {
				return reply{body: gitlabStatus(c)}
			}
		}
	}
	return reply{status: http.StatusNotFound, body: object{"message": "404 Pipeline Not Found"}}
}

func (f *face) gitlabCommits(r *http.Request, _ User, in Repo) reply {
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	all := slices.DeleteFunc(f.Commits(in.Path), func(c forge.Commit) bool { return c.At.Before(since) })
	return gitlabList(f, r, all, func(c forge.Commit) object { return f.gitlabCommitWords(c, in) })
}

func (f *face) gitlabCommitWords(c forge.Commit, in Repo) object {
	title, _, _ := strings.Cut(c.Message, "\n")
	return object{"id": c.Sha, "title": title, "message": c.Message, "committed_date": gitlabTime(c.At), "web_url": f.at("/" + in.Path + "/-/commit/" + c.Sha)}
}

// gitlabCommit is one of the default branch, by its own name or that of the branch.
func (f *face) gitlabCommit(r *http.Request, _ User, in Repo) reply {
	all := f.Commits(in.Path)
	sha := f.commit(in, r.PathValue("sha"))
	if i := slices.IndexFunc(all, func(c forge.Commit) bool { return c.Sha == sha }); i >= 0 {
		return reply{body: f.gitlabCommitWords(all[i], in)}
	}
	return f.failed(http.StatusNotFound, "404 Commit Not Found")
}

// gitlabByCommit lists the merge requests that a commit is in, whatever their state.
func (f *face) gitlabByCommit(r *http.Request, _ User, in Repo) reply {
	all := slices.DeleteFunc(f.Threads(in.Path), func(t Thread) bool { return !t.Pull || t.Head.Sha != r.PathValue("sha") })
	return gitlabList(f, r, all, f.gitlabThread)
}

func (f *face) gitlabStates(r *http.Request, _ User, t Thread) reply {
	all := slices.DeleteFunc(t.Events, func(e Event) bool { return e.Kind != "closed" && e.Kind != "reopened" && e.Kind != "merged" })
	return gitlabList(f, r, all, func(e Event) object {
		return object{"id": e.ID, "user": f.gitlabUser(e.Actor), "created_at": gitlabTime(e.At), "resource_id": t.ID, "state": e.Kind}
	})
}

func (f *face) gitlabLabelled(r *http.Request, _ User, t Thread) reply {
	all := slices.DeleteFunc(t.Events, func(e Event) bool { return e.Label == "" })
	return gitlabList(f, r, all, func(e Event) object {
		action := map[string]string{"labeled": "add", "unlabeled": "remove"}[e.Kind]
		return object{"id": e.ID, "user": f.gitlabUser(e.Actor), "created_at": gitlabTime(e.At), "resource_id": t.ID,
			"action": action, "label": object{"name": e.Label}}
	})
}

// gitlabLast is the last word of each reviewer.
func (f *face) gitlabLast(t Thread) []Review {
	var list []Review
	for _, v := range f.Reviews(t.At) {
		list = slices.DeleteFunc(list, func(old Review) bool { return old.Author == v.Author })
		list = append(list, v)
	}
	return list
}

func (f *face) gitlabApprovals(_ *http.Request, _ User, t Thread) reply {
	by := []object{}
	for _, v := range f.gitlabLast(t) {
		if v.State == "approved" {
			by = append(by, object{"user": f.gitlabUser(v.Author), "approved_at": gitlabTime(v.At)})
		}
	}
	return reply{body: object{"id": t.ID, "iid": t.Number, "approved": len(by) > 0, "approved_by": by}}
}

func (f *face) gitlabReviewers(_ *http.Request, _ User, t Thread) reply {
	list := []object{}
	last := f.gitlabLast(t)
	for _, login := range t.Reviewers {
		if !slices.ContainsFunc(last, func(v Review) bool { return v.Author == login }) {
			list = append(list, object{"user": f.gitlabUser(login), "state": "unreviewed", "created_at": gitlabTime(t.Created)})
		}
	}
	for _, v := range last {
		state := map[string]string{"approved": "approved", "changes_requested": "requested_changes", "commented": "reviewed", "dismissed": "unapproved"}[v.State]
		// When it was said is not told, only when he was made a reviewer.
		list = append(list, object{"user": f.gitlabUser(v.Author), "state": state, "created_at": gitlabTime(t.Created)})
	}
	return reply{body: list}
}

// gitlabDiscussions lists each comment of the conversation as a thread of its own, and
// the threads on lines.
func (f *face) gitlabDiscussions(r *http.Request, _ User, t Thread) reply {
	var all []object
	for _, c := range f.Listed(t.At) {
		all = append(all, object{"id": fmt.Sprintf("%040x", c.ID), "individual_note": true, "notes": []object{f.gitlabNote(c, t)}})
	}
	for i, v := range f.Reviews(t.At) {
		words := map[string]string{"approved": "approved this merge request", "changes_requested": "requested changes"}[v.State]
		if words == "" {
			continue
		}
		id := 2_000_000_000 + int64(i)
		o := f.gitlabNote(Comment{ID: id, Author: v.Author, Body: words, Created: v.At, Updated: v.At}, t)
		o["system"] = true
		all = append(all, object{"id": fmt.Sprintf("%040x", id), "individual_note": true, "notes": []object{o}})
	}
	for _, talk := range f.Talks(t.At) {
		var notes []object
		for _, c := range talk.List {
			o := f.gitlabNote(c, t)
			o["type"], o["resolvable"], o["resolved"] = "DiffNote", true, talk.Resolved
			notes = append(notes, o)
		}
		all = append(all, object{"id": fmt.Sprintf("%040x", talk.ID), "individual_note": false, "notes": notes})
	}
	return gitlabList(f, r, all, func(o object) object { return o })
}

func (f *face) gitlabCloses(r *http.Request, _ User, t Thread) reply {
	var all []Thread
	for _, at := range t.Closes {
		if issue, ok := f.Thread(at); ok {
			all = append(all, issue)
		}
	}
	return gitlabList(f, r, all, f.gitlabThread)
}

// gitlabClosing lists the merge requests that mention an issue; or, while it is open,
// the open ones that will close it.
func (f *face) gitlabClosing(r *http.Request, issue Thread, will bool) reply {
	var all []Thread
	for _, in := range f.Repos() {
		for _, t := range f.Threads(in.Path) {
			if t.Pull && slices.Contains(t.Closes, issue.At) && (!will || t.State == "open" && issue.State == "open") {
				all = append(all, t)
			}
		}
	}
	return gitlabList(f, r, all, f.gitlabThread)
}
