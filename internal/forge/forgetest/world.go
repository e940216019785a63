package forgetest

import (
	"crypto/sha1"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
)

// Kind is a kind of forge.
type Kind string

// The kinds there are faces for.
const (
	GitHub  Kind = "github"
	Gitea   Kind = "gitea"
	Forgejo Kind = "forgejo"
	Gogs    Kind = "gogs"
	GitLab  Kind = "gitlab"
)

// World is all that a forge holds. Its methods can be called at any time, by any
// goroutine, while faces serve it. What they return are copies. A method that
// changes what is not there panics: the test is wrong.
type World struct {
	kind Kind
	now  func() time.Time

	mu      sync.Mutex
	random  *rand.Rand
	ids     int64 // of everything but comments
	lastID  int64 // of comments, reviews and talks: one counter, as the real ones have
	users   []User
	repos   map[int64]*repo
	names   map[string]int64 // present and former names, lower case
	checks  map[string][]Check
	reads   Reads
	faults  []*planned
	poison  string
	journal journal
}

// New makes an empty world. A nil clock is the real one; lags are counted by it.
func New(kind Kind, now func() time.Time) *World {
	if now == nil {
		now = time.Now
	}
	return &World{
		kind: kind, now: now, random: rand.New(rand.NewPCG(1, 2)), ids: 1000, lastID: 100,
		repos: map[int64]*repo{}, names: map[string]int64{}, checks: map[string][]Check{},
	}
}

// Kind is the kind of forge that the world plays.
func (w *World) Kind() Kind { return w.kind }

// Now is the forge's clock.
func (w *World) Now() time.Time { return w.now() }

// User is an account, with the one token that it has.
type User struct {
	ID    int64
	Login string
	Token string
	// Ends is when the token ends; zero: never.
	Ends time.Time
	Bot  bool
	App  string // the slug of the app that the token is of
	// Writer may push, label, lock and write on locked threads; others read and
	// comment.
	Writer bool
	// Association is what the forge says of the account's comments, lower case:
	// owner, member, collaborator, contributor, none.
	Association string
}

// AddUser adds an account, or replaces the one of that login.
func (w *World) AddUser(u User) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.IndexFunc(w.users, func(v User) bool { return v.Login == u.Login }); i >= 0 {
		u.ID = w.users[i].ID
		w.users[i] = u
		return
	}
	if u.ID == 0 {
		u.ID = w.id()
	}
	w.users = append(w.users, u)
}

// EndToken ends an account's token now.
func (w *World) EndToken(login string) {
	u, _ := w.User(login)
	u.Ends = w.now()
	w.AddUser(u)
}

// User finds an account. One that nobody added is a person without a token, so
// that strangers can write.
func (w *World) User(login string) (User, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range w.users {
		if u.Login == login {
			return u, true
		}
	}
	return User{ID: 1, Login: login, Association: "none"}, false
}

// Repo is a repository.
type Repo struct {
	ID       int64
	Path     string // owner/repo, as it is now
	Default  string
	Public   bool
	Hidden   bool // no account sees it; yet Gitea counts it
	Archived bool
	Updated  time.Time
}

type repo struct {
	Repo
	threads    []*thread // by creation
	commits    []forge.Commit
	labels     []string
	deliveries []Delivery
	numbers    [2]int // the last number of issues and pulls, of merge requests
}

// AddRepo makes a public repository with the default branch main, and returns its
// id.
func (w *World) AddRepo(path string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &repo{Repo: Repo{ID: w.id(), Path: path, Default: "main", Public: true, Updated: w.now()}}
	w.repos[r.ID] = r
	w.names[strings.ToLower(path)] = r.ID
	return r.ID
}

// EditRepo changes a repository; its path is changed by Rename.
func (w *World) EditRepo(path string, change func(*Repo)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.repo(path)
	before := r.Repo
	change(&r.Repo)
	r.ID, r.Path = before.ID, before.Path
}

// Rename gives a repository another name, owner or both; the old one leads on to
// it.
func (w *World) Rename(from, to string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.repo(from)
	r.Path = to
	w.names[strings.ToLower(to)] = r.ID
}

// Repo finds a repository by a present or a former name.
func (w *World) Repo(path string) (Repo, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.repos[w.names[strings.ToLower(path)]]
	if r == nil || r.Hidden {
		return Repo{}, false
	}
	return r.Repo, true
}

// RepoByID finds a repository by its id.
func (w *World) RepoByID(id int64) (Repo, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.repos[id]; r != nil && !r.Hidden {
		return r.Repo, true
	}
	return Repo{}, false
}

// Repos lists the repositories by id, without hidden ones.
func (w *World) Repos() []Repo {
	return slices.DeleteFunc(w.allRepos(), func(r Repo) bool { return r.Hidden })
}

func (w *World) allRepos() []Repo {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]Repo, 0, len(w.repos))
	for _, r := range w.repos {
		list = append(list, r.Repo)
	}
	slices.SortFunc(list, func(a, b Repo) int { return int(a.ID - b.ID) })
	return list
}

// NewSha makes up a commit's name.
func (w *World) NewSha() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sha()
}

// The rest wants the lock held.

func (w *World) id() int64 { w.ids++; return w.ids }

func (w *World) sha() string {
	sum := sha1.Sum([]byte(strconv.FormatInt(w.id(), 10)))
	return hex.EncodeToString(sum[:])
}

func (w *World) repo(path string) *repo {
	r := w.repos[w.names[strings.ToLower(path)]]
	if r == nil {
		panic("forgetest: there is no repository " + path)
	}
	return r
}
