package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/ending"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

func (c *cli) stopVerb() *cobra.Command {
	var hold, all bool
	cmd := &cobra.Command{
		Use:   "stop REF|REPO | --all [--hold]",
		Short: "End what runs, and wait until it is gone",
		Long: `Stop asks the run that holds REF to end, and returns when nothing of its
process tree is left. The run has its grace time between TERM and KILL. It asks
nothing back and needs no reason; no attempt is spent and no retry follows. But who
waits in line comes next, and events that wait in the queue start the ref again, which
is said, unless --hold pauses the ref first.

With REPO (owner/repo) or --all it does that to each live claim of the repository, or
of the store, several at a time. --hold pauses the repository, or everything, first.

A supervisor that is dead or stopped is not waited for: stop takes the slot,
ends the tree itself, and gives the slot back. So it does with a claim that
nobody supervises (` + "`oneslot claim`" + `, or one that waits for a person).
A run on another host, or out of sight, ends at its next renewal.

Exit codes:
  0    it is stopped; also if there was nothing to stop, which is said
  64   neither a ref nor a repository
  69   unknown: the store could not be asked, or the run has not ended yet
  75   somebody else took the slot meanwhile
  77   the processes belong to somebody else, who is named; nothing was changed
  78   bad configuration

Of several, the worst: 77 before 69 before 75.`,
		Args: c.oneOrAll(&all, "one REF or REPO"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, scope, err := c.scope(cmd, args)
			if err != nil {
				return err
			}
			if ref := mayRef(scope); !ref.IsZero() {
				return c.stop(cmd.Context(), a, ref, hold)
			}
			return c.stopAll(cmd.Context(), a, scope, hold)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "each live claim of the store")
	cmd.Flags().BoolVar(&hold, "hold", false, "put it on hold first, so that nothing follows")
	return cmd
}

func (c *cli) stop(ctx context.Context, a *app.App, ref slot.Ref, hold bool) error {
	s := stopper(a, ref)
	if hold {
		s.Hold = func(ctx context.Context) error { return holdStopped(ctx, a, ref.String()) }
	}
	did, err := s.Stop(ctx)
	if err != nil {
		return c.notStopped(err, ref)
	}
	if did == "" {
		did = "nothing to stop: nobody holds it"
	}
	c.printf(c.Out, "%s: %s\n", ref, clean(did))
	if hold {
		c.printf(c.Out, "%s: on hold until %s\n", ref, unholds(ref.String()))
	}
	return c.sayNext(ctx, a, ref, hold)
}

// stopsAtOnce is how many runs are ended at a time: each may take its grace time.
const stopsAtOnce = 8

// stopAll ends each live claim within a scope, and tells of each.
func (c *cli) stopAll(ctx context.Context, a *app.App, scope string, hold bool) error {
	if hold { // what is claimed before that is in the list; nothing is after it
		if err := holdStopped(ctx, a, scope); err != nil {
			return err
		}
		c.printf(c.Out, "%s: on hold until %s\n", slot.ScopeName(scope), unholds(scope))
	}
	live, err := a.Store.Live(ctx)
	if err != nil {
		return err
	}
	live = slices.DeleteFunc(live, func(l slot.Claim) bool {
		return !l.Ref.Within(scope) && !slices.ContainsFunc(l.Also, func(r slot.Ref) bool { return r.Within(scope) })
	})
	if len(live) == 0 {
		c.printf(c.Out, "%s: nothing to stop: nothing is held\n", slot.ScopeName(scope))
		return nil
	}
	errs := make([]error, len(live))
	var said sync.Mutex // what is told of one ref stays together
	var all sync.WaitGroup
	room := make(chan struct{}, stopsAtOnce)
	for i, l := range live {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			s := stopper(a, l.Ref)
			did, err := s.Stop(ctx)
			said.Lock()
			defer said.Unlock()
			if err == nil {
				c.printf(c.Out, "%s: %s\n", l.Ref, clean(cmp.Or(did, "it ended by itself just now")))
				err = c.sayNext(ctx, a, l.Ref, hold)
			} else {
				err = c.notStopped(err, l.Ref)
			}
			c.tell(err)
			errs[i] = err
		})
	}
	all.Wait()
	if code := worst(errs); code != exitOK {
		return &exitError{code}
	}
	return nil
}

func stopper(a *app.App, ref slot.Ref) ending.Stopper {
	return ending.Stopper{Ender: a.Ender(), Ref: ref, Path: slot.PathManual, Reason: "stopped by " + a.Whoami(), Log: slog.New(slog.DiscardHandler)}
}

func holdStopped(ctx context.Context, a *app.App, scope string) error {
	return setHold(ctx, a, slot.Hold{Scope: scope, Reason: "stopped", By: a.Whoami()})
}

// sayNext tells who, or what, comes next on a ref that was stopped.
func (c *cli) sayNext(ctx context.Context, a *app.App, ref slot.Ref, hold bool) error {
	if err := sayLine(ctx, c.Out, a, ref, hold); err != nil {
		return err
	}
	return sayWork(ctx, c.Out, a, ref)
}

// notStopped tells a refusal in full, and adds to the rest what to do.
func (c *cli) notStopped(err error, ref slot.Ref) error {
	switch {
	case slot.IsRefusal(err):
		explain(c.Err, err, inquiry{c.asked, started}, time.Now())
		return &exitError{exitBusy}
	case errors.As(err, new(*proc.NotPermittedError)):
		return fmt.Errorf("%s: %w; run `oneslot stop %s` as that user", ref, err, quote(ref.String()))
	}
	return fmt.Errorf("%s: %w", ref, err)
}

// sayLine tells who comes next.
func sayLine(ctx context.Context, w io.Writer, a *app.App, ref slot.Ref, hold bool) error {
	look, err := a.Store.Look(ctx, ref)
	if err != nil {
		return err
	}
	switch live := look.Live(); {
	case live != nil && !isDead(a, *live):
		fmt.Fprintf(w, "%s: the next one has it now: %s\n", ref, clean(live.Who()))
	case look.Waiting > 0 && !hold:
		fmt.Fprintf(w, "%s: the head of the line (%d waiting) has its turn\n", ref, look.Waiting)
	}
	return nil
}

// sayWork tells what of the queue follows, when, and how to keep it.
func sayWork(ctx context.Context, w io.Writer, a *app.App, ref slot.Ref) error {
	work, err := a.Books().Items(ctx, queue.Filter{Ref: ref})
	if errors.Is(err, slot.ErrConfig) { // the server has claims alone
		return nil
	}
	if err != nil {
		return fmt.Errorf("what waits in the queue could not be read: %w", err)
	}
	look, err := a.Store.Look(ctx, ref)
	if err != nil {
		return err
	}
	hold := "`oneslot stop --hold " + quote(ref.String()) + "`"
	if live := look.Live(); live != nil && live.Run != "" && slices.ContainsFunc(work, func(it queue.Item) bool { return it.Run == live.Run }) {
		fmt.Fprintf(w, "%s: what waited in the queue has started it; %s ends that, and keeps what waits\n", ref, hold)
		return nil
	}
	n, due, now, followed := 0, time.Time{}, a.Clock.Wall(), false
	for _, it := range work {
		if it.State == queue.Pending {
			n += it.Waiting
			if due.IsZero() || it.Due.Before(due) {
				due = it.Due
			}
			followed = followed || it.Reason == queue.ReasonFollowUp // if nobody else does, by the supervisor of the run before
		}
	}
	if n == 0 {
		return nil
	}
	next := "now"
	if due.After(now) {
		next = "in " + span(due.Sub(now))
	}
	next = "looked at " + next + ", to start it; " + hold + " keeps it from that"
	switch nobody := unworked(a, ref); {
	case look.Hold != nil:
		next = "kept until " + unholds(look.Hold.Scope)
	case nobody != "" && !followed:
		next = "kept: " + nobody
	}
	fmt.Fprintf(w, "%s: %s in the queue: %s\n", ref, waiting(n, "event"), next)
	return nil
}

// waiting says that a number of things wait.
func waiting(n int, of string) string {
	if n == 1 {
		return "1 " + of + " waits"
	}
	return times(n, of) + " wait"
}

// beside counts the events that wait for an item beside those that its run is told of.
func beside(ctx context.Context, a *app.App, it queue.Item) (n int, err error) {
	waiting, err := a.Books().Events(ctx, queue.Filter{Ref: it.Ref, Rule: &it.Policy.Rule, State: string(queue.EventWaiting)})
	for _, e := range waiting {
		if e.Run != it.Run {
			n++
		}
	}
	return n, err
}

// isDead reports that a claim is only still on record: the next one takes it.
func isDead(a *app.App, c slot.Claim) bool {
	d, _, _ := claim.Judge(app.Sight{}, c)
	return d != nil || a.Ender().Overtaken(c)
}
