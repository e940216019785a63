package measure

import (
	"context"
	"errors"
	"time"

	"github.com/oneslot/oneslot/bench/internal/machine"
	"github.com/oneslot/oneslot/bench/internal/report"
	"github.com/oneslot/oneslot/internal/claim"
)

// group: number 4, callers of one process share commits.
func group(ctx context.Context, b *Bench) ([]report.Row, error) {
	const rounds, callers, pairs = 11, 32, 50
	if err := b.sameRows(ctx); err != nil {
		return nil, err
	}
	s, err := b.store(ctx, b.path())
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck // the folder goes too
	r, err := b.raw(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck
	disk, err := machine.NewDisk(b.Folder)
	if err != nil {
		return nil, err
	}
	defer disk.Close() //nolint:errcheck

	var p report.Pairs
	var syncs, raws, cpu, rawCPU []float64
	for i := range rounds + 1 {
		sync, err := disk.Rate(40)
		if err != nil {
			return nil, err
		}
		its, itsUsed, err := cost(func() (float64, error) {
			return rate(pairs, func(int) error { return b.rawBatch(r, callers) })
		})
		if err != nil {
			return nil, err
		}
		its *= callers
		ours, used, err := cost(func() (float64, error) {
			at := time.Now()
			err := together(callers, func(c int) error {
				_, err := rate(pairs, func(int) error { return b.pair(ctx, s, refOf("group", c)) })
				return err
			})
			return callers * pairs / time.Since(at).Seconds(), err
		})
		if err != nil {
			return nil, err
		}
		if i == 0 {
			continue
		}
		p.Add(ours, 0.8*its)
		syncs, raws = append(syncs, sync), append(raws, its)
		cpu, rawCPU = append(cpu, used/callers/pairs), append(rawCPU, itsUsed/callers/pairs)
	}
	row := p.Into(report.Row{What: "32 goroutines, 32 refs: claim+release", Unit: "/s", AtLeast: true, Limit: "0.8 x raw SQLite, 32 to a commit"}).
		With("fdatasync", report.Median(syncs), "/s").
		With("processor time of one", report.Median(cpu), "ms").With("of a raw one", report.Median(rawCPU), "ms").
		Beside("raw SQLite, same rows, transactions of 32", report.Median(raws), "/s", rawLacks)
	return []report.Row{row}, nil
}

// rawBatch claims n refs in one transaction and releases them in another.
func (b *Bench) rawBatch(r *raw, n int) error {
	reqs := make([]claim.Request, n)
	for i := range reqs {
		reqs[i] = b.request(refOf("group", i))
	}
	all := func(f func(*Bench, claim.Request) error) func() error {
		return func() error {
			for _, req := range reqs {
				if err := f(b, req); err != nil {
					return err
				}
			}
			return nil
		}
	}
	if err := r.batch(all(r.take)); err != nil {
		return err
	}
	return r.batch(all(r.end))
}

// together calls f n times at once, and gives what went wrong.
func together(n int, f func(int) error) error {
	errs := make(chan error, n)
	for i := range n {
		go func() { errs <- f(i) }()
	}
	var all error
	for range n {
		all = errors.Join(all, <-errs)
	}
	return all
}
