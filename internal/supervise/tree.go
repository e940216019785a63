package supervise

import (
	"github.com/oneslot/oneslot/internal/proc"
)

// newEnder knows the run's tree by every mark: the environment, the worker's
// group, and being below us.
func (r *run) newEnder() *ender {
	e := &ender{ctx: r.ctx, tell: r.tell, none: r.parent.childless}
	e.below = func() proc.Tree { return proc.Tree{Under: r.host.under(), Except: r.host.except()} }
	e.tree = func() proc.Tree {
		t := e.below()
		t.Run = r.Claim.Run
		if !r.id.Worker.IsZero() {
			t.Groups = []proc.Group{{PGID: r.id.Group, Leader: r.id.Worker}}
		}
		return t
	}
	e.tried = func(report proc.Report, err error) {
		if r.unasked {
			r.left = max(r.left, report.Termed, report.Killed)
		}
		if r.tree.gone && !r.exited {
			r.host.collect()
		}
		if err != nil && !r.stuck {
			r.stuck = true
			r.say("the run cannot be ended, so its slot stays held: %v", err)
		}
	}
	return e
}

// press has the tree obey the keeper.
func (r *run) press(p press) {
	if !r.ran {
		return
	}
	grace := r.keep.grace
	if r.keep.end != nil {
		grace = r.keep.end.kill - r.Clock.Boot()
	}
	r.tree.to(p, grace)
}

// ended is the normal end: the worker ended, or says that it is done.
func (r *run) ended() {
	if r.Leave && r.exited && r.tree.press < termed && !r.tree.gone {
		members, _ := r.tree.tree().Members()
		r.kept, r.tree.gone = len(members), true
		r.host.leave()
		return
	}
	r.tree.leftover(r.Claim.Grace)
}
