package measure

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/oneslot/oneslot/bench/internal/machine"
	"github.com/oneslot/oneslot/bench/internal/report"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// processes: number 5, programs of one host on one file.
func processes(ctx context.Context, b *Bench) ([]report.Row, error) {
	const rounds, callers, pairs = 7, 32, 25
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	path := b.path()
	s, err := b.store(ctx, path)
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck // the folder goes too
	disk, err := machine.NewDisk(b.Folder)
	if err != nil {
		return nil, err
	}
	defer disk.Close() //nolint:errcheck
	var all []*helper
	defer func() {
		cancel()
		for _, h := range all {
			h.end()
		}
	}()
	for i := range callers {
		h, err := b.helper(ctx, "pairs", path, fmt.Sprint(i), fmt.Sprint(pairs))
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	var p report.Pairs
	var syncs, worsts []float64
	for i := range rounds + 1 {
		sync, err := disk.Rate(100)
		if err != nil {
			return nil, err
		}
		at := time.Now()
		for _, h := range all {
			if _, err := fmt.Fprintln(h.in, "go"); err != nil {
				return nil, err
			}
		}
		worst := 0.0
		for _, h := range all {
			var longest float64
			if err := h.read(&longest); err != nil {
				return nil, err
			}
			worst = max(worst, longest)
		}
		if i == 0 {
			continue
		}
		p.Add(callers*pairs/time.Since(at).Seconds(), 400)
		syncs, worsts = append(syncs, sync), append(worsts, worst)
	}
	row := p.Into(report.Row{What: "32 processes together: claim+release", Unit: "/s", AtLeast: true, Limit: "400 /s"}).
		With("fdatasync", report.Median(syncs), "/s").
		With("longest step of all", report.Quantile(worsts, 1), "ms")
	return []report.Row{row}, nil
}

// pairsHelper claims and releases each time it is told to, and says how long
// the longest step took, in ms.
func pairsHelper(ctx context.Context, b *Bench, args []string) error {
	var n, pairs int
	if _, err := fmt.Sscan(args[1]+" "+args[2], &n, &pairs); err != nil {
		return err
	}
	s, err := sqlite.Open(args[0], sqlite.Options{Clock: b.clock})
	if err != nil {
		return err
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		longest := time.Duration(0)
		for range pairs {
			req := b.request(refOf("processes", n))
			at := time.Now()
			if _, err := s.Acquire(ctx, req); err != nil {
				return err
			}
			mid := time.Now()
			if _, err := s.Release(ctx, req.Key, done()); err != nil {
				return err
			}
			longest = max(longest, mid.Sub(at), time.Since(mid))
		}
		fmt.Println(ms(longest))
	}
	return nil
}

// helper is this program again, in another part.
type helper struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// helper starts one. It ends when its input does, or with ctx.
func (b *Bench) helper(ctx context.Context, name string, args ...string) (*helper, error) {
	h := &helper{Cmd: command(ctx, os.Environ(), append([]string{b.Self, HelperVerb, name}, args...)...)}
	h.Stderr = os.Stderr
	var err error
	if h.in, err = h.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := h.StdoutPipe()
	if err != nil {
		return nil, err
	}
	h.out = bufio.NewScanner(out)
	h.out.Buffer(nil, 4<<20)
	return h, h.Start()
}

// line waits for its next line.
func (h *helper) line() ([]byte, error) {
	if h.out.Scan() {
		return h.out.Bytes(), nil
	}
	return nil, errors.Join(fmt.Errorf("helper %d ended early", h.Process.Pid), h.out.Err())
}

func (h *helper) read(v any) error {
	text, err := h.line()
	if err == nil {
		_, err = fmt.Sscan(string(text), v)
	}
	return err
}

// say gives it a line, and waits for the one that it answers.
func (h *helper) say(text string) ([]byte, error) {
	if _, err := fmt.Fprintln(h.in, text); err != nil {
		return nil, err
	}
	return h.line()
}

// ask is say, with an answer in JSON.
func (h *helper) ask(text string, answer any) error {
	line, err := h.say(text)
	if err != nil {
		return err
	}
	return json.Unmarshal(line, answer)
}

// end has it end, and collects it.
func (h *helper) end() {
	h.in.Close()
	h.Wait() //nolint:errcheck // it may have been told to end
}
