package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/bench/internal/report"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

const pendingRepos = 1000

// pending: number 14, a daemon that starts after kill -9 with a million items due.
func pending(ctx context.Context, b *Bench) (_ []report.Row, err error) {
	const items, rounds = 1_000_000, 3
	more, err := b.newDeliveries()
	if err != nil {
		return nil, err
	}
	said, err := b.newFifo()
	if err != nil {
		return nil, err
	}
	defer said.Close()
	said.listen()
	script := fmt.Sprintf("echo started >%s; sleep 0.1", said.Name())
	d, err := b.newDaemon(ctx, "[limits]\nrunning = 2\n"+fmt.Sprintf(runRules, script))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.end()) }()
	at := time.Now()
	if err := b.fillQueue(ctx, d.path, items); err != nil {
		return nil, err
	}
	filled := time.Since(at).Seconds()
	fi, err := os.Stat(d.path)
	if err != nil {
		return nil, err
	}
	var accepted, started, memory report.Pairs
	for range rounds {
		if err := d.serve(ctx); err != nil {
			return nil, err
		}
		if err := d.crash(ctx); err != nil {
			return nil, err
		}
		for len(said.words) > 0 {
			<-said.words
		}
		request := more.result(d.host, 1_000_000+more.n)
		at := time.Now()
		if err := d.start(ctx); err != nil {
			return nil, err
		}
		err := until(ctx, "a delivery is accepted", func() (bool, error) {
			s, err := dial(d.host)
			if err != nil {
				return false, nil
			}
			defer hangUp([]*sender{s})
			return true, s.accepted(request)
		})
		if err != nil {
			return nil, d.said(err)
		}
		took := ms(time.Since(at))
		first, err := said.wait(ctx, "started")
		if err != nil {
			return nil, d.said(err)
		}
		for range 20 { // it goes on
			if _, err := said.wait(ctx, "started"); err != nil {
				return nil, d.said(err)
			}
		}
		peak, err := peakOf(d.cmd.Process.Pid)
		if err != nil {
			return nil, err
		}
		accepted.Add(took, 1000)
		started.Add(ms(first.Sub(at)), 5000)
		memory.Add(peak, 100)
		if err := d.crash(ctx); err != nil {
			return nil, err
		}
	}
	row := report.Row{Unit: "ms", Limit: "1 s after the start"}
	row.What = "1,000,000 items wait: a delivery is accepted"
	a := accepted.Into(row).With("slowest", accepted.Worst(), "ms").With("to fill the store", filled, "s").
		With("its size", float64(fi.Size())/(1<<20), "MB")
	row.What, row.Limit = "1,000,000 items wait: the first run starts", "5 s after the start"
	s := started.Into(row).With("slowest", started.Worst(), "ms")
	row = report.Row{What: "1,000,000 items wait: resident, largest", Unit: "MB", Limit: "100 MB"}
	return []report.Row{a, s, memory.Into(row).With("largest of all", memory.Worst(), "MB")}, nil
}

// crash kills the daemon, and waits until no run of it is left.
func (d *daemon) crash(ctx context.Context) error {
	if err := d.kill(); err != nil {
		return err
	}
	s, err := d.store(ctx, d.path)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // it is read from
	return until(ctx, "no run is left", func() (bool, error) {
		live, err := s.Live(ctx)
		return len(live) == 0, err
	})
}

// peakOf is the most that a process has had in memory, in MB.
func peakOf(pid int) (mb float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			_, err = fmt.Sscan(rest, &mb)
			return mb / 1024, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/status does not say", pid)
}

// fillQueue makes a store with n items that are due, in many repositories. The queue
// itself writes the first one; the others are its rows under other names.
func (b *Bench) fillQueue(ctx context.Context, path string, n int) error {
	s, err := b.store(ctx, path)
	if err != nil {
		return err
	}
	ref := refOf("pending0", 0)
	_, err = s.Queue().Accept(ctx, queue.Arrival{Wishes: []queue.Wish{{
		Event: slot.Event{
			Path: slot.PathWebhook, Repo: ref.Repo(), Ref: ref, Kind: slot.CIPassed,
			Sha: "3484a3fb816e0859fd6e1cea078d76385ff50625", Fingerprint: "ci_passed 3484a3fb816e0859fd6e1cea078d76385ff50625 1 1",
		},
		Policies: []queue.Policy{{Rule: "work", Attempts: 3, BackoffMin: 30 * time.Second, BackoffMax: 30 * time.Minute}},
	}}})
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	r, err := openRaw(ctx, path, "journal_mode(off)", "synchronous(0)")
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // it is made anew each time
	if err := r.batch(func() error { return r.enqueue(ctx, n, ref) }); err != nil {
		return err
	}
	return r.exec("PRAGMA journal_mode=wal")
}

// enqueue copies the item and the event of the first ref to n-1 others.
func (r *raw) enqueue(ctx context.Context, n int, first slot.Ref) error {
	items, err := r.columns(ctx, "item", "id", "slot", "lane")
	if err != nil {
		return err
	}
	events, err := r.columns(ctx, "event", "n", "item", "repo")
	if err != nil {
		return err
	}
	type name struct {
		slug, ref string
		repo      int
	}
	names := make([]name, 0, n)
	for i := 1; i < n; i++ {
		ref := refOf(fmt.Sprint("pending", i%pendingRepos), i/pendingRepos)
		names = append(names, name{ref.Slug(), ref.String(), i % pendingRepos})
	}
	slices.SortFunc(names, func(a, b name) int { return strings.Compare(a.slug, b.slug) })
	err = r.exec("CREATE TEMP TABLE many (id INTEGER PRIMARY KEY, repo INTEGER)")
	for some := range slices.Chunk(names, 500) {
		if err != nil {
			return err
		}
		var slots, repos []any
		for _, n := range some {
			slots, repos = append(slots, n.slug, n.ref), append(repos, n.slug, n.repo)
		}
		values := "(?, ?)" + strings.Repeat(", (?, ?)", len(some)-1)
		err = errors.Join(r.exec("INSERT INTO slot (slug, ref) VALUES "+values, slots...),
			r.exec("INSERT INTO many SELECT id, column2 FROM (VALUES "+values+") JOIN slot ON slug = column1", repos...))
	}
	of := strings.TrimSuffix(first.Repo(), "0")
	return errors.Join(err,
		r.exec(`INSERT INTO lane (person, priority, repo, items, turn)
			SELECT person, priority, ? || many.repo, count(*), many.repo + 2 FROM many, lane WHERE many.repo <> 0 GROUP BY many.repo`, of),
		r.exec(`UPDATE lane SET items = 1 + (SELECT count(*) FROM many WHERE repo = 0) WHERE repo = ?`, first.Repo()),
		r.exec(`INSERT INTO item (slot, lane, `+items+`) SELECT many.id, (SELECT id FROM lane WHERE person = 0 AND priority = 0 AND lane.repo = ? || many.repo), `+
			items+` FROM many, item WHERE item.id = 1`, of),
		r.exec(`INSERT INTO event (item, repo, `+events+`) SELECT item.id, ? || many.repo, `+qualified("event", events)+
			` FROM many JOIN item ON item.slot = many.id, event WHERE event.n = 1`, of),
		r.exec("DROP TABLE many"))
}

// qualified is a list of columns with their table's name.
func qualified(table, columns string) string {
	return table + "." + strings.ReplaceAll(columns, ", ", ", "+table+".")
}
