package forgetest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// Connect makes the client under test: for the host of the address, with a token. It
// has a Capabilities method.
type Connect func(t testing.TB, api, token string) forge.Client

// Run is the contract suite. What a client does not declare is not skipped: the suite
// then asserts that it is ErrUnsupported.
func Run(t *testing.T, kind Kind, connect Connect) {
	tests := suiteTests()
	for _, name := range sortedKeys(tests) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tests[name](newSuite(t, kind, connect))
		})
	}
}

// suiteTests are all tests. A name says the case or promise that it holds to.
func suiteTests() map[string]func(*suite) {
	all := map[string]func(*suite){}
	for _, group := range []map[string]func(*suite){
		readTests(), commentTests(), factTests(), writeTests(), errorTests(), pollTests(),
	} {
		maps.Copy(all, group)
	}
	return all
}

const repoPath = "octo/hello"

// Tokens of the suite's accounts: a writer, who the client is, and others.
const (
	writerToken = "token-of-octo"
	readerToken = "token-of-reader"
)

// suite is a world of one test, and a client of it.
type suite struct {
	testing.TB
	w       *World
	kind    Kind
	api     string
	host    string
	repo    string // canonical
	bot     string
	connect Connect
	c       forge.Client
	can     forge.Capabilities
	clock   *shifted
}

// shifted is the real clock, put forward: so lags pass, and a test can let time pass.
type shifted struct {
	mu sync.Mutex
	by time.Duration
}

func (s *shifted) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.by)
}

// pass lets time pass for the forge.
func (s *suite) pass(d time.Duration) {
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	s.clock.by += d
}

func newSuite(t testing.TB, kind Kind, connect Connect) *suite {
	s := &suite{TB: t, kind: kind, connect: connect, clock: new(shifted)}
	s.w = New(kind, s.clock.now)
	s.api = Serve(t, s.w)
	s.host = Host(s.api)
	s.repo = s.host + "/" + repoPath
	s.bot = map[Kind]string{GitHub: "helper[bot]", GitLab: "project_7_bot_c0ffee"}[kind]
	if s.bot == "" {
		s.bot = "gitea-actions"
	}
	s.w.AddUser(User{Login: "octo", Token: writerToken, Writer: true, Association: "owner"})
	s.w.AddUser(User{Login: "reader", Token: readerToken, Association: "none"})
	s.w.AddUser(User{Login: s.bot, Bot: true, Association: "none"})
	s.w.AddRepo(repoPath)
	s.c = connect(t, s.api, writerToken)
	declares, ok := s.c.(interface{ Capabilities() forge.Capabilities })
	if !ok {
		t.Fatal("the client declares no capabilities")
	}
	s.can = declares.Capabilities()
	return s
}

func (s *suite) ref(at At) slot.Ref { return s.w.Ref(s.host, at) }

// need ends the test at an error. That Gogs has no such API is no failure: it is what
// the client should say.
func (s *suite) need(err error) {
	s.Helper()
	if s.kind == Gogs && errors.Is(err, forge.ErrUnsupported) {
		s.Skip("Gogs has nothing of the kind, and the client says so")
	}
	if err != nil {
		s.Fatal(err)
	}
}

func (s *suite) unsupported(err error) {
	s.Helper()
	if !errors.Is(err, forge.ErrUnsupported) || !errors.Is(err, slot.ErrUnknown) {
		s.Errorf("%v: want ErrUnsupported", err)
	}
}

func (s *suite) thread(at At) forge.Thread {
	s.Helper()
	t, err := s.c.Thread(s.Context(), s.ref(at))
	s.need(err)
	return t
}

// same compares texts, numbers and flags.
func same[T comparable](s *suite, what string, got, want T) {
	s.Helper()
	if got != want {
		s.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// list compares lists without regard to order.
func list(s *suite, what string, got, want []string) {
	s.Helper()
	got, want = slices.Clone(got), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// about compares times as far as forges write them.
func about(s *suite, what string, got, want time.Time) {
	s.Helper()
	if d := got.Sub(want); d < -2*time.Second || d > 2*time.Second {
		s.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// texts are the bodies of comments.
func texts(list []forge.Comment) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.Body)
	}
	return out
}

func refs(list []forge.Thread) []string {
	var out []string
	for _, t := range list {
		out = append(out, t.Ref.String())
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// calls are all methods that read, each with what it needs.
func (s *suite) calls(at At) map[string]func(ctx context.Context) error {
	ref, sha := s.ref(at), strings.Repeat("a", 40)
	if t, ok := s.w.Thread(at); ok && t.Pull {
		sha = t.Head.Sha
	}
	c, repo := s.c, s.repo
	return map[string]func(context.Context) error{
		"Thread":      func(ctx context.Context) error { _, err := c.Thread(ctx, ref); return err },
		"Comments":    func(ctx context.Context) error { _, err := c.Comments(ctx, ref); return err },
		"Checks":      func(ctx context.Context) error { _, err := c.Checks(ctx, repo, sha); return err },
		"Reviews":     func(ctx context.Context) error { _, err := c.Reviews(ctx, ref); return err },
		"PullsByHead": func(ctx context.Context) error { _, err := c.PullsByHead(ctx, repo, sha); return err },
		"Closing":     func(ctx context.Context) error { _, err := c.Closing(ctx, ref); return err },
		"Commits":     func(ctx context.Context) error { _, _, err := c.Commits(ctx, repo, time.Time{}); return err },
		"Reopened":    func(ctx context.Context) error { _, err := c.Reopened(ctx, ref); return err },
		"Repo":        func(ctx context.Context) error { _, err := c.Repo(ctx, repo); return err },
		"Me":          func(ctx context.Context) error { _, err := c.Me(ctx); return err },
		"Repos":       func(ctx context.Context) error { _, err := c.Repos(ctx, nil); return err },
		"Changed":     func(ctx context.Context) error { _, err := c.Changed(ctx, repo, time.Time{}, forge.Seen{}); return err },
		"Open":        func(ctx context.Context) error { _, err := c.Open(ctx, repo); return err },
	}
}
