package measure

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/forge/gitea"
	"github.com/oneslot/oneslot/internal/forge/github"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/forge/transport/token"
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

func (s spent) err() error {
	if s.Error == "" {
		return nil
	}
	return errors.New(s.Error)
}

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
type nowhere struct{ n atomic.Int64 }

func (s *nowhere) Accept(_ context.Context, found []poll.Found) error {
	s.n.Add(int64(len(found)))
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
	asks, err := b.client(kind, api)
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
			Host: forgetest.Host(api), Type: kind, Client: asks, Repos: []string{worldOwner + "/*"}, Poll: time.Minute,
			Lags: asks.Capabilities().Lags, Look: look, CatchUp: 1000,
		}},
		Sink: sink, Cursors: store, Commands: []string{"/oneslot"}, Wants: wanted,
	})
	out := json.NewEncoder(os.Stdout)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var s spent
		switch in.Text() {
		case "tick":
			sink.n.Store(0)
			s = spend(func() error { return p.Tick(ctx) })
			s.Found = int(sink.n.Load())
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

// client is one of the program's own.
type client interface {
	forge.Client
	Capabilities() forge.Capabilities
}

// client is what the program asks a forge with.
func (b *Bench) client(kind, api string) (client, error) {
	o := transport.Options{API: api, Clock: b.clock, Token: token.Plain(func() (string, error) { return worldToken, nil })}
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
