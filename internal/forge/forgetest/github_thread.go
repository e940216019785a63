package forgetest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

func (f *face) githubThreads() {
	f.githubRoute("GET", "", func(_ *http.Request, _ User, repo Repo) reply { return reply{body: f.githubRepo(repo)} })
	f.githubRoute("GET", "/issues", f.githubIssues)
	f.githubRoute("GET", "/issues/{number}", f.githubOn(func(_ *http.Request, _ User, t Thread) reply {
		return reply{body: f.githubIssue(t)}
	}))
	f.githubRoute("POST", "/issues/{number}/labels", f.githubOn(f.githubLabel))
	f.githubRoute("DELETE", "/issues/{number}/labels/{label}", f.githubOn(f.githubUnlabel))
	f.githubRoute("PUT", "/issues/{number}/lock", f.githubOn(f.githubLock))
	f.githubRoute("GET", "/pulls", f.githubPulls)
	f.githubRoute("GET", "/pulls/{number}", f.githubOnPull(func(_ *http.Request, _ User, t Thread) reply {
		pull := f.githubPull(t)
		pull["mergeable"] = map[string]any{"clean": true, "conflict": false}[t.Mergeable]
		pull["comments"] = t.Comments
		return reply{body: pull}
	}))
	f.githubRoute("GET", "/commits/{sha}/pulls", f.githubPullsOf)
}

// githubOn finds the thread of a route. A moved one leads to its new place, if that can
// be seen.
func (f *face) githubOn(do func(r *http.Request, u User, t Thread) reply) func(*http.Request, User, Repo) reply {
	return func(r *http.Request, u User, repo Repo) reply {
		t, ok := f.Thread(At{Repo: repo.Path, Number: number(r.PathValue("number"))})
		if !ok {
			return f.failed(http.StatusNotFound, "Not Found")
		}
		if t.MovedTo == nil {
			return do(r, u, t)
		}
		to, ok := f.Repo(t.MovedTo.Repo)
		if !ok || !sees(u, to) {
			return f.failed(http.StatusNotFound, "Not Found")
		}
		_, rest, _ := strings.Cut(r.URL.EscapedPath(), "/issues/"+r.PathValue("number"))
		return f.githubMoved(r, fmt.Sprintf("/repositories/%d/issues/%d%s", to.ID, t.MovedTo.Number, rest))
	}
}

func (f *face) githubOnPull(do func(r *http.Request, u User, t Thread) reply) func(*http.Request, User, Repo) reply {
	return f.githubOn(func(r *http.Request, u User, t Thread) reply {
		if !t.Pull {
			return f.failed(http.StatusNotFound, "Not Found")
		}
		return do(r, u, t)
	})
}

// githubIssues lists issues and pull requests alike.
func (f *face) githubIssues(r *http.Request, _ User, repo Repo) reply {
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	all := slices.DeleteFunc(githubSort(r.URL.Query(), f.Threads(repo.Path)), func(t Thread) bool {
		return t.Updated.Truncate(time.Second).Before(since)
	})
	return githubPage(f, r, all, func(t Thread) any { return f.githubIssue(t) })
}

func (f *face) githubPulls(r *http.Request, _ User, repo Repo) reply {
	all := slices.DeleteFunc(githubSort(r.URL.Query(), f.Threads(repo.Path)), func(t Thread) bool { return !t.Pull })
	return githubPage(f, r, all, func(t Thread) any { return f.githubPull(t) })
}

// githubPullsOf knows nothing of commits that are in a fork only.
func (f *face) githubPullsOf(r *http.Request, _ User, repo Repo) reply {
	all := slices.DeleteFunc(f.Threads(repo.Path), func(t Thread) bool {
		return !t.Pull || t.Head.Sha != r.PathValue("sha") || t.Head.Repo != repo.Path
	})
	return githubPage(f, r, all, func(t Thread) any { return f.githubPull(t) })
}

// githubSort filters by state and sorts: newest first, unless asked otherwise.
func githubSort(q url.Values, list []Thread) []Thread {
	state := q.Get("state")
	list = slices.DeleteFunc(list, func(t Thread) bool {
		return state != "all" && (state == "closed") == (t.State == "open")
	})
	slices.SortStableFunc(list, func(a, b Thread) int {
		if q.Get("sort") == "updated" {
			return a.Updated.Truncate(time.Second).Compare(b.Updated.Truncate(time.Second))
		}
		return a.Created.Compare(b.Created)
	})
	if q.Get("direction") != "asc" {
		slices.Reverse(list)
	}
	return list
}

func (f *face) githubIssue(t Thread) map[string]any {
	repo := githubBase + "/repos/" + t.Repo
	issue := f.githubCommon(t)
	issue["repository_url"] = f.at(repo)
	issue["url"] = f.at(fmt.Sprintf("%s/issues/%d", repo, t.Number))
	issue["comments"] = t.Comments
	issue["state_reason"] = nil
	if t.Reason != "" {
		issue["state_reason"] = t.Reason
	}
	issue["performed_via_github_app"] = f.githubApp(t.Author)
	if t.Pull {
		merged := time.Time{}
		if t.State == "merged" {
			merged = t.Closed
		}
		issue["pull_request"] = map[string]any{"url": f.at(fmt.Sprintf("%s/pulls/%d", repo, t.Number)), "merged_at": githubTime(merged)}
	}
	return issue
}

func (f *face) githubPull(t Thread) map[string]any {
	pull := f.githubCommon(t)
	pull["head"], pull["base"] = f.githubEnd(t.Head), f.githubEnd(t.Base)
	pull["requested_reviewers"] = f.githubPeople(t.Reviewers)
	pull["merged_at"], pull["merge_commit_sha"] = nil, "0123456789012345678901234567890123456789" // a trial merge
	if t.State == "merged" {
		pull["merged_at"], pull["merge_commit_sha"] = githubTime(t.Closed), t.MergeSha
	}
	return pull
}

func (f *face) githubCommon(t Thread) map[string]any {
	state, labels := "closed", []any{}
	if t.State == "open" {
		state = "open"
	}
	for _, l := range t.Labels {
		labels = append(labels, map[string]any{"name": l})
	}
	return map[string]any{
		"id": t.ID, "number": t.Number, "state": state, "title": t.Title, "body": t.Body, "user": f.githubPerson(t.Author),
		"author_association": f.githubAssociation(t.Author), "labels": labels, "assignees": f.githubPeople(t.Assignees),
		"locked": t.Locked, "draft": t.Draft, "created_at": githubTime(t.Created), "updated_at": githubTime(t.Updated),
		"closed_at": githubTime(t.Closed),
	}
}

func (f *face) githubPeople(logins []string) []any {
	list := []any{}
	for _, l := range logins {
		list = append(list, f.githubPerson(l))
	}
	return list
}

// githubEnd is one end of a pull request; its repository may be gone.
func (f *face) githubEnd(e End) map[string]any {
	end := map[string]any{"ref": e.Branch, "sha": e.Sha, "repo": nil}
	if repo, ok := f.Repo(e.Repo); ok {
		end["repo"] = f.githubRepo(repo)
	} else if e.Repo != "" {
		end["repo"] = map[string]any{"id": 1, "full_name": e.Repo} // a fork that the world does not hold
	}
	return end
}
