package measure

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/bench/internal/report"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
)

// resident: number 8, what the supervisors of a busy host cost while they wait.
func resident(ctx context.Context, b *Bench) ([]report.Row, error) {
	const runs = 200
	const window = 40 * time.Second // two renewals of each
	prog, err := b.oneslot(ctx)
	if err != nil {
		return nil, err
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		return nil, err
	}
	path := b.path()
	s, err := b.store(ctx, path)
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck // the folder goes too
	var all []*exec.Cmd
	defer func() { endAll(all) }()
	env := b.environ(path)
	if !proc.FirstNamespace() {
		return nil, errors.New("not in the machine's first pid namespace: each run has a warden beside its supervisor here")
	}
	for i := range runs {
		cmd := command(ctx, env, prog, "run", refOf("resident", i).String(), "--", sleep, "300")
		cmd.WaitDelay = 10 * time.Second // when ctx ends, all of them do at once
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		all = append(all, cmd)
		want := len(all) - starting
		if len(all) == runs {
			want = runs
		}
		err := until(ctx, "running", func() (bool, error) {
			live, err := s.Live(ctx)
			n := 0
			for _, c := range live {
				if c.Phase == slot.Running {
					n++
				}
			}
			return n >= want, err
		})
		if err != nil {
			return nil, err
		}
	}
	before, err := cpuOf(all)
	if err != nil {
		return nil, err
	}
	at := time.Now()
	select {
	case <-time.After(window):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	after, err := cpuOf(all)
	if err != nil {
		return nil, err
	}
	share := 100 * (after - before).Seconds() / time.Since(at).Seconds()
	var rss, pss []float64
	for _, cmd := range all {
		r, p, err := memoryOf(cmd.Process.Pid)
		if err != nil {
			return nil, err
		}
		rss, pss = append(rss, r), append(pss, p)
	}
	mem := report.One(report.Row{What: "200 runs: largest resident size of one", Unit: "MB", Limit: "25 MB each"}, report.Quantile(rss, 1), 25).
		With("median", report.Median(rss), "MB").With("proportional (Pss), median", report.Median(pss), "MB").
		With("Pss, largest", report.Quantile(pss, 1), "MB").With("Pss, all", report.Mean(pss)*runs, "MB")
	cpu := report.One(report.Row{What: "200 runs: processor, all together", Unit: "%", Limit: "5 % of one core"}, share, 5).
		With("over", window.Seconds(), "s").With("each", ms(after-before)/runs/window.Seconds(), "ms of processor per second").
		With("started in, each", ms(before)/runs, "ms of processor")
	return []report.Row{mem, cpu}, nil
}

// endAll tells processes to end, a few at a time, and collects them.
func endAll(all []*exec.Cmd) {
	for some := range slices.Chunk(all, starting) {
		for _, cmd := range some {
			cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it may have ended
		}
		for _, cmd := range some {
			cmd.Wait() //nolint:errcheck // it was told to end
		}
	}
}

// cpuOf is the processor time that the processes have used, all together.
func cpuOf(all []*exec.Cmd) (sum time.Duration, err error) {
	for _, cmd := range all {
		n, err := ticksOf(cmd.Process.Pid)
		if err != nil {
			return 0, err
		}
		sum += ticks(n)
	}
	return sum, nil
}

// memoryOf is what a process keeps in memory, and its share of that when what
// it has in common with others is divided among them; in MB.
func memoryOf(pid int) (rss, pss float64, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var kb float64
		if rest, ok := strings.CutPrefix(s.Text(), "Rss:"); ok {
			fmt.Sscan(rest, &kb) //nolint:errcheck // 0 fails below
			rss = kb / 1024
		} else if rest, ok := strings.CutPrefix(s.Text(), "Pss:"); ok {
			fmt.Sscan(rest, &kb) //nolint:errcheck
			pss = kb / 1024
		}
	}
	if rss == 0 || pss == 0 {
		return 0, 0, fmt.Errorf("/proc/%d/smaps_rollup does not say", pid)
	}
	return rss, pss, nil
}
