package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oneslot/oneslot/bench/internal/machine"
	"github.com/oneslot/oneslot/bench/internal/report"
)

// runRules start a shell script at once.
const runRules = `
[[rule]]
name  = "work"
on    = ["ci_passed"]
quiet = "0s"
run   = ["/bin/sh", "-c", %q]
`

// runners is a daemon whose workers tell how far they are.
type runners struct {
	d    *daemon
	said *fifo
	post *sender
	more *deliveries
	disk *machine.Disk
}

// runners starts a daemon whose worker is the script, with "$1" for the pipe by
// which it tells.
func (b *Bench) runners(ctx context.Context, script string, more ...any) (r *runners, err error) {
	r = &runners{}
	if r.disk, err = machine.NewDisk(b.Folder); err != nil {
		return r, err
	}
	if r.more, err = b.newDeliveries(); err != nil {
		return r, err
	}
	if r.said, err = b.newFifo(); err != nil {
		return r, err
	}
	r.said.listen()
	if r.d, err = b.newDaemon(ctx, fmt.Sprintf(runRules, fmt.Sprintf(script, append([]any{r.said.Name()}, more...)...))); err != nil {
		return r, errors.Join(err, r.said.Close())
	}
	if err = r.d.serve(ctx); err == nil {
		r.post, err = dial(r.d.host)
	}
	if err != nil {
		err = errors.Join(err, r.close())
	}
	return r, err
}

func (r *runners) close() error {
	err := r.d.end()
	return errors.Join(err, r.said.Close(), r.disk.Close())
}

// firstInstruction: number 12, from a delivery to the worker that it starts.
func firstInstruction(ctx context.Context, b *Bench) (_ []report.Row, err error) {
	const rounds, script = 31, "echo started >%[1]s"
	r, err := b.runners(ctx, script)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()

	var p report.Pairs
	var forks, syncs, answered []float64
	for i := range rounds + 2 {
		if err := r.d.still(ctx); err != nil {
			return nil, err
		}
		sync, err := r.disk.Sync(1)
		if err != nil {
			return nil, err
		}
		at := time.Now()
		cmd := command(ctx, b.environ(""), "/bin/sh", "-c", fmt.Sprintf(script, r.said.Name()))
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		told, err := r.said.wait(ctx, "started")
		if err != nil {
			return nil, errors.Join(err, cmd.Wait())
		}
		fork := ms(told.Sub(at))
		if err := cmd.Wait(); err != nil {
			return nil, err
		}
		request := r.more.result(r.d.host, i+1)
		at = time.Now()
		if err := r.post.accepted(request); err != nil {
			return nil, r.d.said(err)
		}
		answer := ms(time.Since(at))
		if told, err = r.said.wait(ctx, "started"); err != nil {
			return nil, r.d.said(err)
		}
		if i < 2 {
			continue // the first ones make the store, and read files
		}
		p.Add(ms(told.Sub(at)), fork+5)
		forks, syncs, answered = append(forks, fork), append(syncs, ms(sync[0])), append(answered, answer)
	}
	row := p.Into(report.Row{What: "from a delivery to its worker's first word", Unit: "ms", Limit: "fork and exec of it + 5 ms"}).
		With("fork and exec", report.Median(forks), "ms").With("the answer", report.Median(answered), "ms").
		With("fdatasync", report.Median(syncs), "ms").With("slowest", p.Worst(), "ms")
	return []report.Row{row}, nil
}

// followUp: number 13, from the end of a run to the one that follows it.
func followUp(ctx context.Context, b *Bench) (_ []report.Row, err error) {
	const rounds = 31
	gate, err := b.newFifo()
	if err != nil {
		return nil, err
	}
	defer gate.Close()
	r, err := b.runners(ctx, "echo started >%[1]s; read x <%[2]s; echo over >%[1]s", gate.Name())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()

	pass := func() (over time.Time, err error) {
		if _, err = gate.WriteString("\n"); err == nil {
			over, err = r.said.wait(ctx, "over")
		}
		return over, err
	}
	var p report.Pairs
	var syncs []float64
	for i := range rounds + 2 {
		sync, err := r.disk.Sync(1)
		if err != nil {
			return nil, err
		}
		if err := r.post.accepted(r.more.result(r.d.host, i+1)); err != nil {
			return nil, r.d.said(err)
		}
		if _, err := r.said.wait(ctx, "started"); err != nil {
			return nil, r.d.said(err)
		}
		if err := r.post.accepted(r.more.result(r.d.host, i+1)); err != nil {
			return nil, r.d.said(err)
		}
		if err := r.d.stillWith(ctx, 3); err != nil {
			return nil, err
		}
		over, err := pass()
		if err != nil {
			return nil, r.d.said(err)
		}
		next, err := r.said.wait(ctx, "started")
		if err != nil {
			return nil, r.d.said(err)
		}
		if _, err := pass(); err != nil {
			return nil, r.d.said(err)
		}
		if err := r.d.still(ctx); err != nil {
			return nil, err
		}
		if i < 2 {
			continue
		}
		p.Add(ms(next.Sub(over)), 15)
		syncs = append(syncs, ms(sync[0]))
	}
	row := p.Into(report.Row{What: "from the end of a run to its follow-up", Unit: "ms", Limit: "15 ms"}).
		With("fdatasync", report.Median(syncs), "ms").With("slowest", p.Worst(), "ms")
	return []report.Row{row}, nil
}
