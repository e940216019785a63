package history

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// Load drives stores as careless dispatchers would: claims are taken, renewed,
// checked, forgotten, given back twice, and taken from others.
type Load struct {
	Refs    []slot.Ref
	Workers int // each with a store of its own
	Steps   int // of each worker
	TTL     time.Duration
	Seed    uint64
	// Pass lets time go by between steps; nil goes on at once.
	Pass func(time.Duration)
}

// Run opens a store per worker and returns when all have done their steps or
// ctx has ended. What the stores answer is for the record to judge.
func (l Load) Run(ctx context.Context, open func() (claim.Store, error)) error {
	errs := make([]error, l.Workers)
	var wg sync.WaitGroup
	for i := range l.Workers {
		wg.Go(func() {
			s, err := open()
			if err != nil {
				errs[i] = err
				return
			}
			w := &worker{Load: l, s: s, rnd: rand.New(rand.NewPCG(l.Seed, uint64(i)))}
			for n := 0; n < l.Steps && ctx.Err() == nil; n++ {
				w.step(ctx)
			}
			errs[i] = s.Close()
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

type worker struct {
	Load
	s    claim.Store
	rnd  *rand.Rand
	keys []claim.Key // that it was ever given, the last one perhaps still good
}

func (w *worker) step(ctx context.Context) {
	if w.Pass != nil {
		w.Pass(time.Duration(w.rnd.Int64N(int64(w.TTL) / 4)))
	}
	ref := w.Refs[w.rnd.IntN(len(w.Refs))]
	if len(w.keys) == 0 {
		w.acquire(ctx, ref, nil)
		return
	}
	key := w.keys[len(w.keys)-1]
	if w.rnd.IntN(8) == 0 { // an owner of long ago
		key = w.keys[w.rnd.IntN(len(w.keys))]
	}
	switch w.rnd.IntN(8) {
	case 0, 1:
		w.s.Renew(ctx, key) //nolint:errcheck // here and below the record has it
	case 2:
		w.s.Check(ctx, key) //nolint:errcheck
	case 3, 4:
		w.s.Release(ctx, key, slot.Outcome{Result: slot.Done}) //nolint:errcheck
	case 5:
		w.s.Look(ctx, ref) //nolint:errcheck
	default:
		w.acquire(ctx, ref, nil)
	}
}

func (w *worker) acquire(ctx context.Context, ref slot.Ref, d *claim.Displace) {
	req := claim.Request{
		Ref: ref, Key: claim.NewKey(ref), Kind: slot.Detached, TTL: w.TTL, Displace: d,
		Holder: slot.Holder{Host: "host-a", Path: "manual", Command: "history"},
	}
	_, err := w.s.Acquire(ctx, req)
	if err == nil || errors.Is(err, slot.ErrUnknown) {
		w.keys = append(w.keys, req.Key)
	}
	if errors.Is(err, slot.ErrUnknown) || w.rnd.IntN(8) == 0 {
		w.s.Acquire(ctx, req) //nolint:errcheck // the same again: its answer may have been lost
	}
	if busy, ok := errors.AsType[*slot.BusyError](err); ok && d == nil && busy.Claim.ID != "" {
		if why := []claim.Why{claim.Forced, claim.Dead, claim.Overdue}; w.rnd.IntN(4) == 0 {
			w.acquire(ctx, ref, &claim.Displace{Claim: busy.Claim.ID, Why: why[w.rnd.IntN(len(why))]})
		}
	}
}
