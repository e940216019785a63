package forgetest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Pages of GitLab.
const (
	gitlabPage = 20
	gitlabMost = 100
)

// gitlab registers the routes of a GitLab server, as its manual and its source tell.
func (f *face) gitlab() {
	const project = "/api/v4/projects/{id}"
	f.handle("GET /api/v4/user", func(_ *http.Request, u User) reply {
		if u.Login == "" {
			return f.failed(http.StatusUnauthorized, "401 Unauthorized")
		}
		return reply{body: f.gitlabUser(u.Login)}
	})
	f.handle("GET /api/v4/projects", f.gitlabProjects)
	f.handle("POST /api/graphql", f.gitlabGraphQL)

	f.inProject("GET "+project, func(_ *http.Request, _ User, in Repo) reply { return reply{body: f.gitlabProject(in)} })
	f.inProject("GET "+project+"/repository/commits", f.gitlabCommits)
	f.inProject("GET "+project+"/repository/commits/{sha}", f.gitlabCommit)
	f.inProject("GET "+project+"/repository/commits/{sha}/statuses", f.gitlabStatuses)
	f.inProject("GET "+project+"/repository/commits/{sha}/merge_requests", f.gitlabByCommit)
	f.inProject("GET "+project+"/pipelines", f.gitlabPipelines)
	f.inProject("GET "+project+"/pipelines/{n}", f.gitlabPipeline)

	for _, pull := range []bool{false, true} {
		what := project + map[bool]string{false: "/issues", true: "/merge_requests"}[pull]
		f.inProject("GET "+what, func(r *http.Request, _ User, in Repo) reply { return f.gitlabThreads(r, in, pull) })
		in := func(pattern string, do func(*http.Request, User, Thread) reply) {
			method, rest, _ := strings.Cut(pattern, " ")
			f.inProject(method+" "+what+"/{n}"+rest, func(r *http.Request, u User, in Repo) reply {
				t, ok := f.Thread(At{Repo: in.Path, Number: number(r.PathValue("n")), Pull: pull})
				if !ok {
					return f.failed(http.StatusNotFound, "404 Not found")
				}
				return do(r, u, t)
			})
		}
		in("GET ", func(_ *http.Request, _ User, t Thread) reply { return reply{body: f.gitlabThread(t)} })
		in("PUT ", f.gitlabUpdate)
		in("GET /notes", f.gitlabNotes)
		in("POST /notes", f.gitlabNewNote)
		in("PUT /notes/{note}", f.gitlabEditNote)
		in("DELETE /notes/{note}", f.gitlabDeleteNote)
		in("GET /resource_state_events", f.gitlabStates)
		in("GET /resource_label_events", f.gitlabLabelled)
		if pull {
			in("GET /approvals", f.gitlabApprovals)
			in("GET /reviewers", f.gitlabReviewers)
			in("GET /discussions", f.gitlabDiscussions)
			in("GET /closes_issues", f.gitlabCloses)
		} else {
			in("GET /closed_by", func(r *http.Request, _ User, t Thread) reply { return f.gitlabClosing(r, t, true) })
			in("GET /related_merge_requests", func(r *http.Request, _ User, t Thread) reply { return f.gitlabClosing(r, t, false) })
		}
	}
}

// inProject registers a route below a project, by its id or its path. A former path
// leads on for GET alone.
func (f *face) inProject(pattern string, do func(*http.Request, User, Repo) reply) {
	f.handle(pattern, func(r *http.Request, u User) reply {
		asked := r.PathValue("id")
		in, ok := f.RepoByID(int64(number(asked)))
		if strings.Contains(asked, "/") {
			in, ok = f.Repo(asked)
		}
		switch {
		case !ok || !in.Public && u.Login == "":
			return f.failed(http.StatusNotFound, "404 Project Not Found")
		case strings.Contains(asked, "/") && !strings.EqualFold(asked, in.Path) && r.Method != http.MethodGet:
			return f.failed(http.StatusMethodNotAllowed, "405 Non GET methods are not allowed for moved projects")
		case strings.Contains(asked, "/") && !strings.EqualFold(asked, in.Path):
			to := strings.Replace(r.URL.RequestURI(), url.PathEscape(asked), strconv.FormatInt(in.ID, 10), 1)
			return reply{status: http.StatusFound, header: http.Header{"Location": {f.at(to)}}, body: "This resource has been moved temporarily"}
		case r.Method != http.MethodGet && u.Login == "":
			return f.failed(http.StatusUnauthorized, "401 Unauthorized")
		}
		return do(r, u, in)
	})
}

// gitlabList sends one page.
func gitlabList[T any](f *face, r *http.Request, all []T, one func(T) object) reply {
	p := paged(r, len(all), "per_page", gitlabPage, gitlabMost)
	list := make([]object, 0, p.hi-p.lo)
	for _, v := range all[p.lo:p.hi] {
		list = append(list, one(v))
	}
	h := http.Header{
		"X-Page": {strconv.Itoa(p.page)}, "X-Per-Page": {strconv.Itoa(p.per)}, "X-Next-Page": {""}, "X-Prev-Page": {""},
		"X-Total": {strconv.Itoa(len(all))}, "X-Total-Pages": {strconv.Itoa(p.last)}, "Link": {f.link(r, p)},
	}
	if p.page < p.last {
		h.Set("X-Next-Page", strconv.Itoa(p.page+1))
	}
	if p.page > 1 {
		h.Set("X-Prev-Page", strconv.Itoa(p.page-1))
	}
	return reply{header: h, body: list}
}

// gitlabProjects lists by key: each page says what comes after it, by a Link alone.
func (f *face) gitlabProjects(r *http.Request, _ User) reply {
	q := r.URL.Query()
	all := f.Repos()
	slices.SortFunc(all, func(a, b Repo) int { return int(a.ID - b.ID) })
	if q.Get("pagination") != "keyset" {
		return gitlabList(f, r, all, f.gitlabProject)
	}
	all = slices.DeleteFunc(all, func(in Repo) bool { return in.ID <= int64(number(q.Get("id_after"))) })
	per := min(max(1, number(q.Get("per_page"))), gitlabMost)
	h := http.Header{}
	if len(all) > per {
		all = all[:per]
		q.Set("id_after", strconv.FormatInt(all[per-1].ID, 10))
		h.Set("Link", fmt.Sprintf("<%s?%s>; rel=\"next\"", f.at(r.URL.EscapedPath()), q.Encode()))
	}
	list := []object{}
	for _, in := range all {
		list = append(list, f.gitlabProject(in))
	}
	return reply{header: h, body: list}
}

func (f *face) gitlabProject(in Repo) object {
	group, name := in.Path[:strings.LastIndexByte(in.Path, '/')], in.Path[strings.LastIndexByte(in.Path, '/')+1:]
	return object{
		"id": in.ID, "name": name, "path": name, "path_with_namespace": in.Path, "default_branch": in.Default,
		"visibility": map[bool]string{true: "public", false: "private"}[in.Public], "archived": in.Archived,
		"web_url": f.at("/" + in.Path), "http_url_to_repo": f.at("/" + in.Path + ".git"),
		"namespace":        object{"id": in.ID + 1, "full_path": group, "kind": "group"},
		"last_activity_at": gitlabTime(in.Updated), "updated_at": gitlabTime(in.Updated), "created_at": gitlabTime(in.Updated),
	}
}

// gitlabUser shows an account as others see it: nothing says whether it is a bot.
func (f *face) gitlabUser(login string) object {
	u, _ := f.User(login)
	return object{
		"id": u.ID, "username": login, "name": login, "state": "active", "locked": false,
		"avatar_url": f.at("/avatars/" + url.PathEscape(login)), "web_url": f.at("/" + url.PathEscape(login)),
	}
}

func (f *face) gitlabUsers(logins []string) []object {
	list := []object{}
	for _, login := range logins {
		list = append(list, f.gitlabUser(login))
	}
	return list
}

// gitlabTime writes a time as the API does: with milliseconds.
func gitlabTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
