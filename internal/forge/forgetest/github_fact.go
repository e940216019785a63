package forgetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
)

// githubHook is the one webhook that each repository has.
const githubHook = 1

// GitHubHook is the address of the webhook of each repository on a GitHub face.
const GitHubHook = "https://oneslot.example/hooks/hello"

func (f *face) githubFacts() {
	f.githubRoute("GET", "/commits", f.githubCommits)
	f.githubRoute("GET", "/commits/{sha}/check-runs", f.githubRuns)
	f.githubRoute("GET", "/commits/{sha}/status", f.githubStatus)
	f.githubRoute("GET", "/pulls/{number}/reviews", f.githubOnPull(f.githubReviews))
	f.githubRoute("GET", "/hooks", f.githubAdmin(func(r *http.Request, _ Repo) reply {
		hooks := []string{GitHubHook, "https://somebody.example/else"}
		return githubPage(f, r, hooks, func(address string) any {
			return map[string]any{"id": githubHook + slices.Index(hooks, address), "active": true, "config": map[string]any{"url": address}}
		})
	}))
	f.githubRoute("GET", "/hooks/{hook}/deliveries", f.githubAdmin(f.githubDeliveries))
	f.githubRoute("POST", "/hooks/{hook}/deliveries/{id}/attempts", f.githubAdmin(func(r *http.Request, repo Repo) reply {
		if number(r.PathValue("hook")) != githubHook || !f.Redeliver(repo.Path, int64(number(r.PathValue("id")))) {
			return f.failed(http.StatusNotFound, "Not Found")
		}
		return reply{status: http.StatusAccepted, body: map[string]any{}}
	}))
}

// githubAdmin: who may not read webhooks gets a 404, as if there were none.
func (f *face) githubAdmin(do func(r *http.Request, repo Repo) reply) func(*http.Request, User, Repo) reply {
	return func(r *http.Request, u User, repo Repo) reply {
		if !u.Writer {
			return f.failed(http.StatusNotFound, "Not Found")
		}
		return do(r, repo)
	}
}

// githubDeliveries pages by a cursor, which is the id of the last one told.
func (f *face) githubDeliveries(r *http.Request, repo Repo) reply {
	if number(r.PathValue("hook")) != githubHook {
		return f.failed(http.StatusNotFound, "Not Found")
	}
	all := f.Deliveries(repo.Path)
	slices.Reverse(all)
	if cursor := int64(number(r.URL.Query().Get("cursor"))); cursor > 0 {
		all = slices.DeleteFunc(all, func(d Delivery) bool { return d.ID >= cursor })
	}
	a := githubPage(f, r, all, func(d Delivery) any {
		return map[string]any{
			"id": d.ID, "guid": d.GUID, "event": d.Event, "status_code": d.Status, "redelivery": false, "delivered_at": githubTime(d.At),
		}
	})
	if p := paged(r, len(all), "per_page", 30, 100); p.hi < len(all) {
		to := fmt.Sprintf("%s?per_page=%d&cursor=%d", f.at(r.URL.EscapedPath()), p.per, all[p.hi-1].ID)
		a.header = http.Header{"Link": {"<" + to + `>; rel="next"`}}
	}
	return a
}

func (f *face) githubCommits(r *http.Request, _ User, repo Repo) reply {
	all := f.Commits(repo.Path)
	if len(all) == 0 {
		return f.failed(http.StatusConflict, "Git Repository is empty.")
	}
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	all = slices.DeleteFunc(all, func(c forge.Commit) bool { return c.At.Truncate(time.Second).Before(since) })
	return githubPage(f, r, all, func(c forge.Commit) any {
		return map[string]any{"sha": c.Sha, "commit": map[string]any{"message": c.Message, "committer": map[string]any{"date": githubTime(c.At)}}}
	})
}

func (f *face) githubRuns(r *http.Request, _ User, in Repo) reply {
	all := f.githubNewest(f.commit(in, r.PathValue("sha")), true)
	a := githubPage(f, r, all, func(c Check) any {
		run := map[string]any{
			"id": c.ID, "name": c.Name, "head_sha": r.PathValue("sha"), "status": "completed", "conclusion": c.State,
			"started_at": githubTime(c.At), "completed_at": githubTime(c.At), "app": map[string]any{"id": 15368, "slug": c.App},
		}
		if c.State == forge.Pending {
			run["status"], run["conclusion"], run["completed_at"] = "in_progress", nil, nil
		}
		return run
	})
	a.body = map[string]any{"total_count": len(all), "check_runs": a.body}
	return a
}

func (f *face) githubStatus(r *http.Request, _ User, in Repo) reply {
	all := f.githubNewest(f.commit(in, r.PathValue("sha")), false)
	a := githubPage(f, r, all, func(c Check) any {
		return map[string]any{
			"id": c.ID, "context": c.Name, "state": c.State, "created_at": githubTime(c.At), "updated_at": githubTime(c.At),
		}
	})
	a.body = map[string]any{"sha": r.PathValue("sha"), "total_count": len(all), "statuses": a.body}
	return a
}

// githubNewest gives the newest result of each name: of check runs, or of statuses,
// which are never neutral.
func (f *face) githubNewest(sha string, runs bool) []Check {
	var list []Check
	for _, c := range f.Checks(sha) {
		list = slices.DeleteFunc(list, func(old Check) bool { return old.Name == c.Name })
		if (c.App != "" || c.State == forge.Neutral) == runs {
			list = append(list, c)
		}
	}
	return list
}

func (f *face) githubReviews(r *http.Request, _ User, t Thread) reply {
	return githubPage(f, r, f.Reviews(t.At), func(v Review) any {
		return map[string]any{
			"id": v.ID, "user": f.githubPerson(v.Author), "author_association": f.githubAssociation(v.Author), "body": v.Body,
			"state": strings.ToUpper(v.State), "commit_id": v.Sha, "submitted_at": githubTime(v.At),
		}
	})
}

func (f *face) githubEvents(r *http.Request, _ User, t Thread) reply {
	return githubPage(f, r, t.Events, func(e Event) any {
		event := map[string]any{"id": e.ID, "event": e.Kind, "actor": f.githubPerson(e.Actor), "created_at": githubTime(e.At)}
		if e.Label != "" {
			event["label"] = map[string]any{"name": e.Label}
		}
		return event
	})
}
