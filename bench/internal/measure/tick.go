package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/oneslot/oneslot/bench/internal/report"
	"github.com/oneslot/oneslot/internal/forge/forgetest"
)

const (
	// tickCycle is how many quiet ticks a repository takes for all that it does in
	// turn: after the look at a pull request it rests until that is paid for.
	tickCycle = 7
	// tickSettles is when the forge's clock, which counts whole seconds, is past what
	// just changed.
	tickSettles = 3 * time.Second
	// catchesUp bounds how many ticks a poller takes to look at everything once.
	catchesUp = 40
)

// tick: number 16, a poller and its forges: one with ETags, one without.
func tick(ctx context.Context, b *Bench) (rows []report.Row, err error) {
	for _, kind := range []forgetest.Kind{forgetest.GitHub, forgetest.Gitea} {
		more, err := tickOf(ctx, b, kind)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", kind, err)
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func tickOf(ctx context.Context, b *Bench, kind forgetest.Kind) ([]report.Row, error) {
	const rounds = 6
	p, err := b.polled(ctx, kind)
	if err != nil {
		return nil, err
	}
	defer p.end()
	what := fmt.Sprintf("%s, 10,000 pull requests, a quiet tick: ", kind)
	first, t, err := p.tick()
	if err != nil {
		return nil, err
	}
	rss, _, err := memoryOf(p.poller.Process.Pid)
	if err != nil {
		return nil, err
	}
	memory := report.One(report.Row{What: fmt.Sprintf("%s, 10,000 pull requests, the first tick: resident after it", kind), Unit: "MB", Limit: "100 MB"}, rss, 100)
	requests := report.Row{What: what + "requests for each of 500 repositories, busiest tick", Limit: "1"}.
		With("requests of the first tick", float64(t.All), "").With("its processor time", first.CPU, "ms")
	all, ticks, err := p.catchUp()
	if err != nil {
		return nil, err
	}
	requests = requests.With("ticks until all was looked at", float64(ticks+1), "").With("requests of all these", float64(t.All+all), "")

	var per, free, walls []float64
	var cost report.Pairs
	var bares, each []float64
	for range rounds {
		ours, its, sum := 0.0, 0.0, 0
		for range tickCycle {
			s, t, err := p.tick()
			if err != nil {
				return nil, err
			}
			bare, err := p.bare(t)
			if err != nil {
				return nil, err
			}
			ours, its, sum = ours+s.CPU, its+bare.CPU, sum+t.All
			per, walls = append(per, float64(t.All)/worldRepos), append(walls, s.Wall)
			free = append(free, 100*float64(t.Unchanged)/float64(t.All))
		}
		cost.Add(ours/worldRepos/tickCycle, its/worldRepos/tickCycle+0.1)
		bares, each = append(bares, its/worldRepos/tickCycle), append(each, ours/float64(sum))
	}
	requests = requests.With("in the mean tick", report.Mean(per), "").With("answered 304", report.Mean(free), "%")
	cpu := cost.Into(report.Row{What: what + "processor for each repository", Unit: "ms", Limit: "bare client + 0.1 ms"}).
		With("of one request", report.Median(each), "ms").With("the whole tick takes", report.Median(walls), "ms").
		Beside("a bare net/http client, the same requests", report.Median(bares), "ms", "It reads the answers and knows nothing of what is in them.")

	var heap spent
	if err := p.poller.ask("heap", &heap); err != nil {
		return nil, err
	}
	if rss, _, err = memoryOf(p.poller.Process.Pid); err != nil {
		return nil, err
	}
	memory = memory.With("at the end", rss, "MB").With("heap in use then", heap.Heap, "MB")

	busy, err := p.busy(report.Mean(per) * worldRepos)
	if err != nil {
		return nil, err
	}
	requests = requests.With("1 % changed: requests of the busiest tick", busy.most, "").
		With("beyond those of quiet ones, for each that changed", busy.each, "").With("known after", busy.ticks, "ticks")
	return []report.Row{report.One(requests, report.Quantile(per, 1), 1), cpu, memory}, nil
}

// catchUp polls until everything was looked at once, and the repositories take turns.
func (p *polled) catchUp() (requests, ticks int, err error) {
	for quiet := 0; quiet < 2*tickCycle; quiet++ {
		_, t, err := p.tick()
		if err != nil {
			return 0, 0, err
		}
		if t.All > 2*worldRepos {
			requests, ticks, quiet = requests+t.All, ticks+1, -1
		}
		if ticks > catchesUp {
			return 0, 0, errors.New("the poller comes to no rest")
		}
	}
	return requests, ticks, nil
}

// busied is what it took to find what changed.
type busied struct{ most, each, ticks float64 }

// busy changes one pull request in a hundred, and polls until all of that is known.
// quiet is how many requests a tick takes else.
func (p *polled) busy(quiet float64) (b busied, err error) {
	const changes = worldRepos * worldPulls / 100
	if err := p.tell("change %d", changes); err != nil {
		return b, err
	}
	time.Sleep(tickSettles)
	found := 0
	for i := range tickCycle {
		s, t, err := p.tick()
		if err != nil {
			return b, err
		}
		if found < changes && s.Found > 0 {
			b.ticks = float64(i + 1)
		}
		found += s.Found
		b.most, b.each = max(b.most, float64(t.All)), b.each+float64(t.All)-quiet
	}
	if b.each /= changes; found < changes {
		return b, fmt.Errorf("of %d checks that failed %d were found", changes, found)
	}
	return b, nil
}

// polled is a forge, a poller that looks at it, and a bare client of the same forge.
type polled struct {
	*world
	poller, asker *helper
}

// polled starts all three.
func (b *Bench) polled(ctx context.Context, kind forgetest.Kind) (p *polled, err error) {
	p = &polled{}
	defer func() {
		if err != nil {
			p.end()
		}
	}()
	if p.world, err = b.world(ctx, kind, worldRepos, worldPulls, 0); err != nil {
		return p, err
	}
	path := b.path()
	s, err := b.store(ctx, path)
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		return p, err
	}
	if p.poller, err = b.helper(ctx, "poller", p.kind, p.api, path); err != nil {
		return p, err
	}
	p.asker, err = b.helper(ctx, "asker", p.kind, p.api)
	return p, err
}

func (p *polled) end() {
	for _, h := range []*helper{p.asker, p.poller} {
		if h != nil {
			h.end()
		}
	}
	if p.world != nil {
		p.world.end()
	}
}

// tick polls once, and tells what that took and what it sent.
func (p *polled) tick() (s spent, t traffic, err error) {
	if err = p.poller.ask("tick", &s); err == nil {
		err = s.err()
	}
	if err == nil {
		t, err = p.seen()
	}
	return s, t, err
}

// bare sends the same with the bare client.
func (p *polled) bare(t traffic) (s spent, err error) {
	if s, err = askBare(p.asker, t, askers); err != nil {
		return s, err
	}
	again, err := p.seen()
	if err == nil && (again.All != t.All || again.Unchanged != t.Unchanged) {
		err = fmt.Errorf("the bare client sent %d requests (%d answered 304), the poller %d (%d)", again.All, again.Unchanged, t.All, t.Unchanged)
	}
	return s, err
}

// askBare has a bare client send what was sent, so many requests at a time.
func askBare(asker *helper, t traffic, at int) (s spent, err error) {
	if t.All != len(t.List) {
		return s, fmt.Errorf("only %d of %d requests are known", len(t.List), t.All)
	}
	text, err := json.Marshal(batch{at, t.List})
	if err != nil {
		return s, err
	}
	if err = asker.ask(string(text), &s); err == nil {
		err = s.err()
	}
	if err != nil {
		err = fmt.Errorf("the bare client: %w", err)
	}
	return s, err
}
