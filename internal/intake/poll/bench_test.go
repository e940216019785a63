package poll

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// still is a forge on which nothing happens: what is measured is the poller alone.
type still struct {
	*fake
	repos []forge.Repo
	open  map[string][]forge.Thread
}

func (s *still) Repos(context.Context, []string) ([]forge.Repo, error) { return s.repos, nil }
func (s *still) Open(_ context.Context, repo string) ([]forge.Thread, error) {
	return s.open[repo], nil
}
func (s *still) Changed(context.Context, string, time.Time, forge.Seen) (forge.Changes, error) {
	return forge.Changes{Unchanged: true, At: time.Now()}, nil
}
func (s *still) Checks(_ context.Context, _, sha string) ([]forge.Check, error) {
	return []forge.Check{passing("1", "test")}, nil
}
func (s *still) Reviews(context.Context, slot.Ref) (forge.Reviews, error) {
	return forge.Reviews{}, nil
}
func (s *still) Commits(context.Context, string, time.Time) ([]forge.Commit, bool, error) {
	return []forge.Commit{{Sha: sha(1), At: time.Now()}}, false, nil
}
func (s *still) Thread(_ context.Context, ref slot.Ref) (forge.Thread, error) {
	t := pull(ref.Number())
	t.Ref = ref
	return t, nil
}

type nowhere struct{}

func (nowhere) Accept(context.Context, []Found) error { return nil }

// BenchmarkQuietTick is a tick over 500 repositories with 10,000 open pull requests, with
// all kinds wanted; and what is remembered of each, in bytes.
func BenchmarkQuietTick(b *testing.B) {
	const repos, pulls = 500, 20
	f := &still{fake: newFake(), open: map[string][]forge.Thread{}}
	for i := range repos {
		r := forge.Repo{ID: fmt.Sprint(i), Name: fmt.Sprintf("%s/octo/hello-%d", host, i), Default: "main"}
		f.repos = append(f.repos, r)
		for n := range pulls {
			t := pull(n + 1)
			t.Ref = refIn(fmt.Sprintf("octo/hello-%d", i), n+1)
			t.Title, t.Body, t.Comments = "Bump the dependency of something to another version", string(make([]byte, 2000)), 3
			t.Labels, t.UpdatedText = []string{"dependencies", "size/S"}, "2026-01-02T03:04:05Z"
			f.open[r.Name] = append(f.open[r.Name], t)
		}
	}
	var requests atomic.Int64
	p := New(Options{
		Sources: []Source{{Host: host, Client: f, Repos: []string{"octo/*"}, Poll: time.Minute}}, Sink: nowhere{},
		Wants:   func(k slot.EventKind) bool { return k != slot.Commented },
		Metrics: func(string, string, error) { requests.Add(1) },
	})
	before := heap()
	for range 30 { // all of it is looked at once
		if err := p.Tick(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	size := (heap() - before) / repos / pulls
	requests.Store(0)
	b.ResetTimer()
	for b.Loop() {
		if err := p.Tick(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/repos, "µs/repo")
	b.ReportMetric(float64(requests.Load())/float64(b.N)/repos, "requests/repo")
	b.ReportMetric(float64(size), "B/pull")
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
