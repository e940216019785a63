package forgetest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
)

func (f *face) giteaPull(t Thread) object {
	p := f.giteaIssue(t)
	delete(p, "repository")
	delete(p, "pull_request")
	p["draft"] = t.Draft
	p["requested_reviewers"] = f.giteaUsers(t.Reviewers)
	p["base"], p["head"] = f.giteaEnd(t.Base), f.giteaEnd(t.Head)
	if t.AGit {
		head := f.giteaEnd(End{Repo: t.Base.Repo, Branch: fmt.Sprintf("refs/pull/%d/head", t.Number), Sha: t.Head.Sha})
		head["label"], p["head"] = "", head
	}
	// False also while the check for conflicts runs, and for every draft.
	p["mergeable"] = t.State == "open" && t.Mergeable == "clean" && !t.Draft
	p["merged"], p["merged_at"], p["merge_commit_sha"] = false, nil, nil
	if t.State == "merged" {
		p["merged"], p["merged_at"], p["merge_commit_sha"] = true, giteaTimeOrNull(t.Closed), t.MergeSha
	}
	p["diff_url"] = p["html_url"].(string) + ".diff"
	return p
}

func (f *face) giteaEnd(e End) object {
	out := object{"label": e.Branch, "ref": e.Branch, "sha": e.Sha, "repo_id": 0, "repo": nil}
	if r, ok := f.Repo(e.Repo); ok {
		out["repo_id"], out["repo"] = r.ID, f.giteaRepo(r)
	}
	return out
}

func (f *face) giteaPulls(r *http.Request, _ User, in Repo) reply {
	state := r.URL.Query().Get("state")
	var all []Thread
	for _, t := range f.Threads(in.Path) {
		open := t.State == "open"
		if t.Pull && (state == "all" || state == "closed" && !open || (state == "" || state == "open") && open) {
			all = append([]Thread{t}, all...)
		}
	}
	if r.URL.Query().Get("sort") == "recentupdate" {
		slices.SortStableFunc(all, func(a, b Thread) int { return b.Updated.Compare(a.Updated) })
	}
	return giteaList(f, r, all, func(t Thread) object {
		p := f.giteaPull(t)
		if t.AGit { // lists of newer versions: as if it were the branch of that name, should there be one
			p["head"].(object)["ref"] = t.Head.Branch
		}
		return p
	})
}

// giteaReviews: a conversation at a line hangs on a review, maybe of its own. Its row
// has the time when it was begun, and when it was changed. A draft is shown to its
// author, and counted for everybody.
func (f *face) giteaReviews(r *http.Request, u User, t Thread) reply {
	words := map[string]string{"approved": "APPROVED", "changes_requested": "REQUEST_CHANGES", "commented": "COMMENT", "dismissed": "REQUEST_CHANGES", draft: "PENDING"}
	var list []object
	add := func(id int64, by, word, body, sha string, begun, given time.Time, dismissed bool, remarks int) {
		list = append(list, object{"id": id, "user": f.giteaUser(by), "team": nil, "state": word, "body": body, "commit_id": sha,
			"stale": false, "official": true, "dismissed": dismissed, "comments_count": remarks, "submitted_at": giteaTime(begun), "updated_at": giteaTime(given),
			"html_url": f.at("/" + t.Repo), "pull_request_url": f.at("/" + t.Repo)})
	}
	hidden := map[int64]bool{}
	remarks := map[int64]int{}
	for _, v := range f.Talks(t.At) {
		if first := v.List[0]; v.Review == 0 {
			add(v.ID, first.Author, "COMMENT", "", t.Head.Sha, first.Created, first.Created, false, len(v.List))
		}
		remarks[v.Review] += len(v.List)
	}
	for _, v := range f.allReviews(t.At) {
		hidden[v.ID] = v.State == draft && v.Author != u.Login
		if v.State == draft {
			v.At = v.Begun
		}
		add(v.ID, v.Author, words[v.State], v.Body, v.Sha, v.Begun, v.At, v.State == "dismissed", remarks[v.ID])
	}
	for _, login := range t.Reviewers {
		u, _ := f.User(login)
		add(1_000_000+u.ID, login, "REQUEST_REVIEW", "", t.Head.Sha, t.Created, t.Created, false, 0)
	}
	slices.SortFunc(list, func(a, b object) int { return int(a["id"].(int64) - b["id"].(int64)) })
	page := giteaList(f, r, list, func(o object) object {
		if hidden[o["id"].(int64)] {
			return nil
		}
		return o
	})
	page.header.Del("Link") // this list has none
	return page
}

func (f *face) giteaReviewComments(r *http.Request, _ User, t Thread) reply {
	list := []object{}
	for _, v := range f.Talks(t.At) {
		id := v.Review
		if id == 0 {
			id = v.ID
		}
		if id != int64(number(r.PathValue("id"))) {
			continue
		}
		for i, c := range v.List {
			var resolver any // it stands on the first comment alone
			if v.Resolved && i == 0 {
				resolver = f.giteaUser(t.Author)
			}
			list = append(list, object{"id": c.ID, "body": c.Body, "user": f.giteaUser(c.Author), "pull_request_review_id": id,
				"resolver": resolver, "path": "f.txt", "position": v.ID, "original_position": 0, "commit_id": t.Head.Sha,
				"created_at": giteaTime(c.Created), "updated_at": giteaTime(c.Updated), "html_url": f.at("/" + t.Repo)})
		}
	}
	return reply{body: list}
}

func (f *face) giteaCommits(r *http.Request, _ User, in Repo) reply {
	all := f.Commits(in.Path)
	if len(all) == 0 {
		return f.failed(http.StatusConflict, "Git Repository is empty.")
	}
	return giteaList(f, r, all, func(c forge.Commit) object {
		by := object{"name": "o", "email": "o@localhost", "date": giteaTime(c.At)}
		return object{"url": f.at("/c"), "sha": c.Sha, "created": giteaTime(c.At), "html_url": f.at("/c"),
			"commit": object{"url": f.at("/c"), "message": c.Message, "author": by, "committer": by}, "author": nil, "committer": nil, "parents": []any{}}
	})
}

// giteaStatus sends the newest status of each context. Without any, the statuses are
// null.
func (f *face) giteaStatus(r *http.Request, _ User, in Repo) reply {
	words := map[string]string{forge.Neutral: "skipped"}
	newest := map[string]int{}
	var all []Check
	for _, c := range f.Checks(f.commit(in, r.PathValue("sha"))) {
		if i, ok := newest[c.Name]; ok {
			all[i] = c
			continue
		}
		newest[c.Name] = len(all)
		all = append(all, c)
	}
	if len(all) == 0 {
		return reply{header: http.Header{"X-Total-Count": {"0"}}, body: object{"state": "", "sha": r.PathValue("sha"), "total_count": 0, "statuses": nil}}
	}
	page := giteaList(f, r, all, func(c Check) object {
		word := c.State
		if w := words[c.State]; w != "" {
			word = w
		}
		return object{"id": c.ID, "status": word, "context": c.Name, "description": "", "target_url": f.at("/ci/" + strconv.FormatInt(c.ID, 10)),
			"creator": f.giteaUser("ci"), "created_at": giteaTime(c.At), "updated_at": giteaTime(c.At)}
	})
	page.body = object{"state": "failure", "sha": r.PathValue("sha"), "total_count": len(all), "statuses": page.body, "repository": f.giteaRepo(in)}
	return page
}
