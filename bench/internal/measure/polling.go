package measure

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/forge/gitea"
	"github.com/oneslot/oneslot/internal/forge/github"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/intake/poll"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// wanted are the kinds that the poller finds work for: all that it can find but plain
// comments.
func wanted(k slot.EventKind) bool { return k != slot.Commented }

// spent is what something took.
type spent struct {
	CPU, Wall float64 // ms
	Heap      float64 // MB in use after a collection, at its end
	Found     int
	Error     string
}

// askers is how many requests are under way at a time, for the poller and for the bare
// client.
const askers = 4

// spend measures do, with all the processor time of this process.
func spend(do func() error) (s spent) {
	before, at := usage(), time.Now()
	if err := do(); err != nil {
		s.Error = err.Error()
	}
	s.CPU, s.Wall = ms(usage()-before), ms(time.Since(at))
	return s
}

func usage() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u) //nolint:errcheck // it cannot fail for oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// nowhere counts what a poller finds, and keeps nothing.
type nowhere struct{ n int }

func (s *nowhere) Accept(_ context.Context, found []poll.Found) error {
	s.n += len(found)
	return nil
}

// pollerHelper polls a forge with the client of its kind, once per line "tick"; "heap"
// says what it keeps.
func pollerHelper(ctx context.Context, b *Bench, args []string) error {
	kind, api, path := args[0], args[1], args[2]
	store, err := sqlite.Open(path, sqlite.Options{Clock: b.clock})
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // the folder goes too
	client, err := b.client(kind, api)
	if err != nil {
		return err
	}
	look := 2
	if kind == string(forgetest.GitHub) {
		look = 4
	}
	sink := &nowhere{}
	p := poll.New(poll.Options{
		Sources: []poll.Source{{
			Host: forgetest.Host(api), Type: kind, Client: client, Repos: []string{worldOwner + "/*"}, Poll: time.Minute,
			Lags: client.Capabilities().Lags, Look: look,
		}},
		Sink: sink, Cursors: store, Commands: []string{"/oneslot"}, Wants: wanted,
	})
	out := json.NewEncoder(os.Stdout)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var s spent
		switch in.Text() {
		case "tick":
			sink.n = 0
			s = spend(func() error { return p.Tick(ctx) })
			s.Found = sink.n
		case "heap":
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			s.Heap = float64(m.HeapAlloc) / (1 << 20)
		}
		if err := out.Encode(s); err != nil {
			return err
		}
	}
	return nil
}

// client is what the program asks a forge with.
func (b *Bench) client(kind, api string) (forge.Client, error) {
	o := transport.Options{API: api, Token: fixed{}, Clock: b.clock}
	if kind != string(forgetest.GitHub) {
		o.Header = gitea.Header
	}
	t, err := transport.New(o)
	if err != nil {
		return nil, err
	}
	if kind == string(forgetest.GitHub) {
		return github.New(forgetest.Host(api), api, t)
	}
	return gitea.New(forgetest.Host(api), api, t, kind)
}

// fixed is a token that stays.
type fixed struct{}

func (fixed) Token(context.Context) (string, error)         { return worldToken, nil }
func (fixed) Renew(context.Context, string) (string, error) { return "", nil }

// askerHelper is the bare client: it sends the requests of each line to a forge, with
// net/http alone, and drops the answers.
func askerHelper(ctx context.Context, _ *Bench, args []string) error {
	base, word := "http://"+forgetest.Host(args[1]), "Bearer "
	if args[0] != string(forgetest.GitHub) {
		word = "token "
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	one := func(r sent) error {
		req, err := http.NewRequestWithContext(ctx, r.Method, base+r.URI, strings.NewReader(r.Body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", word+worldToken)
		if r.Match != "" {
			req.Header.Set("If-None-Match", r.Match)
		}
		answer, err := client.Do(req)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode >= http.StatusBadRequest {
			return fmt.Errorf("%s %s: %s", r.Method, r.URI, answer.Status)
		}
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}
	out, in := json.NewEncoder(os.Stdout), json.NewDecoder(os.Stdin)
	for {
		var batch struct {
			At   int // how many at a time
			List []sent
		}
		if err := in.Decode(&batch); err != nil {
			return nil //nolint:nilerr // the end
		}
		next := make(chan sent, len(batch.List))
		for _, r := range batch.List {
			next <- r
		}
		close(next)
		runtime.GC() // of what was read
		s := spend(func() error {
			return together(batch.At, func(int) error {
				for r := range next {
					if err := one(r); err != nil {
						return err
					}
				}
				return nil
			})
		})
		if err := out.Encode(s); err != nil {
			return err
		}
	}
}
