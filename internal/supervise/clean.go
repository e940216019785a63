package supervise

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
	"golang.org/x/sys/unix"
)

// Cleaner ends what earlier runs of slots left on this host. Whoever started
// them and whoever asks now may be killed at any moment: the run is closed only
// after its tree is gone, so that the next one finds it again.
type Cleaner struct {
	Journal claim.Journal
	State   string // the folder of runs and registry
	Boot    string // this boot of the machine
	Log     *slog.Logger
	// Fence is that of the claim on whose behalf it works. Runs with a larger
	// one are not earlier: somebody took the slot from the caller. 0 spares none.
	Fence int64
	// Kill leaves out the grace: the runs are known to be lost.
	Kill bool
}

// Bounds of the waits for an earlier supervisor.
const (
	noticeMax = 2 * time.Second // to end its own run, once told
	dyingMax  = 5 * time.Second // to be gone after a KILL
)

// UnstoppedError says which earlier run could not be ended, and why.
type UnstoppedError struct {
	Run string
	Err error
}

func (e *UnstoppedError) Error() string {
	return fmt.Sprintf("the earlier run %s could not be stopped: %v", e.Run, e.Err)
}

// Unwrap gives the cause.
func (e *UnstoppedError) Unwrap() error { return e.Err }

// Clean ends every run of the slot on this host whose tree is not known to be
// gone, but the caller's own run (may be empty). previous is the claim that the
// caller displaced, if it knows; its folder need not be in this registry.
//
// The claims of these runs must be lost or asked to stop already: their
// supervisors are told, and killed if they do not act.
//
// The error is an *UnstoppedError if a run could not be ended, slot.ErrUnknown
// if the journal cannot be asked.
func (c Cleaner) Clean(ctx context.Context, ref slot.Ref, own string, previous *slot.Claim) error {
	runs, err := c.open(ctx, ref, own, previous)
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		return nil
	}
	self, err := proc.Self()
	if err != nil {
		return err
	}
	for _, old := range runs {
		dir, err := c.dir(old)
		died := ""
		if err == nil {
			died, err = c.end(ctx, self, dir, old)
		}
		if err != nil {
			return &UnstoppedError{old.ID, err}
		}
		if err := c.close(ctx, ref, old, dir, died); err != nil {
			return err
		}
	}
	return nil
}

// open lists the earlier runs: those the journal knows, then those that only
// the registry or the previous claim names.
func (c Cleaner) open(ctx context.Context, ref slot.Ref, own string, previous *slot.Claim) ([]slot.Run, error) {
	runs, err := c.Journal.OpenRuns(ctx, ref)
	if err != nil {
		return nil, err
	}
	home := rundir.In(c.State)
	names, err := home.Open(ref.Slug())
	if err != nil {
		return nil, fmt.Errorf("%w: the registry of runs: %w", slot.ErrUnknown, err)
	}
	known := func(id string) bool {
		return slices.ContainsFunc(runs, func(r slot.Run) bool { return r.ID == id })
	}
	for _, id := range names {
		d, err := home.Dir(id)
		if err != nil || known(id) {
			continue
		}
		// One that the journal does not know has no claim: it is another
		// store's, or of a store that lost its records.
		r, err := c.Journal.Run(ctx, id)
		if errors.Is(err, slot.ErrUsage) {
			r, err = slot.Run{ID: id, Dir: d.Path()}, nil
		}
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	if p := previous; p != nil && p.Run != "" && p.Holder.Process.Boot == c.Boot && !known(p.Run) {
		// Its own record says whether it is over; asking twice is harmless.
		if r, err := c.Journal.Run(ctx, p.Run); err == nil && r.TreeGoneAt.IsZero() {
			runs = append(runs, r)
		}
	}
	return slices.DeleteFunc(runs, func(r slot.Run) bool {
		return r.ID == own || c.Fence > 0 && r.Fence > c.Fence
	}), nil
}

// end ends one run: its supervisor and warden first, so that nobody forks for
// it any more, then its tree. died says how its supervisor came to its end.
func (c Cleaner) end(ctx context.Context, self slot.Process, dir rundir.Dir, old slot.Run) (died string, err error) {
	id, err := dir.Identity()
	switch {
	case err == nil && id.Boot != c.Boot:
		return supervisorDied, nil // the machine was down since
	case err != nil && old.Holder.Process.IsZero() && !errors.Is(err, fs.ErrNotExist):
		return "", err // something is there that names nobody
	case err != nil:
		// It did not get as far as naming itself; the claim's record does.
		id = rundir.Identity{Supervisor: old.Holder.Process, Grace: slot.DefaultGrace}
	}
	orphans, died, err := c.quiet(ctx, self, id, old.Claim == "")
	if err != nil {
		return "", err
	}
	wait, cancel := context.WithTimeout(ctx, dyingMax)
	defer cancel()
	if err := dir.Await(wait); err != nil {
		return "", err
	}
	tree := c.tree(old.ID, id)
	tree.Processes = append(tree.Processes, orphans...)
	report, err := tree.Stop(ctx, proc.Stop{Grace: c.grace(id), Hook: betweenSignals})
	if report.Termed+report.Killed > 0 {
		c.Log.Info("ended what an earlier run left", "run", old.ID, "termed", report.Termed, "killed", report.Killed)
	}
	if err != nil {
		return "", err
	}
	failpoint.Hit(failpoint.AfterTreeGone)
	return died, nil
}

// dir is the run's folder: where its record says, else in our own state folder.
func (c Cleaner) dir(old slot.Run) (rundir.Dir, error) {
	if old.Dir != "" {
		return rundir.At(old.Dir), nil
	}
	return rundir.In(c.State).Dir(old.ID)
}

func (c Cleaner) grace(id rundir.Identity) time.Duration {
	if c.Kill {
		return 0
	}
	return id.Grace
}

// tree is everybody the run is made of, whether or not it was noted.
func (c Cleaner) tree(run string, id rundir.Identity) proc.Tree {
	t := proc.Tree{Run: run}
	for _, p := range []slot.Process{id.Worker, id.Warden} {
		if !p.IsZero() {
			t.Processes = append(t.Processes, p)
		}
	}
	if id.Group > 1 {
		t.Groups = []proc.Group{{PGID: id.Group, Leader: id.Worker}}
	}
	return t
}

// quiet sees to it that the run's supervisor and warden are gone. One that can
// act is told to look at the store, and ends its run by itself; one that does
// not, or is stopped, is killed; but not one of a run that our journal does not
// know, which is at work for another store.
//
// It returns who was below them before they were killed, for one that dropped every
// mark can only be found there; and how the supervisor came to its end.
func (c Cleaner) quiet(ctx context.Context, self slot.Process, id rundir.Identity, stranger bool) (below []slot.Process, died string, err error) {
	if p := id.Supervisor; !p.IsZero() && p != self {
		s := proc.Look(p)
		if s.Life == proc.Alive && !s.Stopped {
			if err := proc.Signal(p, unix.SIGUSR1); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return nil, "", err
			}
			if err := awaitEnd(ctx, p, min(c.grace(id)+time.Second/2, noticeMax)); err != nil {
				return nil, "", err
			}
			if s := proc.Look(p); stranger && s.Life == proc.Alive && !s.Stopped {
				return nil, "", fmt.Errorf("%w: its supervisor lives and works for another store, or for a file that was moved away; `kill %d` ends it, and its worker first", slot.ErrNotAllowed, s.PID)
			}
		}
	}
	if below, err = descendants(self, id.Supervisor, id.Warden); err != nil {
		return nil, "", err
	}
	died = supervisorDied
	for _, p := range []slot.Process{id.Supervisor, id.Warden} {
		if p.IsZero() || p == self {
			continue
		}
		see := proc.Look(p)
		err := proc.Signal(p, syscall.SIGKILL)
		if errors.Is(err, os.ErrProcessDone) {
			continue
		}
		switch {
		case p != id.Supervisor || see.Life != proc.Alive:
		case see.Stopped:
			died = fmt.Sprintf("supervisor was stopped (SIGSTOP), and killed by process %d", self.PID)
		default:
			died = fmt.Sprintf("supervisor did not end its run when told to, and was killed by process %d", self.PID)
		}
		if err == nil {
			err = awaitEnd(ctx, p, dyingMax)
		}
		if err == nil && proc.Look(p).Life != proc.Dead {
			err = fmt.Errorf("%w: process %d does not end", slot.ErrUnknown, p.PID)
		}
		if err != nil {
			return nil, "", err
		}
	}
	return below, died, nil
}

// descendants lists those of the processes that are alive; our own are no old
// run's.
func descendants(self slot.Process, of ...slot.Process) (below []slot.Process, err error) {
	of = slices.DeleteFunc(of, func(p slot.Process) bool {
		return p.IsZero() || p == self || proc.Look(p).Life != proc.Alive
	})
	if len(of) == 0 {
		return nil, nil
	}
	members, err := proc.Tree{Under: of}.Members()
	for _, m := range members {
		below = append(below, m.Process)
	}
	return below, err
}

// awaitEnd waits for the end of p, at most for the given time. Only the end of
// ctx and a process that cannot be seen are errors.
func awaitEnd(ctx context.Context, p slot.Process, most time.Duration) error {
	gone, cancel, err := proc.Watch(p)
	if err != nil {
		return err
	}
	defer cancel()
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-gone:
	case <-late.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// close records that nothing of the run is left, with the outcome it left.
func (c Cleaner) close(ctx context.Context, ref slot.Ref, old slot.Run, dir rundir.Dir, died string) error {
	out, err := dir.Outcome()
	if err != nil {
		out = c.vanished(dir, died, err)
	}
	failpoint.Hit(failpoint.BeforeSettle)
	if err := c.Journal.TreeGone(ctx, old.ID, out); err != nil {
		return err
	}
	home := rundir.In(c.State)
	err = home.Leave(ref.Slug(), old.ID)
	if !old.Ref.IsZero() && old.Ref != ref { // its claim covered this slot
		err = errors.Join(err, home.Leave(old.Ref.Slug(), old.ID))
	}
	return err
}

// supervisorDied is the end of a supervisor that nobody is known to have ended.
const supervisorDied = "supervisor died"

// vanished is the outcome of a run that left none, for the reason why.
func (c Cleaner) vanished(dir rundir.Dir, died string, why error) slot.Outcome {
	out := slot.Outcome{Result: slot.Vanish, Reason: died + ", exit unknown"}
	if !errors.Is(why, fs.ErrNotExist) {
		out.Reason += fmt.Sprintf(" (%v)", why)
		return out
	}
	if id, err := dir.Identity(); err == nil && id.Boot == c.Boot && !dir.Forked() {
		out.Reason, out.Unspent = died+" before it started a worker", true
	}
	return out
}

func betweenSignals(point string) {
	if point == proc.PointTermed {
		failpoint.Hit(failpoint.BetweenSignals)
	}
}
