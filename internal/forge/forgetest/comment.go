package forgetest

import (
	"slices"
	"strings"
	"time"
)

// Comment is a comment of a conversation.
type Comment struct {
	ID      int64
	Thread  At
	Author  string
	Body    string
	Created time.Time
	Updated time.Time
}

// comment has all its versions: a list that lags shows an older one, or none.
type comment struct {
	id       int64
	author   string
	created  time.Time
	versions []version
}

type version struct {
	body    string
	updated time.Time
	gone    bool
	shown   time.Time // from then on lists have it
	held    bool      // its write is not committed yet
}

func (c *comment) last() version { return c.versions[len(c.versions)-1] }

// listed is the version that a list shows at a time.
func (c *comment) listed(now time.Time) (v version, ok bool) {
	for _, known := range c.versions {
		if !known.held && !known.shown.After(now) {
			v, ok = known, true
		}
	}
	return v, ok && !v.gone
}

// AddComment writes a comment. Lists show it after Reads.Lag; the counter has it at
// once. Commit is for faces alone: see Post.
func (w *World) AddComment(at At, author, body string) Comment {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.comment(at, author, body, false)
}

// Post writes a comment as a request does: the id is taken at once, and the comment
// is in lists, and the call returns, after Reads.Commit. So a lower id can become
// visible after a higher one, while its writer still waits for the answer.
func (w *World) Post(at At, author, body string) Comment {
	w.mu.Lock()
	wait := w.between(w.reads.Commit)
	c := w.comment(at, author, body, wait > 0)
	w.mu.Unlock()
	if wait > 0 {
		time.Sleep(wait) // real time: the answer is on its way in real time, too
		w.mu.Lock()
		defer w.mu.Unlock()
		if known, _ := w.findComment(c.ID); known != nil {
			known.versions[0].held = false
		}
	}
	return c
}

func (w *World) comment(at At, author, body string, held bool) Comment {
	t := w.thread(at)
	w.lastID++
	now := w.now()
	c := &comment{id: w.lastID, author: author, created: now}
	c.versions = []version{{body: body, updated: now, shown: now.Add(w.lag(c, t.At, body)), held: held}}
	t.comments = append(t.comments, c)
	t.Updated = now
	return w.said(t, c, c.last())
}

// EditComment changes a comment. The thread's Updated stays as it was: so it is on
// the real ones.
func (w *World) EditComment(id int64, body string) (Comment, bool) {
	return w.change(id, body, false)
}

// DeleteComment removes a comment.
func (w *World) DeleteComment(id int64) bool {
	_, ok := w.change(id, "", true)
	return ok
}

func (w *World) change(id int64, body string, gone bool) (Comment, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, t := w.findComment(id)
	if c == nil || c.last().gone {
		return Comment{}, false
	}
	now := w.now()
	v := version{body: body, updated: now, gone: gone, shown: now.Add(w.lag(c, t.At, body))}
	c.versions = append(c.versions, v)
	return w.said(t, c, v), true
}

// Comment finds a comment by its id, whatever lists show.
func (w *World) Comment(id int64) (Comment, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, t := w.findComment(id)
	if c == nil || c.last().gone {
		return Comment{}, false
	}
	return w.said(t, c, c.last()), true
}

// Comments lists what a thread really has, in the order of creation.
func (w *World) Comments(at At) []Comment {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.find(at)
	if t == nil {
		return nil
	}
	var list []Comment
	for _, c := range t.comments {
		if v := c.last(); !v.gone && !v.held {
			list = append(list, w.said(t, c, v))
		}
	}
	return list
}

// Listed lists what a list of the thread's comments shows now, by id: it may lag,
// and be short.
func (w *World) Listed(at At) []Comment {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.find(at)
	if t == nil {
		return nil
	}
	var list []Comment
	for _, c := range t.comments {
		if v, ok := c.listed(w.now()); ok {
			list = append(list, w.said(t, c, v))
		}
	}
	slices.SortFunc(list, func(a, b Comment) int { return int(a.ID - b.ID) })
	return list[:max(0, len(list)-w.reads.Short)]
}

func (w *World) said(t *thread, c *comment, v version) Comment {
	at := t.At
	if r := w.repos[w.names[strings.ToLower(at.Repo)]]; r != nil {
		at.Repo = r.Path
	}
	return Comment{ID: c.id, Thread: at, Author: c.author, Body: v.body, Created: c.created, Updated: v.updated}
}

func (w *World) findComment(id int64) (*comment, *thread) {
	for _, r := range w.repos {
		for _, t := range r.threads {
			for _, c := range t.comments {
				if c.id == id {
					return c, t
				}
			}
		}
	}
	return nil, nil
}

func (w *World) lag(c *comment, at At, body string) time.Duration {
	if w.reads.Of != nil {
		return w.reads.Of(Comment{ID: c.id, Thread: at, Author: c.author, Body: body, Created: c.created})
	}
	return w.between(w.reads.Lag)
}
