package measure

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/bench/internal/machine"
	"github.com/oneslot/oneslot/bench/internal/report"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// scale: number 7, what is on record must not slow down what is asked.
func scale(ctx context.Context, b *Bench) ([]report.Row, error) {
	const few, many = 1_000, 1_000_000
	const rounds, claims, colds = 9, 60, 15
	small, large := b.path(), b.path()
	if err := b.fill(ctx, small, few); err != nil {
		return nil, err
	}
	at := time.Now()
	if err := b.fill(ctx, large, many); err != nil {
		return nil, err
	}
	filled := time.Since(at)
	disk, err := machine.NewDisk(b.Folder)
	if err != nil {
		return nil, err
	}
	defer disk.Close() //nolint:errcheck // the folder goes too

	var cold report.Pairs
	var smallCold []float64
	for range colds {
		l, err := b.coldClaim(ctx, large, many)
		if err != nil {
			return nil, err
		}
		s, err := b.coldClaim(ctx, small, few)
		if err != nil {
			return nil, err
		}
		cold.Add(l, 1.5*s)
		smallCold = append(smallCold, s)
	}
	var warm report.Pairs
	var smallWarm, smallMean, largeMean, syncs []float64
	for path := range map[string]bool{small: true, large: true} {
		if _, err := os.ReadFile(path); err != nil { // into the page cache; nobody has it open
			return nil, err
		}
	}
	ls, err := b.store(ctx, large)
	if err != nil {
		return nil, err
	}
	defer ls.Close() //nolint:errcheck
	ss, err := b.store(ctx, small)
	if err != nil {
		return nil, err
	}
	defer ss.Close() //nolint:errcheck
	for i := range rounds + 1 {
		took, err := disk.Sync(20)
		if err != nil {
			return nil, err
		}
		s, err := b.claimTimes(ctx, ss, few, claims)
		if err != nil {
			return nil, err
		}
		l, err := b.claimTimes(ctx, ls, many, claims)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			continue
		}
		warm.Add(report.Median(l), 1.5*report.Median(s))
		smallWarm, smallMean, largeMean = append(smallWarm, report.Median(s)), append(smallMean, report.Mean(s)), append(largeMean, report.Mean(l))
		for _, t := range took {
			syncs = append(syncs, ms(t))
		}
	}
	row := report.Row{Unit: "ms", Limit: "1.5 x that with 1,000 slots"}
	row.What = "a claim, 1,000,000 slots on record"
	warmed := warm.Into(row).With("1,000 slots", report.Median(smallWarm), "ms").
		With("means", report.Mean(largeMean), "ms").With("against", report.Mean(smallMean), "ms").
		With("fdatasync", report.Median(syncs), "ms").With("to fill the store", filled.Seconds(), "s")
	row.What += ", cold"
	chilled := cold.Into(row).With("1,000 slots", report.Median(smallCold), "ms")
	return []report.Row{warmed, chilled}, nil
}

// claimTimes claims n refs of those on record, at random, and gives what each
// claim took; they are released again.
func (b *Bench) claimTimes(ctx context.Context, s *sqlite.Store, slots, n int) ([]float64, error) {
	var took []float64
	for range n {
		req := b.request(refOf("scale", rand.IntN(slots)))
		at := time.Now()
		if _, err := s.Acquire(ctx, req); err != nil {
			return nil, err
		}
		took = append(took, ms(time.Since(at)))
		if _, err := s.Release(ctx, req.Key, done()); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// coldClaim opens the store and claims, with nothing of the file in memory.
// Nobody else has it open, so that no lock is dropped by our own descriptor.
func (b *Bench) coldClaim(ctx context.Context, path string, slots int) (float64, error) {
	for _, end := range []string{"", "-wal"} {
		if err := forget(path + end); err != nil {
			return 0, err
		}
	}
	req := b.request(refOf("scale", rand.IntN(slots)))
	at := time.Now()
	s, err := sqlite.Open(path, sqlite.Options{Clock: b.clock})
	if err != nil {
		return 0, err
	}
	defer s.Close() //nolint:errcheck // what counts is answered
	if _, err := s.Acquire(ctx, req); err != nil {
		return 0, err
	}
	took := time.Since(at)
	_, err = s.Release(ctx, req.Key, done())
	return ms(took), err
}

// forget drops a file, if there is one, from the page cache.
func forget(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return err
	}
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// fill makes a store with n slots that were claimed and released once. The
// store itself writes the first one; the others are its rows under other names.
func (b *Bench) fill(ctx context.Context, path string, n int) error {
	s, err := b.store(ctx, path)
	if err != nil {
		return err
	}
	if err := b.pair(ctx, s, refOf("scale", 0)); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	r, err := openRaw(ctx, path, "journal_mode(off)", "synchronous(0)")
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it is made anew each time
	if err := r.batch(func() error { return r.multiply(ctx, n) }); err != nil {
		return err
	}
	var have int
	if err := r.conn.QueryRowContext(ctx, "SELECT count(*) FROM slot").Scan(&have); err != nil {
		return err
	}
	if have < n {
		return fmt.Errorf("%s has %d slots, not %d", path, have, n)
	}
	return r.exec("PRAGMA journal_mode=wal")
}

// multiply copies the rows of the first ref to n-1 others, in the order of the
// index, so that the time does not go into looking for its pages.
func (r *raw) multiply(ctx context.Context, n int) error {
	slots, err := r.columns(ctx, "slot", "id", "slug", "ref", "claim")
	if err != nil {
		return err
	}
	decisions, err := r.columns(ctx, "decision", "slot")
	if err != nil {
		return err
	}
	first := refOf("scale", 0).Slug()
	type name struct{ slug, ref string }
	names := make([]name, 0, n)
	for i := 1; i < n; i++ {
		ref := refOf("scale", i)
		names = append(names, name{ref.Slug(), ref.String()})
	}
	slices.SortFunc(names, func(a, b name) int { return strings.Compare(a.slug, b.slug) })
	for some := range slices.Chunk(names, 500) {
		args := make([]any, 0, 2*len(some)+1)
		for _, n := range some {
			args = append(args, n.slug, n.ref)
		}
		values := "(?, ?)" + strings.Repeat(", (?, ?)", len(some)-1)
		err := r.exec(fmt.Sprintf(`INSERT INTO slot (slug, ref, claim, %s)
			SELECT column1, column2, column1 || substr(claim, instr(claim, '.')), %[1]s
			FROM (VALUES %s), slot WHERE slug = ?`, slots, values), append(args, first)...)
		if err != nil {
			return err
		}
	}
	return r.exec(fmt.Sprintf(`INSERT INTO decision (slot, %s)
		SELECT n.number, %[1]s FROM (SELECT id AS number FROM slot WHERE slug <> ? AND ref LIKE '%%/scale#%%') n, decision
		WHERE slot = (SELECT id FROM slot WHERE slug = ?)`, decisions), first, first)
}
