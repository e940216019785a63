package measure

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/bench/internal/report"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// takeover: number 9, from kill -9 of a supervisor to the next worker's start,
// the old worker gone.
func takeover(ctx context.Context, b *Bench) ([]report.Row, error) {
	const rounds = 7
	const grace = time.Second
	prog, err := b.oneslot(ctx)
	if err != nil {
		return nil, err
	}
	path := b.path()
	s, err := b.store(ctx, path)
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck // the folder goes too
	t := &takeovers{Bench: b, prog: prog, path: path, store: s, grace: grace}
	var rows []report.Row
	for _, worker := range []string{"gentle", "stubborn"} {
		var waited, came report.Pairs
		for range rounds {
			for _, inLine := range []bool{true, false} {
				d, err := t.once(ctx, worker, inLine)
				if err != nil {
					return nil, err
				}
				if inLine {
					waited.Add(ms(d), ms(time.Second+grace))
				} else {
					came.Add(ms(d), ms(time.Second+grace))
				}
			}
		}
		what := map[string]string{"gentle": "a worker that obeys TERM", "stubborn": "a worker that ignores TERM"}[worker]
		row := report.Row{Unit: "ms", Limit: "1 s + grace (1 s)"}
		row.What = "takeover, " + what + ", by one in line"
		rows = append(rows, waited.Into(row).With("slowest", waited.Worst(), "ms"))
		row.What = "takeover, " + what + ", by one that comes"
		rows = append(rows, came.Into(row).With("slowest", came.Worst(), "ms"))
	}
	return rows, nil
}

type takeovers struct {
	*Bench
	prog, path string
	store      *sqlite.Store
	grace      time.Duration
	n          int
}

// once gives the time from the kill to the first instruction of the next
// worker. inLine: its run waited already; else it is started with the kill.
func (t *takeovers) once(ctx context.Context, worker string, inLine bool) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	t.n++
	ref := refOf("takeover", t.n)
	first := t.run(ctx, ref, "fail", t.Self, HelperVerb, "worker", worker)
	old, err := firstLine(first)
	if err != nil {
		return 0, err
	}
	var pid int
	if _, err := fmt.Sscan(old, &pid); err != nil {
		return 0, fmt.Errorf("the worker said %q: %w", old, err)
	}
	var over bool
	defer func() {
		if !over { // what went wrong must not leave it behind
			syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck
		}
	}()
	id, err := proc.Identify(pid)
	if err != nil {
		return 0, fmt.Errorf("the worker: %w", err)
	}
	next := t.run(ctx, ref, "wait", t.Self, HelperVerb, "stamp", fmt.Sprint(id.PID), fmt.Sprint(id.Ticks))
	var out *bufio.Scanner
	if inLine {
		if out, err = started(next); err != nil {
			return 0, err
		}
		err := until(ctx, "in line", func() (bool, error) {
			look, err := t.store.Look(ctx, ref)
			return look.Waiting == 1, err
		})
		if err != nil {
			return 0, err
		}
		time.Sleep(20 * time.Millisecond) // it begins to watch
	}
	killed := t.clock.Boot()
	if err := first.Process.Kill(); err != nil {
		return 0, err
	}
	if !inLine {
		if out, err = started(next); err != nil {
			return 0, err
		}
	}
	if !out.Scan() {
		return 0, errors.Join(errors.New("the next worker did not start"), next.Wait(), first.Wait())
	}
	var at int64
	var life string
	if _, err := fmt.Sscan(out.Text(), &at, &life); err != nil {
		return 0, err
	}
	first.Wait() //nolint:errcheck // it was killed
	if err := next.Wait(); err != nil {
		return 0, err
	}
	if over = life == string(proc.Dead); !over {
		return 0, fmt.Errorf("the old worker (pid %d) was %s when the next one started", pid, life)
	}
	return time.Duration(at) - killed, nil
}

func (t *takeovers) run(ctx context.Context, ref slot.Ref, onBusy string, argv ...string) *exec.Cmd {
	args := append([]string{t.prog, "run", ref.String(), "--on-busy", onBusy, "--ttl", "10s", "--grace", t.grace.String(), "--"}, argv...)
	return command(ctx, t.environ(t.path), args...)
}

// started starts a process and gives its output.
func started(cmd *exec.Cmd) (*bufio.Scanner, error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return bufio.NewScanner(out), cmd.Start()
}

// firstLine starts a process and waits for its first line.
func firstLine(cmd *exec.Cmd) (string, error) {
	out, err := started(cmd)
	if err != nil {
		return "", err
	}
	if !out.Scan() {
		return "", errors.Join(errors.New("it ended and said nothing"), cmd.Wait())
	}
	return out.Text(), nil
}
