package forgetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

const githubBase = "/api/v3"

// github registers the routes of a GitHub Enterprise Server; github.com differs in
// nothing but the base of its addresses.
func (f *face) github() {
	f.etag = true
	f.handle("GET "+githubBase+"/user", f.githubUser)
	f.handle("GET "+githubBase+"/installation/repositories", f.githubInstallation)
	f.handle("GET "+githubBase+"/user/repos", func(r *http.Request, u User) reply { return f.githubRepos(r, u, "") })
	f.handle("GET "+githubBase+"/orgs/{owner}/repos", f.githubOwner)
	f.handle("GET "+githubBase+"/users/{owner}/repos", f.githubOwner)
	f.handle("POST /api/graphql", f.githubGraphQL)
	f.githubThreads()
	f.githubComments()
	f.githubFacts()
}

// githubRoute registers a route below a repository, by its name and by its id. A
// former name leads to the id: 301 for reads, 307 for writes.
func (f *face) githubRoute(method, rest string, do func(r *http.Request, u User, repo Repo) reply) {
	f.handle(method+" "+githubBase+"/repos/{owner}/{repo}"+rest, func(r *http.Request, u User) reply {
		path := r.PathValue("owner") + "/" + r.PathValue("repo")
		repo, ok := f.Repo(path)
		switch {
		case !ok || !sees(u, repo):
			return f.failed(http.StatusNotFound, "Not Found")
		case !strings.EqualFold(path, repo.Path):
			_, rest, _ := strings.Cut(r.URL.EscapedPath(), path)
			return f.githubMoved(r, fmt.Sprintf("/repositories/%d%s", repo.ID, rest))
		}
		return do(r, u, repo)
	})
	f.handle(method+" "+githubBase+"/repositories/{repository}"+rest, func(r *http.Request, u User) reply {
		repo, ok := f.RepoByID(int64(number(r.PathValue("repository"))))
		if !ok || !sees(u, repo) {
			return f.failed(http.StatusNotFound, "Not Found")
		}
		return do(r, u, repo)
	})
}

// githubMoved leads to another path. The address is our own: Poison is for payloads.
func (f *face) githubMoved(r *http.Request, path string) reply {
	status := http.StatusMovedPermanently
	if r.Method != http.MethodGet {
		status = http.StatusTemporaryRedirect
	}
	to := f.own + githubBase + path
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	return reply{status: status, header: http.Header{"Location": {to}}, body: map[string]any{"message": "Moved Permanently", "url": to}}
}

// sees: a private repository is there for those who have a token.
func sees(u User, repo Repo) bool { return repo.Public || u.Login != "" }

func (f *face) githubUser(_ *http.Request, u User) reply {
	switch {
	case u.Login == "":
		return f.failed(http.StatusUnauthorized, "Requires authentication")
	case u.App != "":
		return f.failed(http.StatusForbidden, "Resource not accessible by integration")
	}
	return reply{body: f.githubPerson(u.Login)}
}

func (f *face) githubInstallation(r *http.Request, u User) reply {
	if u.App == "" {
		return f.failed(http.StatusForbidden, "You must authenticate with an installation access token in order to list repositories for an installation.")
	}
	a := f.githubRepos(r, u, "")
	a.body = map[string]any{"total_count": len(f.Repos()), "repositories": a.body}
	return a
}

func (f *face) githubOwner(r *http.Request, u User) reply {
	owner := r.PathValue("owner")
	if !slices.ContainsFunc(f.Repos(), func(repo Repo) bool { return strings.HasPrefix(strings.ToLower(repo.Path), strings.ToLower(owner)+"/") }) {
		return f.failed(http.StatusNotFound, "Not Found")
	}
	return f.githubRepos(r, u, owner)
}

// githubRepos lists an owner's repositories, or all.
func (f *face) githubRepos(r *http.Request, u User, owner string) reply {
	all := slices.DeleteFunc(f.Repos(), func(repo Repo) bool {
		name, _, _ := strings.Cut(repo.Path, "/")
		return !sees(u, repo) || owner != "" && !strings.EqualFold(name, owner)
	})
	return githubPage(f, r, all, f.githubRepo)
}

func (f *face) githubRepo(repo Repo) any {
	owner, name, _ := strings.Cut(repo.Path, "/")
	visibility := map[bool]string{true: "public", false: "private"}[repo.Public]
	return map[string]any{
		"id": repo.ID, "name": name, "full_name": repo.Path, "owner": f.githubPerson(owner), "private": !repo.Public,
		"visibility": visibility, "default_branch": repo.Default, "archived": repo.Archived, "updated_at": githubTime(repo.Updated),
		"url": f.at(githubBase + "/repos/" + repo.Path),
	}
}

// githubPage is a page of a list: 30 if nothing is said, never more than 100.
func githubPage[T any](f *face, r *http.Request, all []T, payload func(T) any) reply {
	p := paged(r, len(all), "per_page", 30, 100)
	page := make([]any, 0, p.hi-p.lo)
	for _, one := range all[p.lo:p.hi] {
		page = append(page, payload(one))
	}
	a := reply{body: page}
	if link := f.link(r, p); link != "" {
		a.header = http.Header{"Link": {link}}
	}
	return a
}

// githubTime is a time as payloads have it; nil for none.
func githubTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

func (f *face) githubPerson(login string) map[string]any {
	u, _ := f.User(login)
	kind := "User"
	if u.Bot {
		kind = "Bot"
	}
	return map[string]any{"id": u.ID, "login": login, "type": kind, "url": f.at(githubBase + "/users/" + login)}
}

// githubApp is the app that an account writes through; nil if it is none.
func (f *face) githubApp(login string) any {
	u, _ := f.User(login)
	if u.App == "" {
		return nil
	}
	return map[string]any{"id": u.ID, "slug": u.App}
}

func (f *face) githubAssociation(login string) string {
	u, _ := f.User(login)
	if u.Association == "" {
		return "NONE"
	}
	return strings.ToUpper(u.Association)
}
