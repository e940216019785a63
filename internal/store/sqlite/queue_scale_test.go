package sqlite

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// fill puts items into a new file, all pending, in so many repositories. Those of
// the repositories from the first on are due; of the rest, none is.
func fill(t testing.TB, s *Store, items, repos, due int) {
	t.Helper()
	err := s.do(context.Background(), "fill", func(t *tx) error {
		now := t.ms()
		for _, q := range []string{
			`CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ` + fmt.Sprint(items) + `) SELECT i FROM n`,
			`INSERT INTO slot (id, slug, ref) SELECT i + 1, 's' || i, 'github.com/octo/r' || (i % ` + fmt.Sprint(repos) + `) || '#' || (i + 1) FROM n`,
			fmt.Sprintf(`INSERT INTO lane (id, person, priority, repo, items, turn)
				SELECT i + 1, 0, 0, 'github.com/octo/r' || i, %d, %d - i FROM n WHERE i < %[2]d`, items/repos, repos),
			fmt.Sprintf(`INSERT INTO item (slot, rule, policy, state, lane, run, told, attempts, laters, defers, sha, kinds, fresh, reason, detail,
					due, age, burst, last, deferred, person, asked)
				SELECT i + 1, 'fix', '{"rule":"fix","attempts":3}', 'pending', i %% %d + 1, '', 0, 0, 0, 0, 'aaaa', 'ci_failed', 0, 'quiet', '',
					CASE WHEN i %% %[1]d < %d THEN %d - i ELSE %[3]d + 3600000 END, %[3]d - i, %[3]d - i, %[3]d - i, 0, 0, 0 FROM n`, repos, due, now),
			`INSERT INTO event (item, state, rule, path, repo, kind, sha, fingerprint, key, facts, delivery, at)
				SELECT id, 'waiting', 'fix', 'webhook', 'github.com/octo/r', 'ci_failed', 'aaaa', 'f' || id, '', '{}', 0, age FROM item`,
			`DROP TABLE n`,
		} {
			if err := t.exec(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A look at what is due costs the same however much waits.
func BenchmarkPick(b *testing.B) {
	for _, at := range []struct{ items, repos, due int }{
		{1_000_000, 1, 1}, {1_000_000, 10_000, 10_000}, {1_000_000, 10_000, 1},
	} {
		b.Run(fmt.Sprintf("items=%d/repos=%d/due=%d", at.items, at.repos, at.due), func(b *testing.B) {
			s := fresh(b)
			fill(b, s, at.items, at.repos, at.due)
			q := s.Queue()
			b.ResetTimer()
			for b.Loop() {
				looks, err := q.Pick(context.Background(), 16, []int64{1, 2, 3}, nil)
				if want := min(at.due*16, 16); err != nil || len(looks) != want {
					b.Fatalf("%d looks, %v; want %d", len(looks), err, want)
				}
				for _, full := range [][]string{nil, {"github.com/octo/r0"}} {
					if _, err := q.NextDue(context.Background(), []int64{1, 2, 3}, full); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// The hot path of a storm: one delivery with one event for an item of its own.
func BenchmarkAccept(b *testing.B) {
	for _, events := range []string{"one item", "items of their own"} {
		b.Run(strings.ReplaceAll(events, " ", "-"), func(b *testing.B) {
			s := fresh(b)
			q := s.Queue()
			n := make(chan int, 1)
			n <- 0
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					i := <-n
					n <- i + 1
					r := ref(1)
					if events != "one item" {
						r = ref(i + 1)
					}
					if _, err := q.Accept(context.Background(), arrivalOf(r, i)); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// arrivalOf is the i-th delivery, with one event for a ref.
func arrivalOf(r slot.Ref, i int) queue.Arrival {
	return queue.Arrival{
		Delivery: &slot.Delivery{Hook: "forge", GUID: fmt.Sprintf("g%d", i), Event: "check_run", Size: 2, Body: []byte("{}")},
		Wishes: []queue.Wish{{
			Event:    slot.Event{Path: slot.PathWebhook, Repo: r.Repo(), Ref: r, Kind: slot.CIFailed, Sha: "aaaa", Fingerprint: fmt.Sprintf("ci_failed/%d", i)},
			Policies: []queue.Policy{{Rule: "fix", Attempts: 3, BackoffMin: time.Second, BackoffMax: time.Minute}},
		}},
	}
}

// What is asked often is answered by an index.
func TestQueueGoesByItsIndexes(t *testing.T) {
	s := fresh(t)
	fill(t, s, 2000, 20, 10)
	for _, tt := range []struct {
		name, query string
		args        []any
	}{
		{"lanes", dueLanes, []any{"[]", 0, "[]", 16, true, "[1]"}},
		{"few lanes", fewLanes, []any{0, 16}},
		{"items of a lane", dueItems, []any{1, 0, "[]", 16}},
		{"the next that is due but where it is full", nextDueBut, []any{"[]", "[]"}},
		{"events of an item", waitingEvents, []any{"[1,2]"}},
		{"who runs", "SELECT " + workColumns + workTables + "WHERE i.run = ? AND i.run <> ''", []any{"x"}},
		{"who is deferred", "UPDATE item SET due = 0 WHERE deferred <> 0 AND lane <> 0 AND due > 1 AND reason >= ? AND reason < ?", []any{"a", "b"}},
	} {
		err := s.do(context.Background(), "plan", func(tx *tx) error {
			var plan []string
			err := tx.all("EXPLAIN QUERY PLAN "+tt.query, tt.args, func(sc scanner) error {
				var id, parent, unused int64
				var step string
				err := sc.Scan(&id, &parent, &unused, &step)
				plan = append(plan, step)
				return err
			})
			for _, step := range plan {
				full := strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "lane_turn") && !strings.HasPrefix(step, "SCAN l USING COVERING INDEX") && !strings.Contains(step, "json_each") && !strings.Contains(step, "(subquery")
				if full {
					t.Errorf("%s: %s\nin %s", tt.name, step, strings.Join(plan, "\n   "))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
