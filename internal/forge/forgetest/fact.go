package forgetest

import (
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
)

// Check is one result of a check or a status on a commit.
type Check struct {
	ID      int64
	Name    string
	State   string // forge.Pending, Success, Failure, Neutral
	App     string // empty: a status, where the forge tells the two apart
	Attempt int    // from 1
	At      time.Time
}

// SetCheck adds a result; the newest of a name counts. ID, Attempt and At are
// filled in.
func (w *World) SetCheck(sha string, c Check) Check {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.ID, c.At, c.Attempt = w.id(), w.now(), 1
	for _, old := range w.checks[sha] {
		if old.Name == c.Name {
			c.Attempt = old.Attempt + 1
		}
	}
	w.checks[sha] = append(w.checks[sha], c)
	return c
}

// Checks lists all results of a commit, oldest first.
func (w *World) Checks(sha string) []Check {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.checks[sha])
}

// Review is a review of a pull request.
type Review struct {
	ID     int64
	Author string
	State  string // approved, changes_requested, commented, dismissed
	Body   string
	Sha    string
	At     time.Time
	Begun  time.Time // of one that was a draft, earlier than At
}

// AddReview reviews the present head.
func (w *World) AddReview(at At, author, state, body string) Review {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.thread(at)
	w.lastID++
	r := Review{ID: w.lastID, Author: author, State: state, Body: body, Sha: t.Head.Sha, At: w.now(), Begun: w.now()}
	t.reviews = append(t.reviews, r)
	t.Updated = r.At
	return r
}

// draft is the state of a review that only its author sees.
const draft = "pending"

// AddDraft begins a review with a remark at a line. Nobody else sees it before Submit,
// and nothing of the pull request moves.
func (w *World) AddDraft(at At, author, remark string) (id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.thread(at)
	w.lastID += 3
	r := Review{ID: w.lastID - 2, Author: author, State: draft, Begun: w.now()}
	c := Comment{ID: w.lastID, Thread: t.At, Author: author, Body: remark, Created: w.now(), Updated: w.now()}
	t.reviews = append(t.reviews, r)
	t.talks = append(t.talks, Talk{ID: w.lastID - 1, Review: r.ID, List: []Comment{c}})
	return r.ID
}

// Submit gives a review that was a draft.
func (w *World) Submit(at At, id int64, state, body string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.thread(at)
	for i := range t.reviews {
		if r := &t.reviews[i]; r.ID == id {
			r.State, r.Body, r.Sha, r.At = state, body, t.Head.Sha, w.now()
			t.Updated = r.At
		}
	}
}

// Reviews lists the reviews of a pull request by when they were begun, without drafts.
func (w *World) Reviews(at At) []Review {
	return slices.DeleteFunc(w.allReviews(at), func(r Review) bool { return r.State == draft })
}

func (w *World) allReviews(at At) []Review {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t := w.find(at); t != nil {
		return slices.Clone(t.reviews)
	}
	return nil
}

// Talk is a review thread.
type Talk struct {
	ID       int64
	Review   int64 // that it is of; 0: it has one of its own, if the forge wants one
	Resolved bool
	List     []Comment
	Deleted  int // answers that were taken away again
}

// AddTalk starts a review thread.
func (w *World) AddTalk(at At, author, body string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.thread(at)
	w.lastID += 2
	c := Comment{ID: w.lastID, Thread: t.At, Author: author, Body: body, Created: w.now(), Updated: w.now()}
	t.talks = append(t.talks, Talk{ID: w.lastID - 1, List: []Comment{c}})
	t.Updated = w.now()
	return w.lastID - 1
}

// Answer adds a comment to a review thread.
func (w *World) Answer(at At, talk int64, author, body string) {
	w.talk(at, talk, func(t *Talk) {
		w.lastID++
		t.List = append(slices.Clone(t.List), Comment{ID: w.lastID, Thread: at, Author: author, Body: body, Created: w.now(), Updated: w.now()})
	})
}

// Unanswer takes the last answer of a review thread away.
func (w *World) Unanswer(at At, talk int64) {
	w.talk(at, talk, func(t *Talk) {
		t.List = slices.Clone(t.List[:len(t.List)-1])
		t.Deleted++
	})
}

// Resolve marks a review thread as done, which moves no Updated.
func (w *World) Resolve(at At, talk int64) {
	w.talk(at, talk, func(t *Talk) { t.Resolved = true })
}

func (w *World) talk(at At, id int64, change func(*Talk)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, t := range w.thread(at).talks {
		if t.ID == id {
			change(&w.thread(at).talks[i])
		}
	}
}

// Talks lists the review threads of a pull request, without those of drafts.
func (w *World) Talks(at At) []Talk {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.find(at)
	if t == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.talks), func(talk Talk) bool {
		return slices.ContainsFunc(t.reviews, func(r Review) bool { return r.ID == talk.Review && r.State == draft })
	})
}

// Link makes a pull request one that closes an issue.
func (w *World) Link(pull, issue At) {
	w.Edit(pull, func(t *Thread) { t.Closes = append(slices.Clone(t.Closes), issue) })
}

// AddCommit puts a commit on the default branch.
func (w *World) AddCommit(path, message string) forge.Commit {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.repo(path)
	c := forge.Commit{Sha: w.sha(), Message: message, At: w.now()}
	r.commits = append(r.commits, c)
	return c
}

// Commits lists the default branch, newest first.
func (w *World) Commits(path string) []forge.Commit {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.repos[w.names[strings.ToLower(path)]]
	if r == nil {
		return nil
	}
	list := slices.Clone(r.commits)
	slices.Reverse(list)
	return list
}

// commit is what a ref of a repository names: the default branch its newest commit, all
// else itself.
func (w *World) commit(in Repo, ref string) string {
	if list := w.Commits(in.Path); ref == in.Default && len(list) > 0 {
		return list[0].Sha
	}
	return ref
}

// Delivery is a webhook delivery that the forge made, or tried to.
type Delivery struct {
	ID     int64
	GUID   string
	Event  string
	Status int // of the receiver's answer
	At     time.Time
	Again  int // how often it was asked for again
}

// AddDelivery records a delivery.
func (w *World) AddDelivery(path string, d Delivery) Delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.repo(path)
	d.ID, d.At = w.id(), w.now()
	r.deliveries = append(r.deliveries, d)
	return d
}

// Deliveries lists the deliveries of a repository, oldest first.
func (w *World) Deliveries(path string) []Delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.repo(path).deliveries)
}

// Redeliver asks for a delivery again.
func (w *World) Redeliver(path string, id int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.repo(path)
	for i := range r.deliveries {
		if r.deliveries[i].ID == id {
			r.deliveries[i].Again++
			return true
		}
	}
	return false
}

// Labels lists the labels that a repository has.
func (w *World) Labels(path string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.repo(path).labels)
}

// labelID is the number of a label, which is made if it is missing.
func (w *World) labelID(path, name string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.repo(path)
	i := slices.Index(r.labels, name)
	if i < 0 {
		i = len(r.labels)
		r.labels = append(r.labels, name)
	}
	return r.ID*1000 + int64(i)
}
