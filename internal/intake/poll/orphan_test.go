package poll

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// home keeps orphans.
type home struct {
	mu   sync.Mutex
	list []Orphan
	done map[int64]string // as "#12 #15", or the reason
	last []slot.Event
}

// Orphans gives three at a time.
func (h *home) Orphans(_ context.Context, hosts []string, after int64) (list []Orphan, _ error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.list {
		at, _, _ := strings.Cut(o.Event.Repo, "/")
		if o.N > after && len(list) < 3 && slices.Contains(hosts, at) {
			list = append(list, o)
		}
	}
	return list, nil
}

func (h *home) Resolve(_ context.Context, n int64, events []slot.Event, reason string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var refs []string
	for _, e := range events {
		refs = append(refs, strings.TrimPrefix(e.Ref.String(), name))
	}
	h.done[n], h.last = strings.Join(append(refs, reason), " "), events
	h.list = slices.DeleteFunc(h.list, func(o Orphan) bool { return o.N == n })
	return nil
}

// ended gives what became of an orphan, while a poller runs.
func (h *home) ended(n int64) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.done[n]
}

func (h *home) add(n int64, sha string) {
	h.list = append(h.list, Orphan{n, slot.Event{
		Path: slot.PathWebhook, Repo: name, Sha: sha, Kind: slot.CIFailed, Fingerprint: fmt.Sprint("print ", n), At: time.Now(),
		Facts: slot.Facts{Check: "test: unit", Result: "failure", Actor: "ci"},
	}})
}

func withOrphans(t *testing.T, test func(b *bench, h *home)) {
	t.Helper()
	in(t, nil, func(b *bench) {
		h := &home{done: map[int64]string{}}
		b.o.Sources[0].Poll = 0 // the forge is not polled, and asked all the same
		b.o.Unresolved = h
		test(b, h)
	})
}

// C28: a check that names no pull request is for those open ones whose head it is about.
// C29: for each of them, and no other.
func TestC28_C29_OrphansFindTheirPulls(t *testing.T) {
	withOrphans(t, func(b *bench, h *home) {
		fork, other, closed := pull(12), pull(15), pull(9)
		fork.Head = forge.End{Repo: host + "/guest/hello", Branch: "theirs", Sha: sha(1)}
		fork.Draft, fork.Labels = true, []string{"x"}
		other.Head.Sha, closed.Head.Sha, closed.State = sha(1), sha(1), forge.Closed
		near := pull(16)
		near.Head.Sha = sha(1)[:39] + "f" // a list may have those that only contain it
		for _, t := range []forge.Thread{fork, other, closed, near} {
			b.put(t)
		}
		h.add(1, sha(1))
		h.add(2, sha(7))
		b.tick()
		if h.done[1] != "#12 #15 " || h.done[2] != noPull {
			b.Fatalf("%v", h.done)
		}
		if calls := b.asked(); len(calls) != 5 { // two heads; of the second also the default branch
			b.Errorf("calls %q", calls)
		}
		h.add(3, sha(1))
		b.tick()
		e := h.last[0]
		if e.Ref != ref(12) || e.Fingerprint != "print 3" || e.Kind != slot.CIFailed || e.Sha != sha(1) || e.Path != slot.PathWebhook {
			b.Errorf("%+v", e)
		}
		f := e.Facts
		if !f.Pull || !f.Fork || !f.Draft || f.Base != "main" || f.Branch != "theirs" || f.Author != "octo" || f.Check != "test: unit" || f.Actor != "ci" || f.State != "open" {
			b.Errorf("%+v", f)
		}
	})
}

// A failing check at the head of the default branch is about that.
func TestOrphanOfTheDefaultBranch(t *testing.T) {
	withOrphans(t, func(b *bench, h *home) {
		b.commits = []forge.Commit{{Sha: sha(1), At: time.Now()}, {Sha: sha(2), At: time.Now()}}
		h.add(1, sha(2))
		h.add(2, sha(1)) // not any more
		b.tick()
		if h.done[1] != "@main:test: unit " || h.done[2] != noPull {
			b.Errorf("%v", h.done)
		}
	})
}

// A look-up that fails is no answer: the event stays, and is tried again, less and less.
func TestC28_ALookUpThatFails(t *testing.T) {
	withOrphans(t, func(b *bench, h *home) {
		for _, call := range []string{"pulls", "repo", "commits"} {
			b.fail[call] = &forge.Error{Op: call, Detail: "connection refused"}
			h.add(1, sha(1))
			b.tick()
			if len(h.done) > 0 {
				b.Fatalf("%s: %v", call, h.done)
			}
			b.asked()
			for range 60 {
				b.tick()
			}
			if n := len(b.asked()); n < 4 || n > 24 {
				b.Errorf("%s: %d calls in an hour", call, n)
			}
			delete(b.fail, call)
			for range 60 {
				b.tick()
			}
			if h.done[1] != noPull {
				b.Errorf("%s: %v", call, h.done)
			}
			h.done = map[int64]string{}
		}
	})
}

// Where lists lag, "no pull request" is an answer only when the check is some seconds
// old; and a nudge has orphans looked up at once.
func TestOrphansAreLookedUpWhenNudged(t *testing.T) {
	withOrphans(t, func(b *bench, h *home) {
		b.o.Sources[0].Lags = true
		b.restart()
		ctx, cancel := context.WithCancel(b.Context())
		done := make(chan struct{})
		go func() { defer close(done); b.Poller.Run(ctx) }()
		defer func() { cancel(); <-done }()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		h.add(1, sha(1))
		h.add(2, sha(2))
		b.put(pull(2))
		b.Nudge()
		synctest.Wait()
		if h.done[2] != "#2 " || len(h.done) != 1 {
			b.Errorf("%v", h.done)
		}
		b.put(pull(1)) // which the list showed late
		time.Sleep(settleLook + orphansLeast)
		synctest.Wait()
		if h.done[1] != "#1 " {
			b.Errorf("%v", h.done)
		}
	})
}

// Where lists lag, a head is nobody's only after a minute of looks that are further and
// further apart, however often others nudge.
func TestANudgeAsksNothingAnew(t *testing.T) {
	withOrphans(t, func(b *bench, h *home) {
		b.o.Sources[0].Lags = true
		b.restart()
		h.add(1, sha(1))
		ctx, cancel := context.WithCancel(b.Context())
		done := make(chan struct{})
		go func() { defer close(done); b.Poller.Run(ctx) }()
		defer func() { cancel(); <-done }()
		for range 59 {
			b.Nudge()
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if n := strings.Count(strings.Join(b.asked(), " "), "pulls"); n != 4 || h.ended(1) != "" {
			b.Errorf("%d looks in the first minute, %q", n, h.ended(1))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := strings.Count(strings.Join(b.asked(), " "), "pulls"); n != 1 || h.ended(1) != noPull {
			b.Errorf("%d looks in the second minute, %q", n, h.ended(1))
		}
	})
}

// Orphans that nobody can look up, or not now, keep no other from it.
func TestOrphansDoNotStarve(t *testing.T) {
	withOrphans(t, func(b *bench, h *home) {
		for n := range int64(9) {
			h.add(n+1, sha(1))
			h.list[n].Event.Repo = []string{"elsewhere.example.com/octo/hello", host + "/octo/gone"}[n%2]
		}
		b.fail["pulls "+host+"/octo/gone"] = &forge.Error{Op: "pulls", Detail: "connection refused"}
		b.put(pull(2))
		h.add(20, sha(2))
		b.tick()
		if h.done[20] != "#2 " || len(h.done) != 1 {
			b.Errorf("%v", h.done)
		}
		if calls := b.asked(); len(calls) != 2 {
			b.Errorf("%q", calls)
		}
	})
}

// An orphan of a forge that is not configured stays.
func TestOrphanOfAnUnknownForge(t *testing.T) {
	withOrphans(t, func(b *bench, h *home) {
		h.add(1, sha(1))
		h.list[0].Event.Repo = "elsewhere.example.com/octo/hello"
		b.tick()
		if len(h.done) > 0 || len(b.asked()) > 0 {
			b.Errorf("%v", h.done)
		}
	})
}
