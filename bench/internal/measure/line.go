package measure

import (
	"context"
	"fmt"
	"time"

	"github.com/oneslot/oneslot/bench/internal/report"
	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// A hand-over in a long line may take a quarter longer at the median than in a
// line of two, and half as long again at the 99th percentile (with a few
// hundred hand-overs that is the third or fourth slowest of all, mostly the
// disk's doing), plus one millisecond each.
const (
	medianRoom, tailRoom, room = 1.25, 1.5, 1.0
)

// joining is how many goroutines get in line at a time, so that the holder's
// renewal does not stand behind thousands of them.
const joining = 128

// line: number 6, many who wait for one slot: goroutines, then processes.
func line(ctx context.Context, b *Bench) ([]report.Row, error) {
	rows, err := lineInside(ctx, b)
	if err != nil {
		return nil, err
	}
	more, err := lineOfProcesses(ctx, b)
	return append(rows, more...), err
}

// lineInside has waiters that are goroutines of one process.
func lineInside(ctx context.Context, b *Bench) ([]report.Row, error) {
	const waiters, blocks, handovers = 4096, 12, 32
	const ttl = 10 * time.Second
	ctx, cancel := context.WithCancel(ctx)
	s, err := b.store(ctx, b.path())
	if err != nil {
		cancel()
		return nil, err
	}
	defer s.Close() //nolint:errcheck // the folder goes too
	defer cancel()
	store := newCounting(s, b.clock)
	at := time.Now()
	long, err := b.crowd(ctx, store, refOf("line", 0), waiters, ttl)
	if err != nil {
		return nil, err
	}
	joined := time.Since(at)
	select {
	case <-time.After(2*ttl + ttl/2):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	woken := store.wakes(ttl)

	var in4096, in2 []float64
	for i := range blocks {
		for range handovers {
			d, err := long.next(ctx)
			if err != nil {
				return nil, err
			}
			in4096 = append(in4096, ms(d))
		}
		for j := range handovers {
			short, err := b.crowd(ctx, s, refOf("short", i*handovers+j), 2, ttl)
			if err != nil {
				return nil, err
			}
			// The first hand-over is the one with two in line: it wakes the next
			// and the one behind, as in a long line. The second wakes one.
			d, err := short.next(ctx)
			if err != nil {
				return nil, err
			}
			in2 = append(in2, ms(d))
			if _, err := short.next(ctx); err != nil {
				return nil, err
			}
			if err := short.end(ctx); err != nil {
				return nil, err
			}
		}
	}
	served := store.wakes(ttl)
	what := fmt.Sprintf("%d goroutines in line", waiters)
	rows := lineRows(what, woken, served, in4096, in2)
	rows[0] = rows[0].With("to get in line, all", ms(joined), "ms")
	return rows, nil
}

// lineRows are the demands on one line.
// quiet is how they woke while nothing happened, busy with the hand-overs too.
func lineRows(what string, quiet, busy waking, long, short []float64) []report.Row {
	rows := []report.Row{
		report.One(report.Row{What: what + ": most wakes of one", Unit: "wakes", Limit: "2 in any time to live"},
			float64(max(quiet.Worst, busy.Worst)), 2).
			With("on average, nothing happening,", float64(quiet.Total)/quiet.Lives, "wakes per ttl").
			With("most then", float64(quiet.Worst), "wakes"),
	}
	for _, q := range []struct {
		name  string
		at    float64
		times float64
	}{{"median", 0.5, medianRoom}, {"p99", 0.99, tailRoom}} {
		l, s := report.Quantile(long, q.at), report.Quantile(short, q.at)
		row := report.One(report.Row{
			What: what + ": hand-over, " + q.name, Unit: "ms", Limit: fmt.Sprintf("that of 2 waiters x %v + %v ms", q.times, room),
		}, l, q.times*s+room).With("2 waiters, "+q.name, s, "ms")
		row.Rounds = len(long)
		rows = append(rows, row)
	}
	return rows
}

// crowd is a held slot with a line of goroutines before it.
type crowd struct {
	store  claim.Store
	b      *Bench
	holder claim.Key
	stop   func() // the renewals of the first holder
	turns  chan turn
}

// turn says that a waiter got the slot, and when, in boot time.
type turn struct {
	key claim.Key
	at  time.Duration
	err error
}

// crowd takes the slot and lets n wait for it.
func (b *Bench) crowd(ctx context.Context, s claim.Store, ref slot.Ref, n int, ttl time.Duration) (*crowd, error) {
	req := b.request(ref)
	req.TTL, req.Grace = ttl, 0
	asked := b.clock.Boot()
	if _, err := s.Acquire(ctx, req); err != nil {
		return nil, err
	}
	q := &crowd{store: s, b: b, holder: req.Key, turns: make(chan turn, n)}
	_, q.stop = claim.Keep(ctx, s, b.clock, req.Key, asked, ttl)
	taker := &claim.Taker{Store: s, Sight: app.Sight{}, Clock: b.clock, Self: b.process}
	for from := 0; from < n; from += joining {
		to := min(from+joining, n)
		for range to - from {
			go func() {
				r := req
				r.Key = claim.NewKey(ref)
				_, err := taker.Wait(ctx, r, 0)
				q.turns <- turn{r.Key, b.clock.Boot(), err}
			}()
		}
		err := until(ctx, "in line", func() (bool, error) {
			look, err := s.Look(ctx, ref)
			return look.Waiting == to, err
		})
		if err != nil {
			return nil, err
		}
	}
	return q, nil
}

// next has the holder release, and gives the time until the next one has it.
func (q *crowd) next(ctx context.Context) (time.Duration, error) {
	q.stop()
	q.stop = func() {}
	at := q.b.clock.Boot()
	if _, err := q.store.Release(ctx, q.holder, done()); err != nil {
		return 0, err
	}
	select {
	case t := <-q.turns:
		q.holder = t.key
		return t.at - at, t.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// end releases for good.
func (q *crowd) end(ctx context.Context) error {
	_, err := q.store.Release(ctx, q.holder, done())
	return err
}
