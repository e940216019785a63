package measure

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"

	"github.com/oneslot/oneslot/bench/internal/machine"
	"github.com/oneslot/oneslot/bench/internal/report"
)

// acceptRules want all that is delivered, and start nothing meanwhile.
const acceptRules = `
[[rule]]
name      = "work"
on        = ["ci_passed", "edited", "approved"]
run       = ["true"]
quiet     = "1h"
max_quiet = "1h"
`

// bareLacks says what the peer does not do.
const bareLacks = "It reads the body and verifies its signature, and keeps nothing."

// pair of servers that are sent the same.
type acceptors struct {
	d          *daemon
	bare       *exec.Cmd
	ours, its  []*sender
	host, peer string
	more       *deliveries
	close      func() error
}

// acceptors starts a daemon and, beside it, a bare handler.
func (b *Bench) acceptors(ctx context.Context, connections int) (a *acceptors, err error) {
	a = &acceptors{close: func() error { return nil }}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	if a.more, err = b.newDeliveries(); err != nil {
		return a, err
	}
	if a.d, err = b.newDaemon(ctx, acceptRules); err != nil {
		return a, err
	}
	a.close = a.d.end
	if err := a.d.serve(ctx); err != nil {
		return a, err
	}
	a.host = a.d.host
	a.bare = command(ctx, b.environ(""), b.Self, HelperVerb, "bare")
	if a.peer, err = firstLine(a.bare); err != nil {
		return a, err
	}
	a.close = func() error {
		hangUp(append(a.ours, a.its...))
		a.bare.Process.Kill() //nolint:errcheck // it may have ended
		a.bare.Wait()         //nolint:errcheck // it was killed
		return a.d.end()
	}
	if a.ours, err = senders(a.host, connections); err != nil {
		return a, err
	}
	a.its, err = senders(a.peer, connections)
	return a, err
}

// accept: number 10, deliveries that are answered when they are on disk.
func accept(ctx context.Context, b *Bench) (_ []report.Row, err error) {
	const rounds, connections, each = 7, 64, 2000
	a, err := b.acceptors(ctx, connections)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	disk, err := machine.NewDisk(b.Folder)
	if err != nil {
		return nil, err
	}
	defer disk.Close() //nolint:errcheck // the folder goes too

	var p report.Pairs
	var syncs, bares, cpu, bareCPU []float64
	for i := range rounds + 1 {
		sync, err := disk.Rate(40)
		if err != nil {
			return nil, err
		}
		its, itsUsed, err := costOf(a.bare, func() (float64, error) { return flood(a.its, a.more.some(a.peer, each)) })
		if err != nil {
			return nil, fmt.Errorf("the bare handler: %w", err)
		}
		ours, used, err := costOf(a.d.cmd, func() (float64, error) { return flood(a.ours, a.more.some(a.host, each)) })
		if err != nil {
			return nil, a.d.said(err)
		}
		if i == 0 {
			continue // the first one makes the rows
		}
		p.Add(ours, 0.6*its)
		syncs, bares = append(syncs, sync), append(bares, its)
		cpu, bareCPU = append(cpu, used/each), append(bareCPU, itsUsed/each)
	}
	row := p.Into(report.Row{What: "deliveries accepted, on disk, 64 connections", Unit: "/s", AtLeast: true, Limit: "0.6 x a bare handler"}).
		With("fdatasync", report.Median(syncs), "/s").
		With("processor time of one", report.Median(cpu), "ms").With("of a bare one", report.Median(bareCPU), "ms").
		Beside("a bare net/http handler", report.Median(bares), "/s", bareLacks)
	return []report.Row{row}, nil
}

// costOf is f, and the processor time in ms that a process used meanwhile.
func costOf(cmd *exec.Cmd, f func() (float64, error)) (result, used float64, err error) {
	before, err := cpuOf([]*exec.Cmd{cmd})
	if err != nil {
		return 0, 0, err
	}
	if result, err = f(); err != nil {
		return 0, 0, err
	}
	after, err := cpuOf([]*exec.Cmd{cmd})
	return result, ms(after - before), err
}

// answers: number 11, how long a forge waits for its answer.
func answers(ctx context.Context, b *Bench) (_ []report.Row, err error) {
	const rounds, connections, perSecond, each = 5, 64, 1000, 3000
	a, err := b.acceptors(ctx, connections)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	if _, err := flood(a.ours, a.more.some(a.host, 1000)); err != nil {
		return nil, a.d.said(err)
	}
	var p report.Pairs
	var medians, bares []float64
	for range rounds {
		its, err := offer(a.its, a.more.some(a.peer, each/3), perSecond)
		if err != nil {
			return nil, err
		}
		ours, err := offer(a.ours, a.more.some(a.host, each), perSecond)
		if err != nil {
			return nil, a.d.said(err)
		}
		p.Add(report.Quantile(ours, .99), 25)
		medians, bares = append(medians, report.Median(ours)), append(bares, report.Quantile(its, .99))
	}
	row := p.Into(report.Row{What: "the answer at 1,000 deliveries a second, p99", Unit: "ms", Limit: "25 ms"}).
		With("median", report.Median(medians), "ms").With("worst round's p99", p.Worst(), "ms").
		Beside("a bare net/http handler, p99", report.Median(bares), "ms", bareLacks)
	return []report.Row{row}, nil
}

// bareHelper verifies signatures, and nothing else.
func bareHelper(context.Context, *Bench, []string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mac := hmac.New(sha256.New, []byte(hookSecret))
		if _, err := io.Copy(mac, r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		sent, err := hex.DecodeString(r.Header.Get("X-Hub-Signature-256")[len("sha256="):])
		if err != nil || !hmac.Equal(mac.Sum(nil), sent) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	}))
}
