package supervise

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/slot"
	"golang.org/x/sys/unix"
)

// Bounds of the wait for output that others still hold back: before the slot is
// freed, and after.
const (
	drainHeld = time.Second
	drainFree = 10 * time.Second

	// storeSoon is how long the outcome may be in memory alone for the store to take it.
	storeSoon = 20 * time.Millisecond

	// releaseIdle bounds the trying for a claim under which nothing ran: it is
	// proved dead as soon as we are.
	releaseIdle = 2 * time.Second
)

// settle writes the outcome down, and only then gives the claim back. With that the
// store has it on disk; if it does not take it at once, we have.
func (r *run) settle() (Report, error) {
	if r.io != nil {
		r.io.drain(drainHeld)
	}
	var out slot.Outcome
	code := 0
	if r.ran {
		r.fin.end = r.keep.end
		r.fin.said, r.fin.complaint = r.dir.Result()
		out, code = r.fin.outcome(), r.fin.code()
		out.LeftBehind, out.Kept = r.left, r.kept
	} else {
		out = slot.Outcome{Result: r.keep.end.result, Reason: r.keep.end.reason, Unspent: unspent(r.refused)}
		code = r.keep.end.code
	}
	if r.dir.Path() != "" {
		if err := r.dir.WriteOutcome(out); err != nil {
			r.say("the outcome could not be written: %v", err)
		}
	}
	failpoint.Hit(failpoint.AfterOutcome)
	slow := time.AfterFunc(storeSoon, r.sync)
	defer slow.Stop()
	pending := false
	err := r.release(out)
	switch {
	case err == nil:
		failpoint.Hit(failpoint.AfterRelease)
		r.leave()
	case errors.Is(err, slot.ErrLost):
		if !r.keep.lost {
			out.Result, code = slot.Lost, exitLost
			if !r.ran && r.refused == nil {
				r.refused = err
			}
		}
		call, cancel := context.WithTimeout(r.ctx, r.storeTime())
		defer cancel()
		if err := r.Journal.TreeGone(call, r.Claim.Run, out); err == nil {
			r.leave()
		} else {
			r.sync()
		}
	default:
		pending = true
		r.sync()
		r.say("ended, but the release could not be written; whoever comes next finds the outcome: %v", err)
	}
	if r.io != nil {
		r.io.drain(drainFree)
		if code == 0 && r.io.lost() {
			code = exitOutput
		}
	}
	return r.report(out, code, pending), r.refused
}

// unspent says that a start was refused by what somebody or something else did. A
// command that cannot be started is a try that failed.
func unspent(refused error) bool {
	var start *StartError
	return refused != nil && !errors.As(refused, &start)
}

// leave takes the run off the registry of what may still be there.
func (r *run) leave() {
	for _, ref := range r.refs() {
		if err := r.home.Leave(ref.Slug(), r.Claim.Run); err != nil {
			r.Log.Warn("the registry could not be written", "run", r.Claim.Run, "err", err)
		}
	}
}

// release gives the claim back, and goes on trying for as long as the claim
// would live. A signal ends the trying.
func (r *run) release(out slot.Outcome) error {
	if r.keep.lost {
		return &slot.LostError{Claim: r.Key.Claim, Reason: r.keep.end.reason}
	}
	step := r.Store.Release
	if out.Result == slot.Waits {
		step = r.Store.Park
	}
	failpoint.Hit(failpoint.BeforeRelease)
	until := max(r.keep.deadline, r.Clock.Boot()+r.Claim.TTL)
	if !r.ran {
		until = r.Clock.Boot() + releaseIdle
	}
	said := false
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		call, cancel := context.WithTimeout(r.ctx, r.storeTime())
		_, err := step(call, r.Key, out)
		cancel()
		if err == nil || errors.Is(err, slot.ErrLost) || r.Clock.Boot() >= until {
			return err
		}
		if !said {
			said = true
			r.say("ended, release pending: %v", err)
		}
		select {
		case <-time.After(pause):
		case sig := <-r.sigs:
			if sig != unix.SIGUSR1 {
				return err
			}
		}
	}
}

// sync puts the outcome on disk, for whoever may have to find it there.
func (r *run) sync() {
	if err := r.dir.SyncOutcome(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.Log.Warn("the outcome may not be on disk", "run", r.Claim.Run, "err", err)
	}
}

func (r *run) report(out slot.Outcome, code int, pending bool) Report {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	rep := Report{
		Ran: r.ran, Ref: r.Claim.Ref, Run: r.Claim.Run, Claim: r.Claim.ID, Fence: r.Claim.Fence,
		Exit: out.Exit, Signal: text(out.Signal), Outcome: out.Result, Reason: text(out.Reason),
		LeftBehind: out.LeftBehind, Kept: out.Kept, Pending: pending, Code: code,
	}
	if r.log != nil {
		rep.Log = text(r.dir.LogPath())
	}
	return rep
}
