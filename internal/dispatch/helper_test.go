package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/claim/claimtest"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/queue/queuetest"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/standby"
)

var errDisk = &slot.UnknownError{Op: "write", Store: "memory", Err: errors.New("the disk is full")}

// bench is a dispatcher on stores in memory. Its supervisors are shells that take
// any job and start nothing.
type bench struct {
	*testing.T
	*Dispatcher
	ctx    context.Context
	clock  *clock.Manual
	queue  *books
	claims *ledger
	gates  *doors
	limits claim.Limits
	// ruleless is why there is no plan.
	ruleless error
	dir      string
}

func newBench(t *testing.T) *bench {
	clk := clock.NewManual(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC))
	b := &bench{T: t, ctx: t.Context(), clock: clk, dir: t.TempDir(), gates: &doors{}}
	b.claims = &ledger{MemoryHandle: claimtest.NewMemory(clk, claimtest.Options{}).Open()}
	b.queue = &books{Memory: queuetest.NewMemory(clk), journal: b.claims}
	argv := []string{"/bin/sh", "-c", "echo >>" + filepath.Join(b.dir, "started") + "; printf ready >&3; exec 3>&-; cat >/dev/null"}
	pool := standby.NewPool(argv, os.Environ, slog.New(slog.DiscardHandler))
	b.Dispatcher = New(Parts{
		Queue: b.queue, Claims: b.claims, Journal: b.claims, Gates: b.gates, Plans: plans{b}, Pool: pool,
		Taker: &claim.Taker{Store: b.claims, Sight: living{}, Clock: clk}, Sight: living{}, Clock: clk, Metrics: uncounted{},
		Log: slog.New(slog.DiscardHandler), State: b.dir, Tell: func(string, slot.Ref) {}, Beat: func() {},
		Reap: func(context.Context, slot.Ref) error { return nil },
		Holder: func(path, command string, p slot.Process) slot.Holder {
			return slot.Holder{Host: "here", Process: p, Path: path, Command: command}
		},
	})
	t.Cleanup(func() {
		b.close()
		pool.Close()
	})
	return b
}

// accept puts one event for the ref into the queue, to be looked at now.
func (b *bench) accept(ref slot.Ref) {
	b.Helper()
	e := slot.Event{Path: slot.PathWebhook, Repo: ref.Repo(), Ref: ref, Kind: slot.CIFailed, Sha: "aaaa"}
	p := queue.Policy{Rule: "fix", Attempts: 3, BackoffMin: time.Minute, BackoffMax: time.Hour}
	_, err := b.Queue.Accept(b.ctx, queue.Arrival{Wishes: []queue.Wish{{Event: e, Policies: []queue.Policy{p}}}})
	b.must("accept", err)
}

// look has all that is due tried once.
func (b *bench) look() (rest time.Duration) {
	b.Helper()
	rest = b.round(b.ctx)
	b.idle()
	return rest
}

// idle waits until nothing is tried any more.
func (b *bench) idle() {
	b.Helper()
	for end := time.Now().Add(10 * time.Second); len(b.slots) > 0; {
		if time.Now().After(end) {
			b.Fatal("a look takes for ever")
		}
		time.Sleep(time.Millisecond)
	}
	b.mu.Lock() // what the tries did is seen from here on
	defer b.mu.Unlock()
	if len(b.inHand) > 0 {
		b.Fatalf("it is idle, and works on %v", b.inHand)
	}
}

func (b *bench) item(ref slot.Ref) queue.Item {
	b.Helper()
	items, err := b.Queue.Items(b.ctx, queue.Filter{Ref: ref})
	if err != nil || len(items) != 1 {
		b.Fatalf("items: %+v, %v; want one", items, err)
	}
	return items[0]
}

// occupy has somebody else hold the slot of a ref.
func (b *bench) occupy(ref slot.Ref) claim.Request {
	b.Helper()
	req := claim.Request{Ref: ref, Key: claim.NewKey(ref), Kind: slot.Detached, TTL: time.Hour, Holder: slot.Holder{Host: "here", Path: slot.PathManual}}
	_, err := b.claims.Acquire(b.ctx, req)
	b.must("acquire", err)
	return req
}

// supervisors counts those that were started.
func (b *bench) supervisors() int {
	b.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, "started"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

func (b *bench) must(what string, err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

func ref(t testing.TB, n string) slot.Ref {
	r, err := slot.ParseCanonical("github.com/octo/hello#" + n)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// books is a queue that puts decisions on record, as real ones do, and can be ill.
type books struct {
	*queuetest.Memory
	journal claim.Journal
	ill     bool
}

func (q *books) Defer(ctx context.Context, item int64, run string, until time.Time, d slot.Decision) error {
	if q.ill {
		return errDisk
	}
	err := q.Memory.Defer(ctx, item, run, until, d)
	if err == nil && d.Verdict != "" {
		err = q.journal.Note(ctx, d)
	}
	return err
}

// ledger is a claim store whose answers can be bent.
type ledger struct {
	*claimtest.MemoryHandle
	acquired func() // called after each question
	renew    error
	run      error
}

func (l *ledger) Acquire(ctx context.Context, req claim.Request) (claim.Grant, error) {
	g, err := l.MemoryHandle.Acquire(ctx, req)
	if l.acquired != nil {
		l.acquired()
	}
	return g, err
}

func (l *ledger) Renew(ctx context.Context, key claim.Key) (claim.Lease, error) {
	if l.renew != nil {
		return claim.Lease{}, l.renew
	}
	return l.MemoryHandle.Renew(ctx, key)
}

func (l *ledger) Run(ctx context.Context, id string) (slot.Run, error) {
	if l.run != nil {
		return slot.Run{}, l.run
	}
	return l.MemoryHandle.Run(ctx, id)
}

// doors are gates that are open.
type doors struct {
	hold func(context.Context) // called while the last one is asked
	let  int                   // how often what it held was let go
}

func (*doors) Tick() {}

func (*doors) Decide(context.Context, gate.Ask) gate.Decision {
	return gate.Decision{Verdict: slot.Proceed}
}

func (g *doors) Hold(ctx context.Context, _ gate.Ask, _ gate.Run) (gate.Decision, func(context.Context)) {
	if g.hold != nil {
		g.hold(ctx)
	}
	return gate.Decision{Verdict: slot.Proceed}, func(context.Context) { g.let++ }
}

type plans struct{ *bench }

func (p plans) Plan(it queue.Item, _ string) (Plan, error) {
	if p.ruleless != nil {
		return Plan{}, p.ruleless
	}
	return Plan{Policy: it.Policy, Argv: []string{"true"}, TTL: slot.DefaultTTL, Grace: slot.DefaultGrace}, nil
}

func (p plans) Limits() claim.Limits { return p.limits }

// living sees everybody alive, for ever.
type living struct{}

func (living) Life(slot.Process) (claim.Life, string) { return claim.Alive, "" }

func (living) Watch(slot.Process) (<-chan struct{}, func(), error) { return nil, func() {}, nil }

type uncounted struct{}

func (uncounted) Decided(slot.Verdict, string) {}
func (uncounted) Claimed(time.Duration)        {}
func (uncounted) Started(time.Duration)        {}
func (uncounted) Peeked(time.Duration)         {}
