package supervise

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/slot"
	"golang.org/x/sys/unix"
)

// event is something that happened beside the loop. It is told as a function
// that the loop calls.
type event func()

// wish is what a worker asks for on the run's socket.
type wish struct {
	release slot.Result // empty: renew
	reply   chan<- Answer
}

// startTries bounds how often a start that was refused for an earlier run leads
// to another cleaning.
const startTries = 3

// loop is the shell around the keeper: it carries its orders out, tells it what
// happened, and returns when nothing of the run is left, or nothing will start.
func (r *run) loop(ctx context.Context) {
	prepare, stop := context.WithCancel(r.ctx)
	defer stop()
	if r.first() {
		r.start(prepare, startTries)
	} else {
		r.clean(prepare, startTries)
	}
	r.unready = r.prepare() // while that is under way
	over := ctx.Done()
	timer := clock.NewTimer()
	timer.Reset(0)
	defer timer.Stop()
	for !r.over() {
		select {
		case <-timer.C:
		case f := <-r.events:
			f()
		case a := <-r.wishes:
			r.grant(a)
		case sig := <-r.sigs:
			r.signalled(sig)
		case <-over:
			over = nil
			r.signalled(unix.SIGTERM)
		}
		now := r.Clock.Boot()
		r.keep.clocks(now, r.Clock.Awake())
		before := r.keep.end
		o := r.keep.next(now)
		if e := r.keep.end; before == nil && e != nil {
			r.sayEnd(*e)
		}
		if o.renew {
			r.renew()
		}
		r.press(o.press)
		timer.Reset(max(o.wake-now, time.Millisecond))
	}
}

// sayEnd tells people that time made us end the run.
func (r *run) sayEnd(e ending) {
	if e.result == slot.TimedUp {
		r.say("its time (--timeout %v) was up; ending it", r.Timeout)
	} else {
		r.say("%s; ending it", e.reason)
	}
}

// first reports that nobody was here before us, as far as this host's registry
// tells. If the store knows better, it refuses the start, and we clean.
func (r *run) first() bool {
	for _, ref := range r.refs() {
		open, err := r.home.Open(ref.Slug())
		if err != nil || len(open) != 1 || open[0] != r.Claim.Run {
			return false
		}
	}
	return r.Previous == nil
}

// over reports whether the loop has nothing to wait for.
func (r *run) over() bool {
	if !r.ran {
		return r.keep.end != nil // nothing started, and nothing will
	}
	return r.exited && r.tree.gone
}

// clean ends what earlier runs left, beside the loop, and then starts.
func (r *run) clean(ctx context.Context, tries int) {
	c := Cleaner{
		Journal: r.Journal, State: r.State, Boot: r.Clock.BootID(), Log: r.Log, Fence: r.Claim.Fence,
	}
	go func() {
		var err error
		for _, ref := range r.refs() {
			if err == nil {
				err = c.Clean(ctx, ref, r.Claim.Run, r.Previous)
			}
		}
		r.tell(func() {
			if err == nil {
				r.start(ctx, tries)
				return
			}
			var stuck *UnstoppedError
			if errors.As(err, &stuck) {
				err = r.unstopped(stuck)
			}
			r.refuse(noStart(err), err)
		})
	}()
}

// unstopped is the refusal that names whom we could not stop.
func (r *run) unstopped(stuck *UnstoppedError) error {
	busy := &slot.BusyError{
		Ref: r.Claim.Ref, Reason: slot.ReasonUnstopped, Store: r.Address, Detail: stuck.Error(),
	}
	if r.Previous != nil {
		busy.Claim = *r.Previous
	}
	return busy
}

// later has the loop call f after d.
func (r *run) later(d time.Duration, f event) {
	time.AfterFunc(d, func() { r.tell(f) })
}

// tell hands the loop an event; one that comes after the run is dropped.
func (r *run) tell(f event) {
	select {
	case r.events <- f:
	case <-r.ctx.Done():
	}
}

// start takes the step to running; with it the worker may be forked.
func (r *run) start(ctx context.Context, tries int) {
	if r.keep.end != nil {
		return
	}
	if r.keep.asking { // one step at a time
		r.then = func() { r.start(ctx, tries) }
		return
	}
	sent := r.Clock.Boot()
	r.keep.asked()
	go func() {
		call, cancel := context.WithTimeout(r.ctx, r.storeTime())
		defer cancel()
		lease, err := r.Store.Start(call, r.Key)
		r.tell(func() { r.mayStart(ctx, tries, sent, lease, err) })
	}()
}

func (r *run) mayStart(ctx context.Context, tries int, sent time.Duration, lease claim.Lease, err error) {
	var busy *slot.BusyError
	now := r.Clock.Boot()
	switch {
	case r.keep.lost:
	case errors.As(err, &busy) && tries > 1: // a run that came to light meanwhile
		r.keep.failed(now)
		r.clean(ctx, tries-1)
	case errors.Is(err, slot.ErrLost):
		r.keep.lose(now, err.Error())
		r.refused = err
	case errors.Is(err, slot.ErrUnknown) && now < r.keep.deadline && r.keep.end == nil:
		r.keep.failed(now)
		r.later(r.keep.renewAt-now, func() { r.start(ctx, tries) })
	case err != nil:
		r.keep.failed(now)
		r.refuse(noStart(err), err)
	default:
		r.leased(sent, lease)
		if r.keep.end != nil {
			return // somebody wants it stopped already
		}
		if err := r.launch(); err != nil {
			r.refuse(noStart(err), err)
		}
	}
}

// renew sends a renewal, beside the loop.
func (r *run) renew() {
	sent := r.Clock.Boot()
	r.keep.asked()
	go func() {
		call, cancel := context.WithTimeout(r.ctx, r.storeTime())
		defer cancel()
		lease, err := r.Store.Renew(call, r.Key)
		r.tell(func() { r.renewed(sent, lease, err) })
	}()
}

func (r *run) renewed(sent time.Duration, lease claim.Lease, err error) {
	now := r.Clock.Boot()
	switch {
	case r.keep.lost:
	case err == nil:
		r.leased(sent, lease)
	case errors.Is(err, slot.ErrLost):
		r.say("the claim is lost: the run is ended (%v)", err)
		r.keep.lose(now, err.Error())
		if !r.ran {
			r.refused = err
		}
	case errors.Is(err, slot.ErrMoved):
		r.keep.failed(now)
		r.moved(now, err)
	default:
		if r.keep.failed(now) {
			r.say("the claim cannot be renewed, trying on: %v", err)
		}
	}
	for _, reply := range r.pending {
		reply <- answerTo(err)
	}
	then := r.then
	r.pending, r.then = nil, nil
	if then != nil {
		then()
	}
}

// moved is for a store that is not at its address any more. Who asks there now
// cannot see this claim, so the run is over in time, unless the store comes back.
func (r *run) moved(now time.Duration, err error) {
	if !r.keep.moved {
		r.keep.moved = true
		left := max(r.keep.termAt()-now, 0).Round(time.Second / 10)
		r.say("the claim cannot be renewed: %v; trying on, but unless the store comes back the run is ended in %v", err, left)
	}
	if err := r.reopen(); err != nil {
		r.Log.Warn("the run is not in the registry", "run", r.Claim.Run, "err", err)
	}
}

// leased takes a granted lease in. With a warden it counts when the warden has
// it: one that is frozen or dead must not let us believe that the tree is safe.
func (r *run) leased(sent time.Duration, lease claim.Lease) {
	count := func() { r.keep.granted(sent, lease.TTL) }
	if r.host == nil {
		count()
	} else {
		r.host.extend(sent, lease.TTL, count)
	}
	if lease.StopReason != "" {
		if r.keep.end == nil {
			r.say("%s; ending it", lease.StopReason)
		}
		r.keep.stop(r.Clock.Boot(), ending{result: slot.Stopped, code: r.stopCode(), reason: lease.StopReason})
	}
}

// stopCode is the exit code of a run that a person stopped: the worker's own, or
// "busy" if there was none.
func (r *run) stopCode() int {
	if r.ran {
		return 0
	}
	return exitBusy
}

// signalled obeys a signal: the first ends the run, a second one at once.
func (r *run) signalled(sig os.Signal) {
	now := r.Clock.Boot()
	switch {
	case sig == unix.SIGUSR1:
		r.keep.hurry(now)
	case r.keep.end == nil:
		r.keep.stop(now, stopBySignal(sig))
	default:
		r.keep.stopNow(now, stopBySignal(sig))
	}
}

// grant answers the run's socket.
func (r *run) grant(a wish) {
	switch {
	case r.keep.lost:
		a.reply <- Answer{State: Gone, Reason: r.keep.end.reason}
	case a.release == "" && r.done.Load():
		a.reply <- Answer{State: Gone, Reason: reasonReleased}
	case a.release == "":
		r.pending = append(r.pending, a.reply)
		r.keep.hurry(r.Clock.Boot())
	default:
		r.done.Store(true) // before the answer: the next question may follow at once
		a.reply <- Answer{State: Ours}
		if r.fin.released == "" {
			r.fin.released = a.release
			r.ended()
		}
	}
}

// workerEnded takes the worker's exit status in.
func (r *run) workerEnded(ws *syscall.WaitStatus) {
	failpoint.Hit(failpoint.AfterExit)
	r.exited, r.fin.status = true, ws
	r.unasked = r.tree.press < termed
	r.ended()
}
