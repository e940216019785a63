package forgetest

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

func (f *face) giteaIssue(t Thread) object {
	owner, name, _ := strings.Cut(t.Repo, "/")
	in, _ := f.Repo(t.Repo)
	api := f.at("/api/v1/repos/" + t.Repo + "/issues/" + strconv.Itoa(t.Number))
	page := f.at("/" + t.Repo + "/" + map[bool]string{true: "pulls", false: "issues"}[t.Pull] + "/" + strconv.Itoa(t.Number))
	var pull any
	if t.Pull {
		merged := t.State == "merged"
		meta := object{"merged": merged, "merged_at": nil, "draft": t.Draft, "html_url": page}
		if merged {
			meta["merged_at"] = giteaTimeOrNull(t.Closed)
		}
		pull = meta
	}
	return object{
		"id": t.ID, "url": api, "html_url": page, "number": t.Number, "user": f.giteaUser(t.Author), "title": giteaTitle(t),
		"body": t.Body, "labels": f.giteaLabelsOf(t), "assignees": f.giteaUsers(t.Assignees), "state": giteaState(t),
		"is_locked": t.Locked, "comments": f.giteaCounter(t), "created_at": giteaTime(t.Created), "updated_at": giteaTime(t.Updated),
		"closed_at": giteaTimeOrNull(t.Closed), "due_date": nil, "pull_request": pull,
		"repository": object{"id": in.ID, "name": name, "owner": owner, "full_name": t.Repo},
	}
}

// giteaTitle: a draft is a title.
func giteaTitle(t Thread) string {
	if t.Draft && !strings.HasPrefix(t.Title, "WIP:") {
		return "WIP: " + t.Title
	}
	return t.Title
}

func giteaState(t Thread) string {
	if t.State == "open" {
		return "open"
	}
	return "closed"
}

// giteaCounter: since 1.23 Gitea counts a pull request's reviews, too. Before, and in
// Forgejo, each answer at a line counts, for good.
func (f *face) giteaCounter(t Thread) int {
	n := t.Comments
	switch {
	case !t.Pull || f.kind == Gogs:
	case f.kind == Gitea:
		n += len(f.Reviews(t.At))
		for _, v := range f.Talks(t.At) {
			if v.Review == 0 {
				n++
			}
		}
	default:
		for _, v := range f.Talks(t.At) {
			n += len(v.List) - 1 + v.Deleted
		}
	}
	return n
}

func (f *face) giteaUsers(logins []string) any {
	if len(logins) == 0 {
		return nil
	}
	var list []object
	for _, l := range logins {
		list = append(list, f.giteaUser(l))
	}
	return list
}

// giteaComments sends the whole conversation, whatever page is asked for.
func (f *face) giteaComments(_ *http.Request, _ User, t Thread) reply {
	list := []object{}
	for _, c := range f.Listed(t.At) {
		list = append(list, f.giteaCommentOf(c))
	}
	h := http.Header{}
	if f.kind != Gogs {
		h.Set("X-Total-Count", strconv.Itoa(len(list)))
	}
	return reply{header: h, body: list}
}

func (f *face) giteaCommentOf(c Comment) object {
	page := f.at("/" + c.Thread.Repo + "/issues/" + strconv.Itoa(c.Thread.Number))
	return object{
		"id": c.ID, "html_url": page + "#issuecomment-" + strconv.FormatInt(c.ID, 10), "issue_url": page, "pull_request_url": "",
		"user": f.giteaUser(c.Author), "body": c.Body, "assets": []any{},
		"created_at": giteaTime(c.Created), "updated_at": giteaTime(c.Updated),
	}
}

func (f *face) giteaComment(r *http.Request, u User, t Thread) reply {
	body, bad := f.giteaBody(r)
	if bad != nil {
		return *bad
	}
	if t.Locked && !u.Writer {
		return f.failed(http.StatusForbidden, "You cannot comment on a locked issue.")
	}
	return reply{status: http.StatusCreated, body: f.giteaCommentOf(f.Post(t.At, u.Login, body))}
}

func (f *face) giteaBody(r *http.Request) (string, *reply) {
	var in struct {
		Body string `json:"body"`
	}
	if err := decode(r, &in); err != nil || in.Body == "" {
		bad := f.failed(http.StatusUnprocessableEntity, "[Body]: Required")
		return "", &bad
	}
	return in.Body, nil
}

func (f *face) giteaEdit(r *http.Request, u User, _ Repo) reply {
	id := int64(number(r.PathValue("id")))
	body, bad := f.giteaBody(r)
	if bad != nil {
		return *bad
	}
	if refuse := f.giteaMayChange(u, id); refuse != nil {
		return *refuse
	}
	c, ok := f.EditComment(id, body)
	if !ok {
		return f.giteaMissing()
	}
	return reply{body: f.giteaCommentOf(c)}
}

func (f *face) giteaDelete(u User, id int) reply {
	if refuse := f.giteaMayChange(u, int64(id)); refuse != nil {
		return *refuse
	}
	f.DeleteComment(int64(id))
	return reply{status: http.StatusNoContent}
}

// giteaMayChange: one's own comments, and a writer all of them.
func (f *face) giteaMayChange(u User, id int64) *reply {
	c, ok := f.Comment(id)
	var refuse reply
	switch {
	case !ok:
		refuse = f.giteaMissing()
	case c.Author != u.Login && !u.Writer:
		refuse = f.failed(http.StatusForbidden, "")
	default:
		return nil
	}
	return &refuse
}

func (f *face) giteaLock(u User, t Thread, on bool) reply {
	switch {
	case f.kind == Forgejo: // Forgejo 15 has no such route
		return reply{status: http.StatusNotFound, header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, body: "404 page not found\n"}
	case !u.Writer:
		return f.failed(http.StatusForbidden, "user should have permission to write to this repo")
	}
	f.Lock(t.At, on, u.Login)
	return reply{status: http.StatusNoContent}
}

func (f *face) giteaLabelsOf(t Thread) []object {
	list := []object{}
	for _, name := range t.Labels {
		list = append(list, f.giteaLabel(t.Repo, name))
	}
	return list
}

func (f *face) giteaLabel(path, name string) object {
	id := f.labelID(path, name)
	return object{"id": id, "name": name, "color": "00aabb", "description": "", "exclusive": false, "is_archived": false,
		"url": f.at("/api/v1/repos/" + path + "/labels/" + strconv.FormatInt(id, 10))}
}

func (f *face) giteaLabels(r *http.Request, _ User, in Repo) reply {
	return giteaList(f, r, f.Labels(in.Path), func(name string) object { return f.giteaLabel(in.Path, name) })
}

func (f *face) giteaNewLabel(r *http.Request, u User, in Repo) reply {
	var want struct {
		Name string `json:"name"`
	}
	switch err := decode(r, &want); {
	case !u.Writer:
		return f.failed(http.StatusForbidden, "user should have permission to write to this repo")
	case err != nil || want.Name == "":
		return f.failed(http.StatusUnprocessableEntity, "[Name]: Required")
	}
	return reply{status: http.StatusCreated, body: f.giteaLabel(in.Path, want.Name)}
}

func (f *face) giteaAddLabels(r *http.Request, u User, t Thread) reply {
	var want struct {
		Labels []int64 `json:"labels"`
	}
	switch err := decode(r, &want); {
	case !u.Writer:
		return f.failed(http.StatusForbidden, "write permission is required")
	case err != nil:
		return f.failed(http.StatusUnprocessableEntity, err.Error())
	}
	for _, name := range f.Labels(t.Repo) {
		for _, id := range want.Labels {
			if f.labelID(t.Repo, name) == id { // an unknown id is passed over
				f.Label(t.At, name, true, u.Login)
			}
		}
	}
	now, _ := f.Thread(t.At)
	return reply{body: f.giteaLabelsOf(now)}
}

func (f *face) giteaRemoveLabel(r *http.Request, u User, t Thread) reply {
	if !u.Writer {
		return f.failed(http.StatusForbidden, "")
	}
	for _, name := range f.Labels(t.Repo) {
		if f.labelID(t.Repo, name) == int64(number(r.PathValue("id"))) {
			f.Label(t.At, name, false, u.Login)
			return reply{status: http.StatusNoContent}
		}
	}
	return f.failed(http.StatusUnprocessableEntity, "label does not exist")
}

// giteaTimeline mixes events and comments. Its X-Total-Count is the page's length.
func (f *face) giteaTimeline(r *http.Request, _ User, t Thread) reply {
	list := []object{}
	add := func(id int64, kind, by string, at time.Time, label any, body string) {
		list = append(list, object{"id": id, "type": kind, "user": f.giteaUser(by), "created_at": giteaTime(at),
			"updated_at": giteaTime(at), "body": body, "label": label, "html_url": f.at("/" + t.Repo)})
	}
	for _, c := range f.Listed(t.At) {
		add(c.ID, "comment", c.Author, c.Created, nil, "")
	}
	kinds := map[string]string{"closed": "close", "merged": "merge_pull", "reopened": "reopen", "labeled": "label", "unlabeled": "label",
		"locked": "lock", "unlocked": "unlock", "pushed": "pull_push"}
	for _, e := range t.Events {
		kind, known := kinds[e.Kind]
		if !known {
			continue
		}
		var label any
		if e.Label != "" {
			label = f.giteaLabel(t.Repo, e.Label) // an object, not a list
		}
		set := "" // of a label that is set; empty when it is taken away
		if e.Kind == "labeled" {
			set = "1"
		}
		add(e.ID, kind, e.Actor, e.At, label, set)
	}
	p := paged(r, len(list), "limit", giteaPage, giteaMost)
	return reply{header: http.Header{"X-Total-Count": {strconv.Itoa(p.hi - p.lo)}}, body: list[p.lo:p.hi]}
}
