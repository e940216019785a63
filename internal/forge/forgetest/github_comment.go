package forgetest

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

func (f *face) githubComments() {
	f.githubRoute("GET", "/issues/{number}/{what}", f.githubBelow(map[string]onRepo{
		"events": f.githubOn(f.githubEvents),
		"comments": f.githubOn(func(r *http.Request, _ User, t Thread) reply {
			return githubPage(f, r, f.Listed(t.At), func(c Comment) any { return f.githubComment(c) })
		}),
	}, f.githubOne(func(_ *http.Request, c Comment) reply { return reply{body: f.githubComment(c)} })))
	f.githubRoute("POST", "/issues/{number}/comments", f.githubOn(f.githubPost))
	f.githubRoute("PATCH", "/issues/{number}/{what}", f.githubBelow(nil, f.githubOwn(f.githubEdit)))
	f.githubRoute("DELETE", "/issues/{number}/{what}", f.githubBelow(map[string]onRepo{"lock": f.githubOn(f.githubLock)},
		f.githubOwn(func(_ *http.Request, c Comment) reply {
			f.DeleteComment(c.ID)
			return reply{status: http.StatusNoContent}
		})))
}

type onRepo = func(r *http.Request, u User, repo Repo) reply

// githubBelow tells issues/comments/{id} from issues/{number}/{what}, which a mux cannot
// have both.
func (f *face) githubBelow(of map[string]onRepo, comment onRepo) onRepo {
	return func(r *http.Request, u User, repo Repo) reply {
		what := r.PathValue("what")
		if r.PathValue("number") == "comments" {
			r.SetPathValue("id", what)
			return comment(r, u, repo)
		}
		if do := of[what]; do != nil {
			return do(r, u, repo)
		}
		return f.failed(http.StatusNotFound, "Not Found")
	}
}

func (f *face) githubPost(r *http.Request, u User, t Thread) reply {
	body, bad := f.githubBody(r)
	switch {
	case u.Login == "":
		return f.failed(http.StatusUnauthorized, "Requires authentication")
	case t.Locked && !u.Writer:
		return f.failed(http.StatusForbidden, "Unable to create comment because issue is locked.")
	case bad != nil:
		return *bad
	}
	return reply{status: http.StatusCreated, body: f.githubComment(f.Post(t.At, u.Login, body))}
}

func (f *face) githubEdit(r *http.Request, c Comment) reply {
	body, bad := f.githubBody(r)
	if bad != nil {
		return *bad
	}
	edited, ok := f.EditComment(c.ID, body)
	if !ok {
		return f.failed(http.StatusNotFound, "Not Found")
	}
	return reply{body: f.githubComment(edited)}
}

// githubBody reads a comment's body; an empty or a long one is refused.
func (f *face) githubBody(r *http.Request) (string, *reply) {
	var in struct{ Body string }
	if err := decode(r, &in); err != nil {
		bad := f.failed(http.StatusBadRequest, "Problems parsing JSON")
		return "", &bad
	}
	if strings.TrimSpace(in.Body) == "" || utf8.RuneCountInString(in.Body) > 65536 {
		bad := f.failed(http.StatusUnprocessableEntity, "Validation Failed: Body is too long (maximum is 65536 characters)")
		return "", &bad
	}
	return in.Body, nil
}

// githubOne finds the comment of a route.
func (f *face) githubOne(do func(r *http.Request, c Comment) reply) func(*http.Request, User, Repo) reply {
	return func(r *http.Request, _ User, repo Repo) reply {
		c, ok := f.Comment(int64(number(r.PathValue("id"))))
		if !ok || c.Thread.Repo != repo.Path {
			return f.failed(http.StatusNotFound, "Not Found")
		}
		return do(r, c)
	}
}

// githubOwn lets pass who wrote the comment, and who may write anything.
func (f *face) githubOwn(do func(r *http.Request, c Comment) reply) func(*http.Request, User, Repo) reply {
	return func(r *http.Request, u User, repo Repo) reply {
		return f.githubOne(func(r *http.Request, c Comment) reply {
			if c.Author != u.Login && !u.Writer {
				return f.failed(http.StatusForbidden, "Must have admin rights to Repository.")
			}
			return do(r, c)
		})(r, u, repo)
	}
}

func (f *face) githubComment(c Comment) map[string]any {
	return map[string]any{
		"id": c.ID, "body": c.Body, "user": f.githubPerson(c.Author), "author_association": f.githubAssociation(c.Author),
		"performed_via_github_app": f.githubApp(c.Author), "created_at": githubTime(c.Created), "updated_at": githubTime(c.Updated),
		"url": f.at(githubBase + "/repos/" + c.Thread.Repo + "/issues/comments"),
	}
}

func (f *face) githubLabel(r *http.Request, u User, t Thread) reply {
	var names []string
	switch err := decode(r, &names); {
	case err != nil:
		return f.failed(http.StatusBadRequest, "Problems parsing JSON")
	case !u.Writer:
		return f.failed(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	for _, name := range names {
		f.Label(t.At, name, true, u.Login)
	}
	return f.githubLabels(t.At)
}

func (f *face) githubUnlabel(r *http.Request, u User, t Thread) reply {
	name := r.PathValue("label")
	switch {
	case !u.Writer:
		return f.failed(http.StatusForbidden, "Must have admin rights to Repository.")
	case !slices.Contains(t.Labels, name):
		return f.failed(http.StatusNotFound, "Label does not exist")
	}
	f.Label(t.At, name, false, u.Login)
	return f.githubLabels(t.At)
}

func (f *face) githubLabels(at At) reply {
	t, _ := f.Thread(at)
	return reply{body: f.githubCommon(t)["labels"]}
}

func (f *face) githubLock(r *http.Request, u User, t Thread) reply {
	if !u.Writer {
		return f.failed(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	f.Lock(t.At, r.Method == http.MethodPut, u.Login)
	return reply{status: http.StatusNoContent}
}
