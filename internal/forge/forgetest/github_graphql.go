package forgetest

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// githubGraphQL knows the operations that our client sends, by their names. Failures
// are 200, too.
func (f *face) githubGraphQL(r *http.Request, u User) reply {
	var in struct {
		Query     string
		Variables struct {
			Owner, Name, After string
			Number             int
		}
	}
	if err := decode(r, &in); err != nil {
		return f.failed(http.StatusBadRequest, "Problems parsing JSON")
	}
	if u.Login == "" {
		return f.failed(http.StatusUnauthorized, "This endpoint requires you to be authenticated.")
	}
	name := regexp.MustCompile(`^\s*query\s+(\w+)`).FindStringSubmatch(in.Query)
	if name == nil {
		return githubFailed("UNKNOWN", "A query string must be provided")
	}
	if name[1] == "Viewer" {
		return githubData(map[string]any{"viewer": f.githubActor(u.Login)})
	}
	repo, ok := f.Repo(in.Variables.Owner + "/" + in.Variables.Name)
	if !ok || !sees(u, repo) {
		return githubFailed("NOT_FOUND", "Could not resolve to a Repository with the name '"+in.Variables.Owner+"/"+in.Variables.Name+"'.")
	}
	t, ok := f.Thread(At{Repo: repo.Path, Number: in.Variables.Number})
	switch {
	case !ok || t.MovedTo != nil:
		return githubFailed("NOT_FOUND", "Could not resolve to an issue or pull request with the number of "+strconv.Itoa(in.Variables.Number)+".")
	case name[1] == "Threads" && t.Pull:
		reviews := f.Reviews(t.At)
		page := githubNodes(f.Talks(t.At), in.Variables.After, 100, func(talk Talk) any { return f.githubTalk(talk, reviews) })
		return githubData(map[string]any{"repository": map[string]any{"pullRequest": map[string]any{"reviewThreads": page}}})
	case name[1] == "Closing":
		links, field, kind := f.githubLinks(t), "pulls", "Issue"
		if t.Pull {
			field, kind = "issues", "PullRequest"
		}
		page := githubNodes(links, in.Variables.After, 50, f.githubLinked)
		return githubData(map[string]any{"repository": map[string]any{"issueOrPullRequest": map[string]any{"__typename": kind, field: page}}})
	}
	return githubFailed("UNKNOWN", "no such operation: "+name[1])
}

func githubData(data any) reply { return reply{body: map[string]any{"data": data}} }

func githubFailed(kind, message string) reply {
	return reply{body: map[string]any{"data": nil, "errors": []any{map[string]any{"type": kind, "message": message}}}}
}

// githubNodes is a page of a connection; a cursor is the place of the next node.
func githubNodes[T any](all []T, after string, most int, payload func(T) any) any {
	lo := min(number(after), len(all))
	hi := min(lo+most, len(all))
	nodes := []any{}
	for _, one := range all[lo:hi] {
		nodes = append(nodes, payload(one))
	}
	return map[string]any{"pageInfo": map[string]any{"hasNextPage": hi < len(all), "endCursor": strconv.Itoa(hi)}, "nodes": nodes}
}

// githubActor leaves the "[bot]" of a login away, but for the viewer.
func (f *face) githubActor(login string) map[string]any {
	u, _ := f.User(login)
	kind := "User"
	if u.Bot {
		kind = "Bot"
	}
	return map[string]any{"__typename": kind, "login": login}
}

func (f *face) githubAuthor(login string) map[string]any {
	a := f.githubActor(login)
	a["login"] = strings.TrimSuffix(login, "[bot]")
	return a
}

func (f *face) githubTalk(t Talk, reviews []Review) any {
	last := t.List[len(t.List)-1]
	published := last.Created
	if i := slices.IndexFunc(reviews, func(r Review) bool { return r.ID == t.Review }); i >= 0 && reviews[i].At.After(published) {
		published = reviews[i].At
	}
	return map[string]any{
		"id": "PRRT_" + strconv.FormatInt(t.ID, 10), "isResolved": t.Resolved,
		"comments": map[string]any{"nodes": []any{map[string]any{
			"fullDatabaseId": strconv.FormatInt(last.ID, 10), "body": last.Body, "createdAt": githubTime(last.Created),
			"publishedAt": githubTime(published),
			"updatedAt":   githubTime(last.Updated), "authorAssociation": f.githubAssociation(last.Author), "author": f.githubAuthor(last.Author),
		}}},
	}
}

// githubLinks gives the issues that a pull request closes, or the pull requests that
// close an issue.
func (f *face) githubLinks(t Thread) []Thread {
	var list []Thread
	for _, at := range t.Closes {
		if issue, ok := f.Thread(at); ok {
			list = append(list, issue)
		}
	}
	if t.Pull {
		return list
	}
	for _, repo := range f.Repos() {
		for _, p := range f.Threads(repo.Path) {
			if slices.ContainsFunc(p.Closes, func(at At) bool { issue, ok := f.Thread(at); return ok && issue.At == t.At }) {
				list = append(list, p)
			}
		}
	}
	return list
}

func (f *face) githubLinked(t Thread) any {
	repo, _ := f.Repo(t.Repo)
	node := map[string]any{
		"number": t.Number, "title": t.Title, "state": strings.ToUpper(t.State), "createdAt": githubTime(t.Created),
		"updatedAt": githubTime(t.Updated), "closedAt": githubTime(t.Closed), "authorAssociation": f.githubAssociation(t.Author),
		"author": f.githubAuthor(t.Author), "repository": map[string]any{"nameWithOwner": repo.Path, "databaseId": repo.ID},
	}
	if !t.Pull {
		return node
	}
	node["isDraft"], node["headRefName"], node["headRefOid"] = t.Draft, t.Head.Branch, t.Head.Sha
	node["baseRefName"], node["baseRefOid"], node["headRepository"] = t.Base.Branch, t.Base.Sha, nil
	if t.Head.Repo != "" {
		node["headRepository"] = map[string]any{"nameWithOwner": t.Head.Repo}
	}
	if t.State == "merged" {
		node["mergedAt"], node["mergeCommit"] = githubTime(t.Closed), map[string]any{"oid": t.MergeSha}
	}
	return node
}
