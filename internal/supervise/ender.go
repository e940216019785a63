package supervise

import (
	"context"
	"errors"
	"time"

	"github.com/oneslot/oneslot/internal/proc"
	"golang.org/x/sys/unix"
)

// ender brings a worker's tree to its end. It belongs to one goroutine, a loop,
// works beside it, and tells it.
type ender struct {
	ctx   context.Context
	tell  func(event)
	tree  func() proc.Tree // everybody, found by every mark there is
	below func() proc.Tree // our descendants only: cheap, and enough to wait
	tried func(proc.Report, error)
	none  func() bool // a cheap proof that nobody is below us, if there is one

	press press              // the hardest so far
	gone  bool               // proved: nobody is left (but those who are kept)
	stop  context.CancelFunc // of the attempt under way; nil if there was none
}

// to carries an order out; grace is the time until the KILL. It only ever gets
// harder, but for a frozen tree that is let go on.
func (e *ender) to(p press, grace time.Duration) {
	from := e.press
	switch {
	case e.gone || p == from:
		return
	case p == frozen && from == atWork:
		e.each(unix.SIGSTOP)
	case p == atWork && from == frozen:
		e.each(unix.SIGCONT)
	case p < from:
		return
	case p == termed:
		e.end(0, grace)
	case p == killed:
		e.end(0, 0)
	}
	e.press = p
}

// each signals all members, twice: one may have forked meanwhile.
func (e *ender) each(sig unix.Signal) {
	for range 2 {
		members, _ := e.tree().Members()
		for _, m := range members {
			proc.Signal(m.Process, sig)
		}
	}
}

// leftover ends what the worker left behind, after it had the grace to end by
// itself. If nothing is left, that is all.
func (e *ender) leftover(grace time.Duration) {
	if e.press >= termed || e.gone {
		return
	}
	if e.none() {
		e.gone = true
	} else if members, err := e.below().Members(); err == nil && len(members) == 0 {
		e.gone = true
	} else if e.stop == nil {
		e.end(grace, grace)
	}
}

// end ends the tree beside the loop: wait for it to end by itself, TERM, wait,
// KILL. An earlier attempt is broken off; the last one counts.
func (e *ender) end(settle, grace time.Duration) {
	e.cancel()
	ctx, cancel := context.WithCancel(e.ctx)
	e.stop = cancel
	tree, below := e.tree(), e.below()
	go func() {
		defer cancel()
		awaitEmpty(ctx, below, settle)
		report, err := tree.Stop(ctx, proc.Stop{Grace: grace, Hook: betweenSignals})
		e.tell(func() { e.ended(report, err) })
	}()
}

// retryEnd is how long to wait before a tree that did not end is tried again.
const retryEnd = 2 * time.Second

func (e *ender) ended(report proc.Report, err error) {
	if errors.Is(err, context.Canceled) {
		return // a harder attempt is on its way
	}
	e.gone = e.gone || err == nil
	e.tried(report, err)
	if !e.gone {
		time.AfterFunc(retryEnd, func() {
			e.tell(func() {
				if !e.gone {
					e.end(0, 0)
				}
			})
		})
	}
}

func (e *ender) cancel() {
	if e.stop != nil {
		e.stop()
	}
}

// awaitEmpty waits until the tree has no members, at most for the given time.
func awaitEmpty(ctx context.Context, t proc.Tree, most time.Duration) {
	until := time.Now().Add(most)
	for pause := 5 * time.Millisecond; time.Now().Before(until); pause = min(2*pause, 100*time.Millisecond) {
		if members, err := t.Members(); err == nil && len(members) == 0 {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}
