package ending

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/supervise"
)

const (
	// endMargin is what a run may take to end beside its grace time: the end
	// of those that were killed, the outcome, the release.
	endMargin = 10 * time.Second
	// askPause is how often the store is looked at while a run ends.
	askPause = 50 * time.Millisecond
)

// Stopper ends what is live on a slot, because a person said so. A supervisor
// that can act is asked to; for one that is dead or stopped it takes the slot
// itself, ends the tree, and gives the slot back.
type Stopper struct {
	*Ender
	Ref    slot.Ref
	Path   string // how the wish to stop arrived
	Reason string // who said so and why, for the record
	Log    *slog.Logger
	// Hold, if set, puts the slot on hold before it can be had by others.
	Hold func(context.Context) error
}

// Stop returns when nothing of the slot's work is left, and says what it did:
// "" if there was nothing to do.
func (s *Stopper) Stop(ctx context.Context) (did string, err error) {
	look, err := s.Store.Look(ctx, s.Ref)
	if err != nil {
		return "", err
	}
	c := look.Live()
	if c == nil {
		return s.leftovers(ctx)
	}
	if c.Kind == slot.Supervised && !s.Overtaken(*c) {
		switch see := proc.Look(c.Holder.Process); {
		case see.Life == proc.Alive && !see.Stopped:
			return s.ask(ctx, *c, true)
		case see.Life == proc.Unseen:
			return s.ask(ctx, *c, false)
		}
	}
	return s.take(ctx, c)
}

// ask has the claim's own supervisor end the run. One that is near is told to
// look at once, and loses the slot if it does not act.
func (s *Stopper) ask(ctx context.Context, c slot.Claim, near bool) (string, error) {
	p := c.Holder.Process
	if near {
		// Nothing is changed for a run that we may not touch.
		if err := proc.Signal(p, syscall.Signal(0)); errors.Is(err, slot.ErrNotAllowed) {
			return "", err
		}
	}
	if err := s.onHold(ctx); err != nil {
		return "", err
	}
	if _, err := s.Store.AskStop(ctx, c.ID, s.Reason); errors.Is(err, slot.ErrLost) {
		return "it ended by itself just now", nil
	} else if err != nil {
		return "", err
	}
	err := s.Store.Note(ctx, slot.Decision{
		Ref: s.Ref, Path: s.Path, Verdict: slot.Ended, Reason: slot.ReasonStopAsked, Detail: s.Reason,
		Next: "its supervisor ends the tree and gives the slot back", Fence: c.Fence, Run: c.Run,
	})
	if err != nil {
		return "", err
	}
	most := c.TTL + c.Grace + endMargin // at its next renewal
	if near {
		most = c.Grace + endMargin
		if err := proc.Signal(p, unix.SIGUSR1); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return "", err
		}
	}
	over, err := s.await(ctx, c, most)
	switch {
	case err != nil:
		return "", err
	case over:
		return fmt.Sprintf("run %s of %s was stopped, nothing of it is left", c.Run, c.Who()), nil
	case near:
		return s.take(ctx, &c)
	}
	return "", &slot.UnknownError{
		Op: "stop", Store: s.Store.Address(), Err: fmt.Errorf("the run of %s did not end within %s", c.Who(), most.Round(time.Second)),
		Hint: "it is asked to stop and will, once it can ask the store; `oneslot takeover` does not wait for it",
	}
}

// await waits until the claim is not live any more; not longer than its
// supervisor lives, nor than the given time.
func (s *Stopper) await(ctx context.Context, c slot.Claim, most time.Duration) (over bool, err error) {
	gone, cancel, err := proc.Watch(c.Holder.Process)
	if err == nil {
		defer cancel()
	}
	late := time.NewTimer(most)
	defer late.Stop()
	tick := time.NewTicker(askPause)
	defer tick.Stop()
	for last := false; ; {
		look, err := s.Store.Look(ctx, s.Ref)
		if err != nil {
			return false, err
		}
		live := look.Live()
		if live == nil || live.ID != c.ID || live.Warden && live.Expired() {
			return true, nil
		}
		if last {
			return false, nil
		}
		select {
		case <-tick.C:
		case <-gone:
			last = true
		case <-late.C:
			last = true
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// take sets the claim aside, or takes a free slot if c is nil; ends what is
// left of earlier runs, and gives the slot back, to the head of the line.
//
// Its claim is bound to this process: if that dies half-way, the next one who
// asks takes it, and finds everything that is not ended yet.
func (s *Stopper) take(ctx context.Context, c *slot.Claim) (string, error) {
	if c != nil {
		if err := MayEnd(os.Geteuid(), *c); err != nil {
			return "", err
		}
	}
	key := claim.NewKey(s.Ref)
	req := claim.Request{
		Ref: s.Ref, Key: key, Kind: slot.Detached, Bound: true, TTL: slot.StartMax, Head: true,
		Holder: s.holder(s.Path),
	}
	if c != nil {
		req.Displace = &claim.Displace{Claim: c.ID, Why: claim.Ended, Detail: s.Reason}
	}
	g, err := s.Store.Acquire(ctx, req)
	var paused *slot.DeferError
	if errors.As(err, &paused) && (c == nil || c.Kind == slot.Supervised) {
		return s.paused(ctx, c)
	}
	if err != nil {
		return "", err
	}
	failed := s.onHold(ctx)
	if failed == nil {
		failed = s.clean(ctx, g.Claim.Fence, g.Displaced)
	}
	out := slot.Outcome{Result: slot.Stopped, Reason: s.Reason}
	if failed != nil {
		out.Reason += fmt.Sprintf("; but: %v", failed)
	}
	// Lost: somebody took the slot from us meanwhile. What we came for is done.
	if _, err := s.Store.Release(ctx, key, out); err != nil && !errors.Is(err, slot.ErrLost) {
		return "", errors.Join(failed, err)
	}
	return setAside(c), failed
}

// setAside says what became of the claim that was set aside.
func setAside(c *slot.Claim) string {
	switch {
	case c == nil:
		return "what an earlier run left was ended"
	case c.Kind == slot.Supervised:
		return fmt.Sprintf("run %s of %s was ended without its supervisor, which could not act; nothing of it is left", c.Run, c.Who())
	case c.Bound:
		return fmt.Sprintf("the claim of %s was ended; that process is not oneslot's and goes on", c.Who())
	}
	return fmt.Sprintf("the %s claim of %s was ended; whoever works under it learns at its next check or renewal", c.Kind, c.Who())
}

// paused ends the tree of a slot on hold, which nobody can take: not we either.
// Its claim stays on record, and is dead.
func (s *Stopper) paused(ctx context.Context, c *slot.Claim) (string, error) {
	if c != nil {
		if _, err := s.Store.AskStop(ctx, c.ID, s.Reason); err != nil && !errors.Is(err, slot.ErrLost) {
			return "", err
		}
	}
	fence := int64(0)
	if c != nil {
		fence = c.Fence
	}
	if err := s.clean(ctx, fence, c); err != nil {
		return "", err
	}
	return setAside(c) + "; the slot is on hold", nil
}

func (s *Stopper) onHold(ctx context.Context) error {
	if s.Hold == nil {
		return nil
	}
	return s.Hold(ctx)
}

// clean ends what is left of the runs up to a fence; 0 is all of them.
func (s *Stopper) clean(ctx context.Context, fence int64, displaced *slot.Claim) error {
	c := supervise.Cleaner{
		Journal: s.Store, State: s.Store.Dir(), Boot: s.Taker.Clock.BootID(), Log: s.Log, Fence: fence,
	}
	return c.Clean(ctx, s.Ref, "", displaced)
}

// leftovers ends what is left on a slot that nobody holds.
func (s *Stopper) leftovers(ctx context.Context) (string, error) {
	open, err := s.Store.OpenRuns(ctx, s.Ref)
	if err != nil {
		return "", err
	}
	names, err := rundir.In(s.Store.Dir()).Open(s.Ref.Slug())
	if err != nil {
		return "", fmt.Errorf("%w: the registry of runs: %w", slot.ErrUnknown, err)
	}
	if len(open)+len(names) > 0 {
		return s.take(ctx, nil)
	}
	return "", s.onHold(ctx)
}

// MayEnd refuses to take a slot whose tree this user could not end: it would
// only be set free under a worker that goes on.
func MayEnd(uid int, c slot.Claim) error {
	if c.Kind != slot.Supervised || uid == 0 || uid == c.Holder.UID {
		return nil
	}
	return &proc.NotPermittedError{
		PID: c.Holder.Process.PID, UID: c.Holder.UID, User: proc.UserName(c.Holder.UID), Command: c.Holder.Command,
	}
}
