package measure

import (
	"context"
	"errors"
	"time"

	"github.com/oneslot/oneslot/bench/internal/machine"
	"github.com/oneslot/oneslot/bench/internal/report"
)

const rawLacks = "It decides nothing: whoever writes last has the slot; no holder is judged, no line, no refusal, no turn among processes."

// serial: number 3, one caller after the other, two commits each.
func serial(ctx context.Context, b *Bench) ([]report.Row, error) {
	const rounds, pairs = 15, 40
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
		sync, err := disk.Rate(2 * pairs)
		if err != nil {
			return nil, err
		}
		ours, used, err := cost(func() (float64, error) {
			return rate(pairs, func(n int) error { return b.pair(ctx, s, refOf("serial", n)) })
		})
		if err != nil {
			return nil, err
		}
		its, itsUsed, err := cost(func() (float64, error) {
			return rate(pairs, func(n int) error {
				req := b.request(refOf("serial", n))
				return errors.Join(r.batch(func() error { return r.take(b, req) }), r.batch(func() error { return r.end(b, req) }))
			})
		})
		if err != nil {
			return nil, err
		}
		if i == 0 {
			continue // the first one makes the rows
		}
		p.Add(ours, 0.9*sync/2)
		syncs, raws = append(syncs, sync), append(raws, its)
		cpu, rawCPU = append(cpu, used/pairs), append(rawCPU, itsUsed/pairs)
	}
	row := p.Into(report.Row{What: "serial claim+release", Unit: "/s", AtLeast: true, Limit: "0.9 x fdatasync rate / 2"}).
		With("fdatasync", report.Median(syncs), "/s").
		With("processor time of one", report.Median(cpu), "ms").With("of a raw one", report.Median(rawCPU), "ms").
		Beside("raw SQLite, same rows, a transaction each", report.Median(raws), "/s", rawLacks)
	return []report.Row{row}, nil
}

// raw makes a database and opens it for the raw writer.
func (b *Bench) raw(ctx context.Context) (*raw, error) {
	path := b.path()
	s, err := b.store(ctx, path)
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		return nil, err
	}
	return openRaw(ctx, path)
}

// cost is f, and the processor time in ms that this process spent in it: what
// is left of a rate when the disk and the other programs are taken away.
func cost(f func() (float64, error)) (result, used float64, err error) {
	before, err := machine.Now()
	if err != nil {
		return 0, 0, err
	}
	if result, err = f(); err != nil {
		return 0, 0, err
	}
	after, err := machine.Now()
	return result, after.Used(before), err
}

// rate does something n times and gives how often per second.
func rate(n int, f func(int) error) (float64, error) {
	at := time.Now()
	for i := range n {
		if err := f(i); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(at).Seconds(), nil
}
