package forgetest

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// gitlabNotes lists the notes of a thread: the conversation, the comments on lines, and
// GitLab's own on what changed.
func (f *face) gitlabNotes(r *http.Request, _ User, t Thread) reply {
	q := r.URL.Query()
	type entry struct {
		at time.Time
		id int64
		o  object
	}
	var all []entry
	add := func(c Comment, more object) {
		o := f.gitlabNote(c, t)
		for k, v := range more {
			o[k] = v
		}
		all = append(all, entry{c.Created, c.ID, o})
	}
	for _, c := range f.Listed(t.At) {
		add(c, nil)
	}
	for _, talk := range f.Talks(t.At) {
		for _, c := range talk.List {
			add(c, object{"type": "DiffNote", "resolvable": true, "resolved": talk.Resolved})
		}
	}
	for _, e := range t.Events {
		if e.Kind != "opened" {
			c := Comment{ID: e.ID + 1_000_000_000, Author: e.Actor, Body: e.Kind + " " + e.Label, Created: e.At, Updated: e.At}
			add(c, object{"system": true})
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		by := cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id))
		if q.Get("sort") != "asc" {
			by = -by
		}
		return by
	})
	return gitlabList(f, r, all, func(e entry) object { return e.o })
}

func (f *face) gitlabNote(c Comment, t Thread) object {
	return object{
		"id": c.ID, "type": nil, "body": c.Body, "author": f.gitlabUser(c.Author), "system": false, "resolvable": false,
		"noteable_iid": t.Number, "noteable_type": map[bool]string{true: "MergeRequest", false: "Issue"}[t.Pull],
		"internal": false, "created_at": gitlabTime(c.Created), "updated_at": gitlabTime(c.Updated),
	}
}

func (f *face) gitlabNewNote(r *http.Request, u User, t Thread) reply {
	body, bad := f.gitlabBody(r)
	switch {
	case bad != nil:
		return *bad
	case t.Locked && !u.Writer:
		return f.failed(http.StatusForbidden, "403 Forbidden")
	}
	return reply{status: http.StatusCreated, body: f.gitlabNote(f.Post(t.At, u.Login, body), t)}
}

func (f *face) gitlabBody(r *http.Request) (string, *reply) {
	var in struct {
		Body string `json:"body"`
	}
	switch err := decode(r, &in); {
	case err != nil || in.Body == "":
		return "", &reply{status: http.StatusBadRequest, body: object{"error": "body is missing"}}
	case len(in.Body) > 1_000_000:
		return "", &reply{status: http.StatusBadRequest, body: object{"message": object{"note": []string{"is too long (maximum is 1000000 characters)"}}}}
	}
	return in.Body, nil
}

// gitlabMayChange finds a note of a thread that the user may change: its own, or any
// for whoever may push.
func (f *face) gitlabMayChange(r *http.Request, u User, t Thread) (int64, *reply) {
	c, ok := f.Comment(int64(number(r.PathValue("note"))))
	if !ok || c.Thread != t.At {
		missing := f.failed(http.StatusNotFound, "404 Note Not Found")
		return 0, &missing
	}
	if c.Author != u.Login && !u.Writer {
		forbidden := f.failed(http.StatusForbidden, "403 Forbidden")
		return 0, &forbidden
	}
	return c.ID, nil
}

func (f *face) gitlabEditNote(r *http.Request, u User, t Thread) reply {
	body, bad := f.gitlabBody(r)
	if bad != nil {
		return *bad
	}
	id, bad := f.gitlabMayChange(r, u, t)
	if bad != nil {
		return *bad
	}
	c, _ := f.EditComment(id, body)
	return reply{body: f.gitlabNote(c, t)}
}

func (f *face) gitlabDeleteNote(r *http.Request, u User, t Thread) reply {
	id, bad := f.gitlabMayChange(r, u, t)
	if bad != nil {
		return *bad
	}
	f.DeleteComment(id)
	return reply{status: http.StatusNoContent}
}
