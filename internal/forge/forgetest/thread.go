package forgetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// At names a thread. Pull matters only on GitLab, which numbers merge requests with
// a counter of their own.
type At struct {
	Repo   string // present or former owner/repo
	Number int
	Pull   bool
}

// Thread is an issue or a pull request.
type Thread struct {
	At // where it is now
	ID int64

	State     string // forge.Open, Closed, Merged
	Title     string
	Body      string
	Author    string // a login, as all that follow
	Labels    []string
	Assignees []string
	Reviewers []string
	Locked    bool
	Reason    string
	Created   time.Time
	Updated   time.Time
	Closed    time.Time

	Draft     bool
	AGit      bool // pushed to refs/for/BRANCH: the head is on no branch, and takes no right to write
	Head      End
	Base      End
	Mergeable string // clean, conflict, or empty: not known yet
	MergeSha  string
	Closes    []At // the issues that it is linked to close

	Comments int // the counter, which lags only with Reads.Counter
	MovedTo  *At // an issue that was moved to another repository
	Events   []Event
}

// End is one end of a pull request.
type End struct {
	Repo   string // owner/repo; empty if it is gone
	Branch string
	Sha    string
}

// Event is something that happened to a thread.
type Event struct {
	ID    int64
	Kind  string // opened, closed, merged, reopened, labeled, unlabeled, locked, unlocked, pushed
	At    time.Time
	Actor string
	Label string
}

type thread struct {
	Thread
	comments []*comment
	reviews  []Review
	talks    []Talk
}

// Ref is the canonical ref of a thread, on a host.
func (w *World) Ref(host string, at At) slot.Ref {
	mark := "#"
	if at.Pull && w.kind == GitLab {
		mark = "!"
	}
	ref, err := slot.ParseCanonical(fmt.Sprintf("%s/%s%s%d", host, strings.ToLower(at.Repo), mark, at.Number))
	if err != nil {
		panic("forgetest: " + err.Error())
	}
	return ref
}

// AddIssue opens an issue.
func (w *World) AddIssue(path, author, title, body string) At {
	return w.add(path, author, title, body, false)
}

// AddPull opens a pull request from a branch of the repository itself, with a new
// head, to the default branch. Edit makes it something else.
func (w *World) AddPull(path, author, title, branch string) At {
	at := w.add(path, author, title, "", true)
	w.mu.Lock()
	defer w.mu.Unlock()
	t, r := w.thread(at), w.repo(path)
	t.Head = End{Repo: r.Path, Branch: branch, Sha: w.sha()}
	t.Base = End{Repo: r.Path, Branch: r.Default, Sha: w.sha()}
	t.Mergeable = "clean"
	return at
}

func (w *World) add(path, author, title, body string, pull bool) At {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.repo(path)
	counter := &r.numbers[0]
	if pull && w.kind == GitLab {
		counter = &r.numbers[1]
	}
	*counter++
	now := w.now()
	t := &thread{Thread: Thread{
		At: At{Repo: r.Path, Number: *counter, Pull: pull}, ID: w.id(), State: "open", Title: title, Body: body,
		Author: author, Created: now, Updated: now,
	}}
	r.threads = append(r.threads, t)
	w.happened(t, Event{Kind: "opened", Actor: author})
	return t.At
}

// Edit changes a thread and moves its Updated, unless the change does so itself.
func (w *World) Edit(at At, change func(*Thread)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.thread(at)
	before := t.Thread
	change(&t.Thread)
	if t.Updated.Equal(before.Updated) {
		t.Updated = w.now()
	}
}

// Close closes a thread without merging it.
func (w *World) Close(at At, actor string) { w.end(at, "closed", "", actor) }

// Merge merges a pull request; the issues that it closes are closed.
func (w *World) Merge(at At, actor string) {
	w.end(at, "merged", w.NewSha(), actor)
	t, _ := w.Thread(at)
	for _, issue := range t.Closes {
		w.Close(issue, actor)
	}
}

func (w *World) end(at At, state, sha, actor string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.thread(at)
	t.State, t.MergeSha, t.Closed, t.Updated = state, sha, w.now(), w.now()
	w.happened(t, Event{Kind: state, Actor: actor})
}

// Reopen opens a closed thread again.
func (w *World) Reopen(at At, actor string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.thread(at)
	t.State, t.Closed, t.Updated = "open", time.Time{}, w.now()
	w.happened(t, Event{Kind: "reopened", Actor: actor})
}

// Push gives a pull request another head, and returns it.
func (w *World) Push(at At) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.thread(at)
	t.Head.Sha, t.Updated = w.sha(), w.now()
	w.happened(t, Event{Kind: "pushed", Actor: t.Author})
	return t.Head.Sha
}

// Label sets or takes away a label.
func (w *World) Label(at At, label string, on bool, actor string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.thread(at)
	has := slices.Contains(t.Labels, label)
	switch {
	case on && !has:
		if r := w.repo(at.Repo); !slices.Contains(r.labels, label) {
			r.labels = append(r.labels, label)
		}
		t.Labels = append(slices.Clone(t.Labels), label)
		w.happened(t, Event{Kind: "labeled", Label: label, Actor: actor})
	case !on && has:
		t.Labels = slices.DeleteFunc(slices.Clone(t.Labels), func(l string) bool { return l == label })
		w.happened(t, Event{Kind: "unlabeled", Label: label, Actor: actor})
	default:
		return
	}
	t.Updated = w.now()
}

// Lock locks or unlocks a conversation.
func (w *World) Lock(at At, on bool, actor string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.thread(at)
	if t.Locked == on {
		return
	}
	t.Locked = on
	w.happened(t, Event{Kind: map[bool]string{true: "locked", false: "unlocked"}[on], Actor: actor})
}

// MoveIssue moves an issue to another repository, where it gets another number. The
// old place says where it went.
func (w *World) MoveIssue(at At, path string) At {
	old, _ := w.Thread(at)
	to := w.AddIssue(path, old.Author, old.Title, old.Body)
	w.mu.Lock()
	defer w.mu.Unlock()
	from, moved := w.thread(at), w.thread(to)
	moved.comments, moved.Created = from.comments, from.Created
	from.comments, from.MovedTo, from.State, from.Closed, from.Updated = nil, &to, "closed", w.now(), w.now()
	return to
}

// Thread finds a thread. One that was moved is found at its old place, with
// MovedTo.
func (w *World) Thread(at At) (Thread, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t := w.find(at); t != nil {
		return w.copy(t), true
	}
	return Thread{}, false
}

// Threads lists the threads of a repository by creation, none if there is no such
// repository. Moved ones are not among them.
func (w *World) Threads(path string) []Thread {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.repos[w.names[strings.ToLower(path)]]
	if r == nil {
		return nil
	}
	list := make([]Thread, 0, len(r.threads))
	for _, t := range r.threads {
		if t.MovedTo == nil {
			list = append(list, w.copy(t))
		}
	}
	return list
}

func (w *World) find(at At) *thread {
	r := w.repos[w.names[strings.ToLower(at.Repo)]]
	if r == nil {
		return nil
	}
	for _, t := range r.threads {
		if t.Number == at.Number && (w.kind != GitLab || t.Pull == at.Pull) {
			return t
		}
	}
	return nil
}

func (w *World) thread(at At) *thread {
	t := w.find(at)
	if t == nil {
		panic(fmt.Sprintf("forgetest: there is no thread %+v", at))
	}
	return t
}

// copy gives a thread as it is now: names follow renames.
func (w *World) copy(t *thread) Thread {
	c := t.Thread
	for _, name := range []*string{&c.At.Repo, &c.Head.Repo, &c.Base.Repo} {
		if r := w.repos[w.names[strings.ToLower(*name)]]; r != nil {
			*name = r.Path
		}
	}
	for _, known := range t.comments {
		v, there := known.last(), true
		if w.reads.Counter {
			v, there = known.listed(w.now())
		}
		if there && !v.gone && !v.held {
			c.Comments++
		}
	}
	c.Labels, c.Assignees, c.Reviewers = slices.Clone(c.Labels), slices.Clone(c.Assignees), slices.Clone(c.Reviewers)
	c.Closes, c.Events = slices.Clone(c.Closes), slices.Clone(c.Events)
	return c
}

func (w *World) happened(t *thread, e Event) {
	e.ID, e.At = w.id(), w.now()
	t.Events = append(t.Events, e)
}
