package poll

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/slot"
)

const (
	host = "git.example.com"
	name = host + "/octo/hello"
)

// fake is a forge in memory. Its lists have all of a thread, unless partial.
type fake struct {
	mu       sync.Mutex
	etags    bool
	partial  bool // lists leave out what only the pull request itself tells
	repos    []forge.Repo
	threads  map[slot.Ref]forge.Thread
	comments map[slot.Ref][]forge.Comment
	checks   map[string][]forge.Check
	reviews  map[slot.Ref]forge.Reviews
	reopened map[slot.Ref]time.Time
	commits  []forge.Commit
	fail     map[string]error // by "call" or "call repo"
	calls    []string
}

func newFake(repos ...string) *fake {
	f := &fake{
		threads: map[slot.Ref]forge.Thread{}, comments: map[slot.Ref][]forge.Comment{}, checks: map[string][]forge.Check{},
		reviews: map[slot.Ref]forge.Reviews{}, reopened: map[slot.Ref]time.Time{}, fail: map[string]error{},
	}
	for i, r := range repos {
		f.repos = append(f.repos, forge.Repo{ID: fmt.Sprint(i + 1), Name: host + "/" + r, Default: "main", Public: true})
	}
	return f
}

func (f *fake) call(what, repo string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, what+" "+strings.TrimPrefix(repo, host+"/"))
	return cmp.Or(f.fail[what+" "+repo], f.fail[what])
}

// asked gives the calls since it was asked last.
func (f *fake) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.calls
	f.calls = nil
	return list
}

func (f *fake) locked() func() { f.mu.Lock(); return f.mu.Unlock }

// put sets a thread as it is from now on, and moves its time of update.
func (f *fake) put(t forge.Thread) {
	defer f.locked()()
	t.Updated = time.Now().Truncate(time.Second)
	t.UpdatedText = written(t.Updated)
	if old, ok := f.threads[t.Ref]; ok {
		t.Created = old.Created
	}
	if t.Created.IsZero() {
		t.Created = t.Updated
	}
	f.threads[t.Ref] = t
}

func (f *fake) edit(ref slot.Ref, change func(*forge.Thread)) {
	t := f.threads[ref]
	t.Labels, t.Assignees, t.Reviewers = slices.Clone(t.Labels), slices.Clone(t.Assignees), slices.Clone(t.Reviewers)
	change(&t)
	f.put(t)
}

func (f *fake) say(ref slot.Ref, id int64, who forge.Person, body string) {
	now := time.Now().Truncate(time.Second)
	f.comments[ref] = append(f.comments[ref], forge.Comment{ID: id, Author: who, Body: body, Created: now, Updated: now, UpdatedText: written(now)})
	f.edit(ref, func(t *forge.Thread) { t.Comments++ })
}

func (f *fake) entry(t forge.Thread) forge.Thread {
	if f.partial {
		t.Head, t.Base, t.Mergeable, t.Reviewers = forge.End{}, forge.End{}, "", nil
	}
	return t
}

func (f *fake) Thread(_ context.Context, ref slot.Ref) (forge.Thread, error) {
	err := f.call("thread", ref.String())
	defer f.locked()()
	t, ok := f.threads[ref]
	if !ok && err == nil {
		err = &forge.Error{Kind: forge.ErrNotFound, Op: "thread", Status: 404}
	}
	return t, err
}

func (f *fake) Comments(_ context.Context, ref slot.Ref) (forge.Comments, error) {
	err := f.call("comments", ref.String())
	defer f.locked()()
	return forge.Comments{List: slices.Clone(f.comments[ref]), At: time.Now()}, err
}

func (f *fake) Checks(_ context.Context, _, sha string) ([]forge.Check, error) {
	err := f.call("checks", sha)
	defer f.locked()()
	return f.checks[sha], err
}

func (f *fake) Reviews(_ context.Context, ref slot.Ref) (forge.Reviews, error) {
	err := f.call("reviews", ref.String())
	defer f.locked()()
	return f.reviews[ref], err
}

func (f *fake) PullsByHead(_ context.Context, repo, sha string) (list []forge.Thread, err error) {
	err = f.call("pulls", repo)
	defer f.locked()()
	for _, t := range f.threads { // as GitHub does, also those that only contain it
		if t.Pull && strings.HasPrefix(t.Head.Sha, sha[:8]) {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b forge.Thread) int { return a.Ref.Number() - b.Ref.Number() })
	return list, err
}

func (f *fake) Commits(_ context.Context, repo string, since time.Time) ([]forge.Commit, bool, error) {
	err := f.call("commits", repo)
	defer f.locked()()
	var list []forge.Commit
	for _, c := range slices.Backward(f.commits) {
		if !c.At.Before(since) {
			list = append(list, c)
		}
	}
	return list, false, err
}

func (f *fake) Reopened(_ context.Context, ref slot.Ref) (time.Time, error) {
	err := f.call("reopened", ref.String())
	defer f.locked()()
	return f.reopened[ref], err
}

func (f *fake) Repo(_ context.Context, repo string) (forge.Repo, error) {
	err := f.call("repo", repo)
	defer f.locked()()
	for _, r := range f.repos {
		if strings.EqualFold(r.Name, repo) {
			return r, err
		}
	}
	return forge.Repo{}, cmp.Or[error](err, &forge.Error{Kind: forge.ErrNotFound, Op: "repo", Status: 404})
}

func (f *fake) Repos(context.Context, []string) ([]forge.Repo, error) {
	return slices.Clone(f.repos), f.call("repos", "")
}

func (f *fake) Changed(_ context.Context, repo string, since time.Time, seen forge.Seen) (forge.Changes, error) {
	if err := f.call("changed", repo); err != nil {
		return forge.Changes{}, err
	}
	defer f.locked()()
	c := forge.Changes{At: time.Now().Truncate(time.Second)}
	for _, t := range f.threads {
		if t.Ref.Repo() == repo && !t.Updated.Before(since.Truncate(time.Second)) {
			c.Threads = append(c.Threads, f.entry(t))
		}
	}
	slices.SortFunc(c.Threads, func(a, b forge.Thread) int { return a.Updated.Compare(b.Updated) })
	if f.etags {
		c.Seen.ETag = fmt.Sprint(since, c.Threads)
		if c.Seen == seen {
			return forge.Changes{Unchanged: true, Seen: seen, At: c.At}, nil
		}
	}
	return c, nil
}

func (f *fake) Open(_ context.Context, repo string) (list []forge.Thread, err error) {
	err = f.call("open", repo)
	defer f.locked()()
	for _, t := range f.threads {
		if t.Ref.Repo() == repo && t.State == forge.Open {
			list = append(list, f.entry(t))
		}
	}
	return list, err
}

func (f *fake) Redeliver(_ context.Context, repo string, _ time.Time) (int, error) {
	return 0, f.call("redeliver", repo)
}

// desk is a sink, and the cursors beside it. It tells events apart as a queue does.
type desk struct {
	mu      sync.Mutex
	taken   []Found
	known   map[string]bool
	again   int // duplicates
	broken  error
	cursors map[string]string
}

func newDesk() *desk { return &desk{known: map[string]bool{}, cursors: map[string]string{}} }

func (d *desk) Accept(_ context.Context, found []Found) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken != nil {
		return d.broken
	}
	for _, f := range found {
		key := f.Ref.String() + " " + f.Fingerprint
		if f.Fingerprint != "" && d.known[key] {
			d.again++
			continue
		}
		d.known[key] = true
		d.taken = append(d.taken, f)
	}
	return nil
}

func (d *desk) Cursor(_ context.Context, key string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cursors[key], nil
}

func (d *desk) SetCursor(_ context.Context, key, text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken != nil {
		return d.broken
	}
	d.cursors[key] = text
	return nil
}

// news gives what is new since it was asked last, as "kind #n".
func (d *desk) news() string {
	var list []string
	for _, f := range d.events() {
		s := string(f.Kind) + " " + strings.TrimPrefix(f.Ref.String(), name)
		if f.Condition {
			s += "!"
		}
		list = append(list, s)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func (d *desk) events() []Found {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.taken
	d.taken = nil
	return list
}

// bench is a poller over a fake, with what it talks to.
type bench struct {
	*testing.T
	*fake
	*desk
	*Poller
	log bytes.Buffer
	o   Options
}

func newBench(t *testing.T, kinds ...slot.EventKind) *bench {
	b := &bench{T: t, fake: newFake("octo/hello"), desk: newDesk()}
	b.o = Options{
		Sources: []Source{{Host: host, Type: "github", Client: b.fake, Repos: []string{"octo/*"}, Poll: time.Minute}},
		Sink:    b.desk, Cursors: b.desk, Log: slog.New(slog.NewTextHandler(&b.log, nil)), Commands: []string{"/run"},
		Own:   mark.Own{Logins: []string{"our-bot"}, Apps: []string{"our-app"}},
		Wants: func(k slot.EventKind) bool { return len(kinds) == 0 || slices.Contains(kinds, k) },
	}
	return b
}

// restart makes a poller that remembers nothing.
func (b *bench) restart() { b.Poller = New(b.o) }

// tick lets a minute pass and ticks.
func (b *bench) tick() string {
	b.Helper()
	if b.Poller == nil {
		b.restart()
	} else {
		time.Sleep(time.Minute)
	}
	if err := b.Tick(b.Context()); err != nil {
		b.Errorf("tick: %v", err)
	}
	return b.news()
}

// soon ticks twice: the first may be somebody else's turn.
func (b *bench) soon() string {
	b.Helper()
	return cmp.Or(b.tick(), b.tick())
}

func (b *bench) want(got, want string) {
	b.Helper()
	if got != want {
		b.Errorf("got  %q\nwant %q\ncalls %q", got, want, b.asked())
	}
}

func ref(n int) slot.Ref { return refIn("octo/hello", n) }

func refIn(repo string, n int) slot.Ref {
	r, err := slot.ParseCanonical(fmt.Sprintf("%s/%s#%d", host, repo, n))
	if err != nil {
		panic(err)
	}
	return r
}

func sha(n int) string { return fmt.Sprintf("%040x", n+0xabcdef0000) }

var author = forge.Person{Login: "octo", Association: "member"}

func pull(n int) forge.Thread {
	return forge.Thread{
		Ref: ref(n), Pull: true, State: forge.Open, Title: "title", Author: author, Mergeable: "clean",
		Head: forge.End{Repo: name, Branch: "topic", Sha: sha(n)}, Base: forge.End{Repo: name, Branch: "main", Sha: sha(0)},
	}
}

func issue(n int) forge.Thread {
	return forge.Thread{Ref: ref(n), State: forge.Open, Title: "title", Author: author}
}

func failing(id, check string) forge.Check {
	return forge.Check{Name: check, State: forge.Failure, Result: "failure", ID: id, Again: "2026-01-02T03:04:05Z"}
}

func passing(id, check string) forge.Check {
	return forge.Check{Name: check, State: forge.Success, Result: "success", ID: id, Again: "2026-01-02T03:04:05Z"}
}
