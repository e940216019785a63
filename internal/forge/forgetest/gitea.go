package forgetest

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Pages of Gitea, as it has them by default.
const (
	giteaPage = 30
	giteaMost = 50
)

// gitea registers the routes of a Gitea 1.25, a Forgejo 15 or a Gogs 0.14 server, as
// far as recorded answers and the sources tell. Gogs has few of them.
func (f *face) gitea() {
	const repo = "/api/v1/repos/{owner}/{repo}"
	f.handle("GET /api/v1/user", func(_ *http.Request, u User) reply {
		if u.Login == "" {
			return f.failed(http.StatusUnauthorized, "token is required")
		}
		return reply{body: f.giteaUser(u.Login)}
	})
	f.handle("GET /api/v1/user/repos", func(r *http.Request, _ User) reply { return f.giteaRepos(r, "") })
	f.handle("GET /api/v1/users/{owner}/repos", func(r *http.Request, _ User) reply { return f.giteaRepos(r, r.PathValue("owner")) })

	f.inRepo("GET "+repo, func(_ *http.Request, _ User, r Repo) reply { return reply{body: f.giteaRepo(r)} })
	f.inRepo("GET "+repo+"/issues", f.giteaIssues)
	f.inThread("GET "+repo+"/issues/{n}", func(_ *http.Request, _ User, t Thread) reply { return reply{body: f.giteaIssue(t)} })
	f.inThread("GET "+repo+"/issues/{n}/comments", f.giteaComments)
	f.inThread("POST "+repo+"/issues/{n}/comments", f.giteaComment)
	f.inRepo("PATCH "+repo+"/issues/comments/{id}", f.giteaEdit)
	f.inRepo("GET "+repo+"/labels", f.giteaLabels)
	f.inRepo("POST "+repo+"/labels", f.giteaNewLabel)
	f.inThread("POST "+repo+"/issues/{n}/labels", f.giteaAddLabels)
	f.inThread("DELETE "+repo+"/issues/{n}/labels/{id}", f.giteaRemoveLabel)
	if f.kind == Gogs {
		f.inThread("DELETE "+repo+"/issues/{n}/comments/{id}", func(r *http.Request, u User, _ Thread) reply {
			return f.giteaDelete(u, number(r.PathValue("id")))
		})
		return
	}
	f.handle("GET /api/v1/version", func(*http.Request, User) reply { return reply{body: map[string]string{"version": "1.25.4"}} })
	// One pattern for two routes, which would overlap: comments/{id} and {n}/lock.
	f.inRepo("DELETE "+repo+"/issues/{a}/{b}", func(r *http.Request, u User, in Repo) reply {
		if r.PathValue("a") == "comments" {
			return f.giteaDelete(u, number(r.PathValue("b")))
		}
		t, ok := f.Thread(At{Repo: in.Path, Number: number(r.PathValue("a"))})
		if !ok || r.PathValue("b") != "lock" {
			return f.giteaMissing()
		}
		return f.giteaLock(u, t, false)
	})
	f.inThread("PUT "+repo+"/issues/{n}/lock", func(_ *http.Request, u User, t Thread) reply { return f.giteaLock(u, t, true) })
	f.inThread("GET "+repo+"/issues/{n}/timeline", f.giteaTimeline)
	f.inRepo("GET "+repo+"/pulls", f.giteaPulls)
	f.inThread("GET "+repo+"/pulls/{n}", f.onlyPulls(func(_ *http.Request, _ User, t Thread) reply { return reply{body: f.giteaPull(t)} }))
	f.inThread("GET "+repo+"/pulls/{n}/reviews", f.onlyPulls(f.giteaReviews))
	f.inThread("GET "+repo+"/pulls/{n}/reviews/{id}/comments", f.onlyPulls(f.giteaReviewComments))
	f.inRepo("GET "+repo+"/commits", f.giteaCommits)
	f.inRepo("GET "+repo+"/commits/{sha}/status", f.giteaStatus)
}

// inRepo registers a route below a repository. A former name is answered with a
// redirect, for every method; Gogs has no redirects.
func (f *face) inRepo(pattern string, do func(*http.Request, User, Repo) reply) {
	f.handle(pattern, func(r *http.Request, u User) reply {
		asked := r.PathValue("owner") + "/" + r.PathValue("repo")
		in, ok := f.Repo(asked)
		if !ok || !in.Public && u.Login == "" {
			return f.giteaMissing()
		}
		if !strings.EqualFold(asked, in.Path) {
			if f.kind == Gogs {
				return f.giteaMissing()
			}
			to := strings.Replace(r.URL.EscapedPath(), asked, in.Path, 1)
			if r.URL.RawQuery != "" {
				to += "?" + r.URL.RawQuery
			}
			return reply{status: http.StatusTemporaryRedirect, header: http.Header{"Location": {to}}}
		}
		if r.Method != http.MethodGet && u.Login == "" {
			return f.failed(http.StatusUnauthorized, "token is required")
		}
		return do(r, u, in)
	})
}

func (f *face) inThread(pattern string, do func(*http.Request, User, Thread) reply) {
	f.inRepo(pattern, func(r *http.Request, u User, in Repo) reply {
		t, ok := f.Thread(At{Repo: in.Path, Number: number(r.PathValue("n"))})
		if !ok || t.MovedTo != nil {
			return f.giteaMissing()
		}
		return do(r, u, t)
	})
}

func (f *face) onlyPulls(do func(*http.Request, User, Thread) reply) func(*http.Request, User, Thread) reply {
	return func(r *http.Request, u User, t Thread) reply {
		if !t.Pull {
			return f.giteaMissing()
		}
		return do(r, u, t)
	}
}

func (f *face) giteaMissing() reply {
	return reply{status: http.StatusNotFound, body: object{"errors": nil, "message": "not found", "url": f.at("/api/swagger")}}
}

// object is a JSON object.
type object = map[string]any

// giteaList sends one page. Without a second page there is no Link. What one makes nil
// is left out of its page, but was counted.
func giteaList[T any](f *face, r *http.Request, all []T, one func(T) object) reply {
	p := paged(r, len(all), "limit", giteaPage, giteaMost)
	list := make([]object, 0, p.hi-p.lo)
	for _, v := range all[p.lo:p.hi] {
		if o := one(v); o != nil {
			list = append(list, o)
		}
	}
	h := http.Header{}
	if f.kind != Gogs {
		h.Set("X-Total-Count", strconv.Itoa(len(all)))
	}
	if p.last > 1 {
		h.Set("Link", f.link(r, p))
	}
	return reply{header: h, body: list}
}

func (f *face) giteaRepos(r *http.Request, owner string) reply {
	var all []Repo
	known := false
	for _, in := range f.allRepos() {
		of, _, _ := strings.Cut(in.Path, "/")
		if owner == "" && !in.Hidden || strings.EqualFold(of, owner) {
			all, known = append(all, in), true
		}
	}
	if owner != "" && !known {
		return f.giteaMissing()
	}
	return giteaList(f, r, all, func(in Repo) object {
		if in.Hidden {
			return nil
		}
		return f.giteaRepo(in)
	})
}

func (f *face) giteaIssues(r *http.Request, _ User, in Repo) reply {
	q := r.URL.Query()
	state := q.Get("state")
	if state == "" || f.kind == Gogs && state == "all" {
		state = "open"
	}
	since, _ := time.Parse(time.RFC3339, q.Get("since"))
	if f.kind == Gogs {
		since = time.Time{}
	}
	var all []Thread
	for _, t := range f.Threads(in.Path) {
		open := t.State == "open"
		switch {
		case state == "open" && !open, state == "closed" && open:
		case q.Get("type") == "pulls" && !t.Pull, q.Get("type") == "issues" && t.Pull:
		case t.Updated.Truncate(time.Second).Before(since):
		default:
			all = append([]Thread{t}, all...) // newest first
		}
	}
	return giteaList(f, r, all, f.giteaIssue)
}

// giteaUser shows an account as others see it.
func (f *face) giteaUser(login string) object {
	u, _ := f.User(login)
	id := u.ID
	if u.Bot {
		id = -2 // as the forge's own worker is
	}
	return object{
		"id": id, "login": login, "login_name": "", "full_name": "", "email": url.PathEscape(login) + "@noreply.localhost",
		"avatar_url": f.at("/avatars/" + url.PathEscape(login)), "html_url": f.at("/" + url.PathEscape(login)), "username": login,
		"created": giteaTime(f.now()), "last_login": "0001-01-01T00:00:00Z",
	}
}

func (f *face) giteaRepo(r Repo) object {
	owner, name, _ := strings.Cut(r.Path, "/")
	api := f.at("/api/v1/repos/" + r.Path)
	return object{
		"id": r.ID, "owner": f.giteaUser(owner), "name": name, "full_name": r.Path, "private": !r.Public, "fork": false,
		"url": api, "html_url": f.at("/" + r.Path), "clone_url": f.at("/" + r.Path + ".git"), "languages_url": api + "/languages",
		"default_branch": r.Default, "archived": r.Archived, "internal": false,
		"created_at": giteaTime(r.Updated), "updated_at": giteaTime(r.Updated),
	}
}

// giteaTime writes a time as the forge does: in whole seconds.
func giteaTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func giteaTimeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return giteaTime(t)
}
