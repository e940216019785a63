package reserve

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

const host = "forge.test"

var testKey = []byte("a key of thirty-two bytes or so.")

func issue(t testing.TB) slot.Ref {
	t.Helper()
	ref, err := slot.ParseCanonical(host + "/octo/hello#7")
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// bubble is the clock of a machine in a synctest bubble.
type bubble struct{ began time.Time }

func newBubble() bubble               { return bubble{time.Now().Add(-time.Hour)} }
func (b bubble) Boot() time.Duration  { return time.Since(b.began) }
func (b bubble) Awake() time.Duration { return time.Since(b.began) }
func (b bubble) Wall() time.Time      { return time.Now() }
func (b bubble) BootID() string       { return "boot-1" }

// thread is a conversation in memory. Its list may be behind; requests may be slow,
// or lose their answers.
type thread struct {
	mu     sync.Mutex
	list   []note
	nextID int64
	locked bool
	noIDs  bool
	gone   bool // the whole conversation
	calls  map[string]int

	// lag is by how much a list may be behind, for each comment on its own.
	lag func() time.Duration
	// hidden is how long a comment has its id before anybody sees it; meanwhile its
	// post has no answer.
	hidden func() time.Duration
	// fault is asked before a request is done, and again after: it may take time, and
	// its error is what the caller hears.
	fault func(ctx context.Context, who, op string, after bool) error
}

// note is a comment with all its versions.
type note struct {
	forge.Comment
	shown time.Time // when it became visible
	old   string    // its text before the last edit
	oldUp time.Time
	gone  time.Time
}

func newThread() *thread { return &thread{nextID: 100, calls: map[string]int{}} }

// seat is the thread as one account sees it.
type seat struct {
	*thread
	login string
}

// missing is the answer of what is gone with its conversation.
func (t *thread) missing(op string) error {
	if !t.gone {
		return nil
	}
	return &forge.Error{Kind: forge.ErrNotFound, Op: op, Status: 404}
}

func (t *thread) as(login string) *seat { return &seat{t, login} }

func (s *seat) do(ctx context.Context, op string, change func() error) error {
	s.mu.Lock()
	s.calls[op]++
	s.mu.Unlock()
	trouble := func(after bool) error {
		if s.fault == nil {
			return nil
		}
		return s.fault(ctx, s.login, op, after)
	}
	if err := trouble(false); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return &forge.Error{Op: op, Err: err}
	}
	s.mu.Lock()
	err := change()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if err := trouble(true); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return &forge.Error{Op: op, Err: err}
	}
	return nil
}

func (s *seat) Me(context.Context) (string, error) { return s.login, nil }

func (s *seat) Repo(ctx context.Context, repo string) (got forge.Repo, err error) {
	return got, s.do(ctx, "repo", func() error {
		got = forge.Repo{ID: "1001", Name: repo} // whatever it is called
		if s.noIDs {
			got.ID = ""
		}
		return nil
	})
}

func (s *seat) Thread(ctx context.Context, ref slot.Ref) (got forge.Thread, err error) {
	return got, s.do(ctx, "thread", func() error {
		got = forge.Thread{Ref: ref, Locked: s.locked}
		return s.missing("thread")
	})
}

func (s *seat) Comments(ctx context.Context, ref slot.Ref) (got forge.Comments, err error) {
	return got, s.do(ctx, "list", func() error {
		now := time.Now()
		got.At = now.Truncate(time.Second)
		for _, n := range s.list {
			seen := now
			if s.lag != nil {
				seen = now.Add(-s.lag())
			}
			if n.shown.After(seen) || !n.gone.IsZero() && !n.gone.After(seen) {
				continue
			}
			if n.oldUp != (time.Time{}) && n.Updated.After(seen) {
				n.Body, n.Updated = n.old, n.oldUp
			}
			n.Created, n.Updated = n.Created.Truncate(time.Second), n.Updated.Truncate(time.Second)
			got.List = append(got.List, n.Comment)
		}
		return nil
	})
}

func (s *seat) Comment(ctx context.Context, ref slot.Ref, body string) (made forge.Comment, err error) {
	return made, s.do(ctx, "post", func() error {
		made = s.put(s.login, body)
		if s.hidden != nil { // its id is given, and nobody sees it yet
			s.list[len(s.list)-1].shown = time.Now().Add(s.hidden())
			shown := s.list[len(s.list)-1].shown
			s.mu.Unlock()
			time.Sleep(time.Until(shown))
			s.mu.Lock()
		}
		return nil
	})
}

// put writes a comment; the caller holds the lock.
func (t *thread) put(login, body string) forge.Comment {
	now := time.Now()
	t.nextID++
	c := forge.Comment{ID: t.nextID, Author: forge.Person{Login: login}, Body: body, Created: now, Updated: now}
	t.list = append(t.list, note{Comment: c, shown: now})
	return c
}

func (t *thread) say(login, body string) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.put(login, body).ID
}

func (s *seat) EditComment(ctx context.Context, ref slot.Ref, id int64, body string) (made forge.Comment, err error) {
	return made, s.do(ctx, "edit", func() error {
		n := s.note(id)
		if n == nil {
			return &forge.Error{Kind: forge.ErrNotFound, Op: "edit", Status: 404}
		}
		n.old, n.oldUp = n.Body, n.Updated
		n.Body, n.Updated = body, time.Now()
		made = n.Comment
		return nil
	})
}

func (t *thread) note(id int64) *note {
	i := slices.IndexFunc(t.list, func(n note) bool { return n.ID == id && n.gone.IsZero() })
	if i < 0 {
		return nil
	}
	return &t.list[i]
}

func (s *seat) DeleteComment(ctx context.Context, ref slot.Ref, id int64) error {
	return s.do(ctx, "delete", func() error {
		if n := s.note(id); n != nil {
			n.gone = time.Now()
		}
		return nil
	})
}

func (s *seat) Lock(ctx context.Context, ref slot.Ref) error {
	return s.do(ctx, "lock", func() error { s.locked = true; return nil })
}

func (s *seat) Unlock(ctx context.Context, ref slot.Ref) error {
	return s.do(ctx, "unlock", func() error {
		if err := s.missing("unlock"); err != nil {
			return err
		}
		s.locked = false
		return nil
	})
}

// bodies lists what stands on the thread now.
func (t *thread) bodies() (list []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.list {
		if n.gone.IsZero() {
			list = append(list, n.Body)
		}
	}
	return list
}

func (t *thread) count(op string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calls[op]
}

// isLocked reports whether the conversation is locked.
func (t *thread) isLocked() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.locked
}

// reserver makes one for a host of its own: its own folder, one key for all.
func (t *thread) reserver(tb testing.TB, login string, change ...func(*Options)) *Reserver {
	tb.Helper()
	o := Options{
		Forge: host, Thread: t.as(login), Clock: newBubble(), Log: slog.New(slog.DiscardHandler), Dir: tb.TempDir(),
		Caps: forge.Capabilities{Lags: true, Locks: true, Limits: forge.Limits{Comment: 65536}},
		Key:  testKey, Host: "host-" + login, Low: defaultLow, High: defaultHigh, DeleteAtEnd: true,
	}
	for _, c := range change {
		c(&o)
	}
	r, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func noLag(o *Options) { o.Caps.Lags = false }

// here is the place of the test's issue.
func here(t testing.TB) place { return placeOf(issue(t), forge.Repo{ID: "1001"}) }

// renewNow renews a claim's reservation, due or not.
func renewNow(t *testing.T, r *Reserver, claim string) error {
	t.Helper()
	e, err := r.find(t.Context(), claim)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	return r.renew(t.Context(), e)
}

func ask(t testing.TB, claim string) Ask {
	return Ask{Ref: issue(t), Claim: claim, Path: slot.PathPoll}
}

func dead(context.Context, string) (bool, error)  { return false, nil }
func lives(context.Context, string) (bool, error) { return true, nil }

// records counts what is left in a folder.
func records(t testing.TB, r *Reserver) int {
	t.Helper()
	ids, err := r.dir.ids()
	if err != nil {
		t.Fatal(err)
	}
	return len(ids)
}

func wantBodies(t *testing.T, th *thread, want ...string) {
	t.Helper()
	got := th.bodies()
	ok := len(got) == len(want)
	for i := range got {
		ok = ok && strings.Contains(got[i], want[i])
	}
	if !ok {
		t.Errorf("on the thread: %s", fmt.Sprintf("%q", got))
	}
}
