package measure

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/oneslot/oneslot/bench/internal/machine"
	"github.com/oneslot/oneslot/bench/internal/report"
)

// start: number 1, what it costs to be the program at all.
func start(ctx context.Context, b *Bench) ([]report.Row, error) {
	const rounds, traces = 61, 15
	prog, err := b.oneslot(ctx)
	if err != nil {
		return nil, err
	}
	empty, err := b.emptyProgram(ctx)
	if err != nil {
		return nil, err
	}
	env := b.environ(b.path())
	var p report.Pairs
	var empties []float64
	for i := range rounds + 3 {
		e, err := machine.Exec(ctx, env, empty)
		if err != nil {
			return nil, err
		}
		v, err := machine.Exec(ctx, env, prog, "version")
		if err != nil {
			return nil, err
		}
		if i < 3 {
			continue // the first ones read the files
		}
		p.Add(ms(v), 4*ms(e))
		empties = append(empties, ms(e))
	}
	whole := p.Into(report.Row{What: "oneslot version", Unit: "ms", Limit: "4 x an empty Go program"}).
		With("an empty Go program", report.Median(empties), "ms")

	inits := map[string][]float64{}
	for range traces {
		if err := traceInits(ctx, env, prog, inits); err != nil {
			return nil, err
		}
	}
	worst, sum := "none", 0.0
	for name, times := range inits {
		sum += report.Median(times)
		if worst == "none" || report.Median(times) > report.Median(inits[worst]) {
			worst = name
		}
	}
	if len(inits) == 0 {
		return nil, fmt.Errorf("GODEBUG=inittrace=1 printed nothing")
	}
	one := report.One(report.Row{What: "slowest package init (" + worst + ")", Unit: "ms", Limit: "1 ms"}, report.Median(inits[worst]), 1).
		With("all inits together", sum, "ms")
	one.Rounds = traces
	return []report.Row{whole, one}, nil
}

// traceInits adds the time of each package's initialisation, in ms.
func traceInits(ctx context.Context, env []string, prog string, inits map[string][]float64) error {
	cmd := command(ctx, append(env[:len(env):len(env)], "GODEBUG=inittrace=1"), prog, "version")
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s version: %w\n%s", prog, err, out.Bytes())
	}
	for s := bufio.NewScanner(&out); s.Scan(); {
		// init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs
		name, rest, ok := strings.Cut(strings.TrimPrefix(s.Text(), "init "), " @")
		if !ok || !strings.HasPrefix(s.Text(), "init ") {
			continue
		}
		var at, took float64
		if _, err := fmt.Sscanf(rest, "%f ms, %f ms clock", &at, &took); err != nil {
			return fmt.Errorf("inittrace line %q: %w", s.Text(), err)
		}
		inits[name] = append(inits[name], took)
	}
	return nil
}
