package poll

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// C40: a configured repository that matches nothing is a warning, once; names compare
// without case; and a renamed one is found by its old name, and goes on where it was.
func TestC40_Names(t *testing.T) {
	in(t, []slot.EventKind{slot.Opened}, func(b *bench) {
		b.fake.repos = append(b.fake.repos, forge.Repo{ID: "7", Name: host + "/other/thing", Default: "main"},
			forge.Repo{ID: "8", Name: host + "/octo/archive", Archived: true})
		b.o.Sources[0].Repos = []string{"Octo/*", "OTHER/Thing", "nobody/*", "nobody/here"}
		b.tick()
		time.Sleep(2 * refresh)
		b.tick()
		calls := strings.Join(b.asked(), "\n")
		if !strings.Contains(calls, "changed octo/hello") || !strings.Contains(calls, "changed other/thing") || strings.Contains(calls, "archive") {
			b.Error(calls)
		}
		for _, pattern := range []string{"nobody/*", "nobody/here"} {
			if n := strings.Count(b.log.String(), "repos="+pattern); n != 1 {
				b.Errorf("%s: %d warnings in\n%s", pattern, n, b.log.String())
			}
		}

		moved := refIn("octo/new", 3)
		b.fake.repos[0].Name = host + "/octo/new"
		b.put(forge.Thread{Ref: moved, State: forge.Open, Author: author})
		time.Sleep(2 * refresh)
		b.want(b.tick(), "opened "+moved.String())
	})
}

// C45: a limit stops all of that forge until it ends, and no other forge.
func TestC45_ALimitStopsTheForge(t *testing.T) {
	in(t, []slot.EventKind{slot.Opened}, func(b *bench) {
		b.fake.repos = append(b.fake.repos, forge.Repo{ID: "2", Name: host + "/octo/two"}, forge.Repo{ID: "3", Name: host + "/octo/three"})
		other := newFake()
		other.repos = []forge.Repo{{ID: "1", Name: "other.example.com/octo/hello"}}
		b.o.Sources = append(b.o.Sources, Source{Host: "other.example.com", Client: other, Repos: []string{"octo/*"}, Poll: time.Minute})
		b.tick()
		b.asked()
		other.asked()

		b.fail["changed"] = &forge.LimitError{Until: time.Now().Add(10 * time.Minute)}
		time.Sleep(time.Minute)
		if err := b.Tick(b.Context()); !errors.Is(err, forge.ErrLimited) {
			b.Errorf("tick: %v", err)
		}
		if calls := b.asked(); len(calls) > workers {
			b.Errorf("calls %q", calls)
		}
		time.Sleep(time.Minute)
		if err := b.Tick(b.Context()); !errors.Is(err, forge.ErrLimited) || len(b.asked()) > 0 || len(other.asked()) != 2 {
			b.Errorf("during the limit: %v", err)
		}
		delete(b.fail, "changed")
		b.put(issue(1))
		time.Sleep(10 * time.Minute)
		b.want(b.tick(), "opened #1")
	})
}

// One repository that fails stops no other; it is logged once, until it works again.
func TestOneRepositoryFails(t *testing.T) {
	in(t, []slot.EventKind{slot.Opened}, func(b *bench) {
		b.fake.repos = append(b.fake.repos, forge.Repo{ID: "2", Name: host + "/octo/two"})
		b.tick()
		bad := "changed " + host + "/octo/two"
		b.fail[bad] = &forge.Error{Op: "list", Detail: "connection refused"}
		b.put(issue(1))
		for i := range 5 {
			time.Sleep(time.Minute)
			if err := b.Tick(b.Context()); err == nil || errors.Is(err, forge.ErrLimited) {
				b.Errorf("tick %d: %v", i, err)
			}
		}
		b.want(b.news(), "opened #1")
		if n := strings.Count(b.log.String(), "connection refused"); n != 1 {
			b.Errorf("logged %d times:\n%s", n, b.log.String())
		}
		delete(b.fail, bad)
		b.put(forge.Thread{Ref: refIn("octo/two", 5), State: forge.Open, Author: author})
		b.want(b.tick(), "opened "+refIn("octo/two", 5).String())
	})
}

// One thread that fails holds up no other; the cursor waits for it, though not for ever.
func TestOneThreadFails(t *testing.T) {
	in(t, []slot.EventKind{slot.Opened, slot.Commented}, func(b *bench) {
		b.put(issue(1))
		b.tick()
		time.Sleep(time.Hour)
		b.fail["comments "+ref(1).String()] = &forge.Error{Kind: forge.ErrShort, Op: "comments"}
		b.say(ref(1), 5, author, "hello")
		b.put(issue(2))
		time.Sleep(time.Minute)
		if err := b.Tick(b.Context()); !errors.Is(err, forge.ErrShort) {
			b.Errorf("tick: %v", err)
		}
		b.want(b.news(), "opened #2")
		saved := fmt.Sprint(b.cursors)
		delete(b.fail, "comments "+ref(1).String())
		b.want(b.tick(), "comment #1")
		if fmt.Sprint(b.cursors) == saved {
			b.Error("the cursor did not move")
		}

		b.fail["comments "+ref(1).String()] = &forge.Error{Kind: forge.ErrShort, Op: "comments"}
		b.say(ref(1), 6, author, "hello again")
		saved = fmt.Sprint(b.cursors)
		for range 2 * maxTries { // some are turns
			time.Sleep(time.Minute)
			b.Tick(b.Context()) //nolint:errcheck // it fails
		}
		if fmt.Sprint(b.cursors) == saved {
			b.Error("the cursor waits for ever")
		}
		if !strings.Contains(b.log.String(), "again and again") {
			b.Error(b.log.String())
		}
	})
}

// What the token may not read is said once, and the rest goes on.
func TestWhatMayNotBeRead(t *testing.T) {
	in(t, nil, func(b *bench) {
		b.fail["checks"] = &forge.Error{Kind: forge.ErrForbidden, Op: "checks", Status: 403}
		b.put(pull(1))
		b.tick()
		b.put(pull(2))
		b.want(b.tick(), "opened #2")
		if n := strings.Count(b.log.String(), "what=checks"); n != 1 {
			b.Errorf("logged %d times:\n%s", n, b.log.String())
		}
	})
}

// C26: a single "not found" or "forbidden" about a thread that changed loses nothing that
// was said there; one that stays holds the place up for a while only.
func TestC26_ATransientRefusal(t *testing.T) {
	for what, kind := range map[string]error{"comments": forge.ErrForbidden, "reviews": forge.ErrNotFound, "thread": forge.ErrNotFound} {
		t.Run(what, func(t *testing.T) {
			in(t, []slot.EventKind{slot.Command, slot.Opened, slot.Conflict}, func(b *bench) {
				b.partial = true
				b.put(pull(1))
				for range 2 * rotate {
					b.tick()
				}
				command := func(id int64) {
					if what == "comments" {
						b.say(ref(1), id, author, "/run")
						return
					}
					r := forge.Review{ID: id, Author: author, State: "commented", Body: "/run", At: time.Now()}
					b.reviews[ref(1)] = forge.Reviews{Reviews: append(slices.Clone(b.reviews[ref(1)].Reviews), r)}
					b.edit(ref(1), func(*forge.Thread) {})
				}
				bad := what + " " + ref(1).String()
				fail := func(ticks int) {
					b.fail[bad] = &forge.Error{Kind: kind, Op: what, Status: 404}
					for range ticks {
						time.Sleep(time.Minute)
						b.Tick(b.Context()) //nolint:errcheck // it fails
					}
					delete(b.fail, bad)
				}
				command(5)
				fail(2) // one may be a turn
				b.want(b.news(), "")
				b.want(b.soon(), "command #1")

				command(6)
				b.put(issue(2))
				saved := fmt.Sprint(b.cursors)
				fail(2)
				b.want(b.news(), "opened #2")
				if fmt.Sprint(b.cursors) != saved {
					b.Error("the cursor moved")
				}
				fail(2 * maxTries)
				if fmt.Sprint(b.cursors) == saved || !b.withheld() {
					b.Errorf("the cursor waits for ever:\n%s", b.log.String())
				}

				b.say(ref(1), 7, author, "hello") // it can be read again
				b.soon()
				if b.withheld() {
					b.Error("it is withheld for ever")
				}
			})
		})
	}
}

func (b *bench) withheld() (any bool) {
	for _, held := range b.sources[0].repos[0].withheld {
		any = any || held
	}
	return any
}

// One name that cannot be looked up keeps no other repository from being polled.
func TestOneNameCannotBeRead(t *testing.T) {
	in(t, []slot.EventKind{slot.Opened}, func(b *bench) {
		b.fake.repos = append(b.fake.repos, forge.Repo{ID: "2", Name: host + "/octo/two"})
		b.o.Sources[0].Repos = []string{"octo/hello", "octo/two"}
		b.fail["repo "+host+"/octo/two"] = &forge.Error{Op: "repo", Detail: "connection refused"}
		b.tick()
		b.put(issue(1))
		b.want(b.soon(), "opened #1")
		b.asked()
		for range 20 {
			b.tick()
		}
		// Nor are all names asked for at each tick.
		if n := strings.Count(strings.Join(b.asked(), "\n"), "repo octo/hello"); n != 4 {
			b.Errorf("%d times in 20 minutes", n)
		}
		delete(b.fail, "repo "+host+"/octo/two")
		for range 6 {
			b.tick()
		}
		if calls := b.asked(); !strings.Contains(strings.Join(calls, "\n"), "open octo/two") {
			b.Errorf("%q", calls)
		}
	})
}

// partly is a forge with one owner whose repositories may not be listed.
type partly struct {
	*fake
	owner string
}

func (p *partly) Repos(ctx context.Context, globs []string) ([]forge.Repo, error) {
	list, err := p.fake.Repos(ctx, globs)
	if p.owner == "" {
		return list, err
	}
	return slices.DeleteFunc(list, func(r forge.Repo) bool { return strings.HasPrefix(r.Name, host+"/"+p.owner+"/") }),
		&forge.Error{Kind: forge.ErrForbidden, Op: "list the repositories of " + p.owner}
}

// An owner who cannot be read keeps nobody else's repositories from being polled, new
// ones included; his own go on; and he is not asked for at each tick.
func TestOneOwnerCannotBeRead(t *testing.T) {
	in(t, []slot.EventKind{slot.Opened}, func(b *bench) {
		f := &partly{b.fake, "other"}
		b.o.Sources[0].Client, b.o.Sources[0].Repos = f, []string{"octo/*", "other/*"}
		b.fake.repos = append(b.fake.repos, forge.Repo{ID: "2", Name: host + "/other/two"})
		lists := 0
		polled := func(minutes int) map[string]bool {
			seen := map[string]bool{}
			lists = 0
			for range minutes {
				b.tick()
				for _, call := range b.asked() {
					if what, repo, _ := strings.Cut(call, " "); what == "repos" {
						lists++
					} else {
						seen[repo] = true
					}
				}
			}
			return seen
		}
		if got := polled(20); !got["octo/hello"] || got["other/two"] || lists != 4 {
			b.Errorf("%v, %d lists", got, lists)
		}
		b.fake.repos = append(b.fake.repos, forge.Repo{ID: "3", Name: host + "/octo/new"})
		if got := polled(20); !got["octo/hello"] || !got["octo/new"] || lists != 4 {
			b.Errorf("%v, %d lists", got, lists)
		}
		f.owner = "" // it is mended
		if got := polled(60); !got["other/two"] || lists != 1 {
			b.Errorf("%v, %d lists", got, lists)
		}
		f.owner = "octo"
		if got := polled(60); !got["octo/hello"] || !got["octo/new"] || !got["other/two"] {
			b.Errorf("%v", got)
		}
		if n := strings.Count(b.log.String(), "could not be read"); n != 2 {
			b.Errorf("logged %d times:\n%s", n, b.log.String())
		}
	})
}

// C46: a repository that was there and is not now may only be out of sight: it is not
// forgotten, and asked for again soon.
func TestC46_OutOfSightForAWhile(t *testing.T) {
	in(t, []slot.EventKind{slot.Labeled}, func(b *bench) {
		b.o.Sources[0].Repos = []string{"Octo/Hello", "octo/later"}
		b.put(issue(1))
		time.Sleep(time.Hour)
		b.want(b.tick(), "")
		gone := &forge.Error{Kind: forge.ErrNotFound, Op: "repo", Status: 404}
		for _, call := range []string{"repo", "changed"} {
			b.fail[call+" "+name] = gone
		}
		for range 2 {
			time.Sleep(refresh)
			b.Tick(b.Context()) //nolint:errcheck // it fails
		}
		b.edit(ref(1), func(t *forge.Thread) { t.Labels = []string{"agent"} })
		clear(b.fail)
		b.asked()
		b.want(b.soon(), "labeled #1")
		if calls := strings.Join(b.asked(), " "); strings.Contains(calls, "open octo/hello") {
			b.Errorf("all of it was read anew: %s", calls)
		}
		b.fake.repos = append(b.fake.repos, forge.Repo{ID: "2", Name: host + "/octo/later"})
		for range 6 {
			b.tick()
		}
		if calls := strings.Join(b.asked(), " "); !strings.Contains(calls, "open octo/later") {
			b.Errorf("a right that was given is found late: %s", calls)
		}
	})
}
