package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/oneslot/oneslot/bench/internal/report"
	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// starting is how many processes of a measurement may be about to start.
const starting = 8

// held is how long each process keeps the slot that it waited for.
const held = 20 * time.Millisecond

// lineOfProcesses has waiters that are processes, each as `oneslot run` is.
func lineOfProcesses(ctx context.Context, b *Bench) ([]report.Row, error) {
	const waiters, lines = 256, 60
	const ttl = 10 * time.Second
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	path := b.path()
	s, err := b.store(ctx, path)
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck // the folder goes too
	var in256, in2 []float64
	short := func(from int) error {
		for i := range lines / 2 {
			got, err := b.lineUp(ctx, s, refOf("short", from+i), 3, ttl, 0)
			if err != nil {
				return err
			}
			// The second hand-over, as most of a long line: from one that
			// waited itself, with two in line.
			in2 = append(in2, handovers(got)[1])
		}
		return nil
	}
	if err := short(0); err != nil {
		return nil, err
	}
	all, err := b.lineUp(ctx, s, refOf("crowd", 0), waiters, ttl, 2*ttl+ttl/2)
	if err != nil {
		return nil, err
	}
	in256 = handovers(all)[1 : waiters-1]
	if err := short(lines); err != nil {
		return nil, err
	}
	freed := all[0].Released // by the first holder: until then nothing happened
	var woken, served waking
	for _, p := range all[1:] {
		quiet := slices.DeleteFunc(slices.Clone(p.Asked), func(at time.Duration) bool { return at >= freed })
		woken = woken.plus(wakesOf(quiet, freed, ttl))
		served = served.plus(wakesOf(p.Asked[:len(p.Asked)-1], p.Got, ttl)) // the last one got the slot
	}
	return lineRows(fmt.Sprintf("%d processes in line", waiters), woken, served, in256, in2), nil
}

// place is what one holder of a line says; all times are boot time.
type place struct {
	Fence         int64
	Asked         []time.Duration
	Got, Released time.Duration
}

// handovers are the times from each release to the next one's having it, in ms.
func handovers(line []place) (all []float64) {
	for i := 1; i < len(line); i++ {
		all = append(all, ms(line[i].Got-line[i-1].Released))
	}
	return all
}

// lineUp takes a slot, has n processes wait for it, keeps it for the given time
// and then lets it go through all their hands. It gives the holders in order.
func (b *Bench) lineUp(ctx context.Context, s *sqlite.Store, ref slot.Ref, n int, ttl, keep time.Duration) ([]place, error) {
	req := b.request(ref)
	req.TTL, req.Grace = ttl, 0
	asked := b.clock.Boot()
	g, err := s.Acquire(ctx, req)
	if err != nil {
		return nil, err
	}
	_, stop := claim.Keep(ctx, s, b.clock, req.Key, asked, ttl)
	defer stop()
	var all []*helper
	defer func() {
		for _, h := range all {
			h.end()
		}
	}()
	for range n {
		h, err := b.helper(ctx, "wait", s.Path(), ref.String(), ttl.String())
		if err != nil {
			return nil, err
		}
		all = append(all, h)
		// They come a few at a time: all at once would be a test of the scheduler.
		want := len(all) - starting
		if len(all) == n {
			want = n
		}
		err = until(ctx, "in line", func() (bool, error) {
			look, err := s.Look(ctx, ref)
			return look.Waiting >= want, err
		})
		if err != nil {
			return nil, err
		}
	}
	select {
	case <-time.After(keep + held): // those that started last settle
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	stop()
	line := []place{{Fence: g.Claim.Fence, Released: b.clock.Boot()}}
	if _, err := s.Release(ctx, req.Key, done()); err != nil {
		return nil, err
	}
	for _, h := range all {
		var p place
		text, err := h.line()
		if err == nil {
			err = json.Unmarshal(text, &p)
		}
		if err != nil {
			return nil, err
		}
		line = append(line, p)
	}
	slices.SortFunc(line, func(a, b place) int { return int(a.Fence - b.Fence) })
	return line, nil
}

// waitHelper waits in line, keeps the slot for a moment, releases it, says how
// it went, and ends.
func waitHelper(ctx context.Context, b *Bench, args []string) error {
	go func() { // nobody is left to hear it
		io.Copy(io.Discard, os.Stdin) //nolint:errcheck // its end is what counts
		os.Exit(1)
	}()
	ref, err := slot.ParseCanonical(args[1])
	if err != nil {
		return err
	}
	ttl, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	s, err := sqlite.Open(args[0], sqlite.Options{Clock: b.clock})
	if err != nil {
		return err
	}
	store := newCounting(s, b.clock)
	req := b.request(ref)
	req.TTL, req.Grace = ttl, 0
	taker := &claim.Taker{Store: store, Sight: app.Sight{}, Clock: b.clock, Self: b.process}
	g, err := taker.Wait(ctx, req, 0)
	if err != nil {
		return err
	}
	p := place{Got: b.clock.Boot(), Fence: g.Claim.Fence}
	for _, asked := range store.asked {
		p.Asked = asked
	}
	time.Sleep(held)
	p.Released = b.clock.Boot()
	_, err = s.Release(ctx, req.Key, done())
	return errors.Join(err, json.NewEncoder(os.Stdout).Encode(p))
}
