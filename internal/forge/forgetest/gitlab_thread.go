package forgetest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (f *face) gitlabThread(t Thread) object {
	in, _ := f.Repo(t.Repo)
	mark, part := "#", "issues"
	if t.Pull {
		mark, part = "!", "merge_requests"
	}
	short := mark + strconv.Itoa(t.Number)
	o := object{
		"id": t.ID, "iid": t.Number, "project_id": in.ID, "title": t.Title, "description": t.Body,
		"state":  map[string]string{"open": "opened", "closed": "closed", "merged": "merged"}[t.State],
		"author": f.gitlabUser(t.Author), "assignees": f.gitlabUsers(t.Assignees), "labels": append([]string{}, t.Labels...),
		"user_notes_count": t.Comments, "discussion_locked": t.Locked, "created_at": gitlabTime(t.Created), "updated_at": gitlabTime(t.Updated),
		"closed_at": nil, "references": object{"short": short, "relative": short, "full": t.Repo + short},
		"web_url": f.at("/" + t.Repo + "/-/" + part + "/" + strconv.Itoa(t.Number)),
	}
	if t.State == "closed" {
		o["closed_at"] = gitlabTime(t.Closed)
	}
	if !t.Pull {
		o["moved_to_id"] = nil
		if t.MovedTo != nil {
			to, _ := f.Thread(*t.MovedTo)
			o["moved_to_id"] = to.ID
		}
		return o
	}
	for _, talk := range f.Talks(t.At) {
		o["user_notes_count"] = o["user_notes_count"].(int) + len(talk.List)
	}
	return f.gitlabMerge(o, in, t)
}

func (f *face) gitlabMerge(o object, in Repo, t Thread) object {
	o["draft"], o["sha"] = t.Draft, t.Head.Sha
	o["source_branch"], o["target_branch"] = t.Head.Branch, t.Base.Branch
	o["target_project_id"], o["source_project_id"] = in.ID, nil
	if from, ok := f.Repo(t.Head.Repo); ok {
		o["source_project_id"] = from.ID
	}
	o["reviewers"] = f.gitlabUsers(t.Reviewers)
	o["merge_commit_sha"], o["squash_commit_sha"], o["merged_at"] = nil, nil, nil
	if t.State == "merged" {
		o["merge_commit_sha"], o["merged_at"] = t.MergeSha, gitlabTime(t.Closed)
	}
	o["has_conflicts"] = t.Mergeable == "conflict"
	o["detailed_merge_status"] = map[string]string{"clean": "mergeable", "conflict": "conflict", "": "unchecked"}[t.Mergeable]
	o["diff_refs"] = object{"base_sha": t.Base.Sha, "head_sha": t.Head.Sha, "start_sha": t.Base.Sha}
	return o
}

// gitlabThreads lists the issues or the merge requests of a project.
func (f *face) gitlabThreads(r *http.Request, in Repo, pull bool) reply {
	q := r.URL.Query()
	updated, _ := time.Parse(time.RFC3339, q.Get("updated_after"))
	created, _ := time.Parse(time.RFC3339, q.Get("created_after"))
	var all []Thread
	for _, t := range f.Threads(in.Path) {
		opened := t.State == "open"
		switch state := q.Get("state"); {
		case t.Pull != pull, state == "opened" && !opened, state == "closed" && t.State != "closed":
		case t.Updated.Before(updated), t.Created.Before(created):
		default:
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b Thread) int {
		by := a.Created.Compare(b.Created)
		if q.Get("order_by") == "updated_at" {
			by = a.Updated.Compare(b.Updated)
		}
		if by = cmp.Or(by, int(a.ID-b.ID)); q.Get("sort") != "asc" {
			by = -by
		}
		return by
	})
	return gitlabList(f, r, all, f.gitlabThread)
}

// gitlabUpdate changes labels and the lock. What the token may not change is left out,
// and the answer is 200 all the same.
func (f *face) gitlabUpdate(r *http.Request, u User, t Thread) reply {
	var in struct {
		Add    string `json:"add_labels"`
		Remove string `json:"remove_labels"`
		Lock   *bool  `json:"discussion_locked"`
	}
	if err := decode(r, &in); err != nil {
		return f.failed(http.StatusBadRequest, "400 Bad request")
	}
	if u.Writer {
		for list, on := range map[string]bool{in.Add: true, in.Remove: false} {
			for label := range strings.SplitSeq(list, ",") {
				if label != "" {
					f.Label(t.At, label, on, u.Login)
				}
			}
		}
		if in.Lock != nil {
			f.Lock(t.At, *in.Lock, u.Login)
		}
	}
	t, _ = f.Thread(t.At)
	return reply{body: f.gitlabThread(t)}
}

// gitlabGraphQL knows two queries: where an issue is that has this id in the whole
// GitLab, and what changed last in a project, in whole seconds.
func (f *face) gitlabGraphQL(r *http.Request, _ User) reply {
	var in struct {
		Variables struct {
			ID    string    `json:"id"`
			Path  string    `json:"path"`
			Since time.Time `json:"since"`
		} `json:"variables"`
	}
	if err := decode(r, &in); err != nil {
		return f.failed(http.StatusBadRequest, "400 Bad request")
	}
	if in.Variables.Path != "" {
		return reply{body: object{"data": object{"project": f.gitlabNewest(in.Variables.Path, in.Variables.Since)}}}
	}
	var id int64
	_, _ = fmt.Sscanf(in.Variables.ID, "gid://gitlab/Issue/%d", &id)
	for _, repo := range f.Repos() {
		for _, t := range f.Threads(repo.Path) {
			if t.ID == id && !t.Pull {
				return reply{body: object{"data": object{"issue": object{"iid": strconv.Itoa(t.Number), "projectId": repo.ID}}}}
			}
		}
	}
	return reply{body: object{"data": object{"issue": nil}}}
}

func (f *face) gitlabNewest(path string, since time.Time) any {
	in, ok := f.Repo(path)
	if !ok || !strings.EqualFold(in.Path, path) {
		return nil
	}
	all := f.Threads(path)
	slices.SortStableFunc(all, func(a, b Thread) int { return b.Updated.Compare(a.Updated) })
	lists := map[bool][]object{false: {}, true: {}}
	for _, t := range all {
		if !t.Updated.Before(since) && len(lists[t.Pull]) < 50 {
			lists[t.Pull] = append(lists[t.Pull], object{"iid": strconv.Itoa(t.Number), "updatedAt": t.Updated.UTC().Format(time.RFC3339)})
		}
	}
	return object{"issues": object{"nodes": lists[false]}, "mergeRequests": object{"nodes": lists[true]}}
}
