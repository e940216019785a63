package names

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// Store is where it is kept what repositories were called: a forge's id of a
// repository stays when its name does not.
type Store interface {
	// Alias notes that the repository has the name now, and gives the one under which
	// its slots are kept.
	Alias(ctx context.Context, host, id, name string) (canonical string, err error)
	// Canonical is the name under which slots of a repository are kept that ever was
	// called repo; repo itself if it is not known.
	Canonical(ctx context.Context, repo string) (string, error)
	// Knows reports whether a repository is known that ever was called repo.
	Knows(ctx context.Context, repo string) (bool, error)
	// Known is the name of the slots of a repository; empty if it is not known.
	Known(ctx context.Context, host, id string) (canonical string, err error)
	// Current is what the repository whose slots are kept under repo is called now.
	Current(ctx context.Context, repo string) (string, error)
}

// Names translates names. It remembers for a while what the store said, for names
// come in storms and change once a year. A nil one knows none.
type Names struct {
	store Store // nil: a store that keeps none; names are what they are
	clock clock.Clock
	looks bool // nothing is written

	mu    sync.Mutex
	known map[string]knownName
}

type knownName struct {
	name  string
	until time.Duration // boot time
}

// namesFor is how long a name is believed: another process may hear of a new one.
const namesFor = 5 * time.Second

// New is for a store that keeps names; nil: names are what they are.
func New(store Store, c clock.Clock) *Names {
	return &Names{store: store, clock: c, known: map[string]knownName{}}
}

// Looking is the same for whoever only looks: nothing is written, also what it hears
// by the way.
func (n *Names) Looking() *Names {
	if n == nil {
		return nil
	}
	l := New(n.store, n.clock)
	l.looks = true
	return l
}

func (n *Names) ask(key string, question func() (string, error)) (string, error) {
	now := n.clock.Boot()
	n.mu.Lock()
	k, ok := n.known[key]
	n.mu.Unlock()
	if ok && now < k.until {
		return k.name, nil
	}
	name, err := question()
	if err != nil {
		return "", err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) > 1<<14 { // of strangers' making
		clear(n.known)
	}
	n.known[key] = knownName{name, now + namesFor}
	return name, nil
}

// Alias notes what a repository with an id is called now, and gives the name of its
// slots.
func (n *Names) Alias(ctx context.Context, host, id, name string) (string, error) {
	if n == nil || n.store == nil || id == "" || name == "" {
		return name, nil
	}
	return n.ask("id "+host+" "+id+" "+name, func() (string, error) {
		if n.looks {
			canonical, err := n.store.Known(ctx, host, id)
			if err != nil || canonical != "" {
				return canonical, err
			}
			return n.store.Canonical(ctx, name)
		}
		canonical, err := n.store.Alias(ctx, host, id, name)
		if err == nil {
			n.forget(name, canonical)
		}
		return canonical, err
	})
}

// Moved notes that a repository had another name until now.
func (n *Names) Moved(ctx context.Context, id, from, to string) error {
	host, _, _ := strings.Cut(to, "/")
	for _, name := range []string{from, to} {
		n.forgetID(host, id, name) // it may be an old one, to which it went back
		if _, err := n.Alias(ctx, host, id, name); err != nil {
			return err
		}
	}
	return nil
}

// forget has what was known of some names asked again.
func (n *Names) forget(repos ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range repos {
		delete(n.known, "of "+r)
		delete(n.known, "now "+r)
	}
}

func (n *Names) forgetID(host, id, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.known, "id "+host+" "+id+" "+name)
}

// Canonical is the slot of a ref that may be written with any name its repository
// ever had.
func (n *Names) Canonical(ctx context.Context, ref slot.Ref) (slot.Ref, error) {
	repo, err := n.CanonicalRepo(ctx, ref.Repo())
	if err != nil || repo == ref.Repo() {
		return ref, err
	}
	return ref.In(repo)
}

// CanonicalRepo is the name of the slots of a repository, by any name it ever had.
func (n *Names) CanonicalRepo(ctx context.Context, repo string) (string, error) {
	if n == nil || n.store == nil || repo == "" {
		return repo, nil
	}
	return n.ask("of "+repo, func() (string, error) { return n.store.Canonical(ctx, repo) })
}

// Strange reports whether nobody has told yet which repository has the name.
func (n *Names) Strange(ctx context.Context, repo string) (bool, error) {
	if n == nil || n.store == nil || repo == "" {
		return false, nil
	}
	knows, err := n.store.Knows(ctx, repo)
	return !knows, err
}

// Current is a slot's ref with the name that the forge knows now.
func (n *Names) Current(ctx context.Context, ref slot.Ref) (slot.Ref, error) {
	repo, err := n.currentRepo(ctx, ref.Repo())
	if err != nil || repo == ref.Repo() {
		return ref, err
	}
	return ref.In(repo)
}

func (n *Names) currentRepo(ctx context.Context, repo string) (string, error) {
	if n == nil || n.store == nil || repo == "" {
		return repo, nil
	}
	return n.ask("now "+repo, func() (string, error) { return n.store.Current(ctx, repo) })
}
