package supervise

import (
	"context"
	"errors"
	"time"

	"github.com/oneslot/oneslot/internal/proc"
	"golang.org/x/sys/unix"
)

// ender brings the worker's tree to its end, beside the loop.
type ender struct {
	press press              // the hardest so far
	gone  bool               // proved: nobody is left (but those who are kept)
	stop  context.CancelFunc // of the attempt under way; nil if there was none
	said  bool               // somebody who cannot be ended was told of
}

func (e *ender) cancel() {
	if e.stop != nil {
		e.stop()
	}
}

// own is the whole tree, found by every mark there is.
func (r *run) own() proc.Tree {
	t := proc.Tree{Run: r.Claim.Run, Under: r.host.under(), Except: r.host.except()}
	if !r.id.Worker.IsZero() {
		t.Groups = []proc.Group{{PGID: r.id.Group, Leader: r.id.Worker}}
	}
	return t
}

// press carries the keeper's order out. It only ever gets harder, but for a
// frozen tree that is let go on.
func (r *run) press(to press) {
	if !r.ran || r.tree.gone || to == r.tree.press {
		return
	}
	from := r.tree.press
	switch {
	case to == freeze && from == work:
		r.each(unix.SIGSTOP)
	case to == work && from == freeze:
		r.each(unix.SIGCONT)
	case to < from:
		return
	case to == term:
		r.endTree(0, r.keep.end.kill-r.Clock.Boot())
	case to == kill:
		r.endTree(0, 0)
	}
	r.tree.press = to
}

// each signals all members, twice: one may have forked meanwhile.
func (r *run) each(sig unix.Signal) {
	for range 2 {
		members, _ := r.own().Members()
		for _, m := range members {
			proc.Signal(m.Process, sig)
		}
	}
}

// ended is the normal end: the worker ended, or says that it is done. What it
// leaves behind has the grace to end by itself.
func (r *run) ended() {
	if r.tree.press >= term || r.tree.gone {
		return
	}
	if r.Leave && r.exited {
		members, _ := r.own().Members()
		r.kept, r.tree.gone = len(members), true
		return
	}
	below := proc.Tree{Under: r.host.under(), Except: r.host.except()}
	if members, err := below.Members(); err == nil && len(members) == 0 {
		r.tree.gone = true
		return
	}
	if r.tree.stop == nil {
		r.endTree(r.Claim.Grace, r.Claim.Grace)
	}
}

// endTree ends the tree beside the loop: wait for it to end by itself, TERM,
// wait, KILL. An earlier attempt is broken off; the last one counts.
func (r *run) endTree(settle, grace time.Duration) {
	r.tree.cancel()
	ctx, cancel := context.WithCancel(r.ctx)
	r.tree.stop = cancel
	tree, under := r.own(), proc.Tree{Under: r.host.under(), Except: r.host.except()}
	go func() {
		defer cancel()
		awaitEmpty(ctx, under, settle)
		report, err := tree.Stop(ctx, proc.Stop{Grace: grace, Hook: betweenSignals})
		r.tell(func() { r.treeEnded(report, err) })
	}()
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

// retryEnd is how long to wait before a tree that did not end is tried again.
const retryEnd = 2 * time.Second

func (r *run) treeEnded(report proc.Report, err error) {
	if r.exited {
		r.left = max(r.left, report.Termed, report.Killed)
	}
	if err == nil {
		r.tree.gone = true
		return
	}
	if errors.Is(err, context.Canceled) {
		return // a harder attempt is on its way
	}
	if !r.tree.said {
		r.tree.said = true
		r.say("the run cannot be ended, so its slot stays held: %v", err)
	}
	r.later(retryEnd, func() {
		if !r.tree.gone {
			r.endTree(0, 0)
		}
	})
}
