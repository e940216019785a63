package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/ending"
	"github.com/oneslot/oneslot/internal/slot"
)

func (c *cli) stopVerb() *cobra.Command {
	var hold bool
	cmd := &cobra.Command{
		Use:   "stop REF [--hold]",
		Short: "End what runs on a ref, and wait until it is gone",
		Long: `Stop asks the run that holds REF to end, and returns when nothing of its
process tree is left. The run has its grace time between TERM and KILL. It asks
nothing back and needs no reason; no attempt is spent and no retry follows, but
who waits in line comes next, unless --hold pauses the ref first.

A supervisor that is dead or stopped is not waited for: stop takes the slot,
ends the tree itself, and gives the slot back. So it does with a claim that
nobody supervises (` + "`oneslot claim`" + `, or one that waits for a person).
A run on another host, or out of sight, ends at its next renewal.

Exit codes:
  0    it is stopped; also if there was nothing to stop, which is said
  64   not a ref
  69   unknown: the store could not be asked, or the run has not ended yet
  75   somebody else took the slot meanwhile, or a hold keeps a claim in place
  77   the processes belong to somebody else, who is named; nothing was changed
  78   bad configuration`,
		Args: c.exactly(1, "one REF"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, ref, err := c.openFor(cmd, args[0])
			if err != nil {
				return err
			}
			return c.stop(cmd.Context(), a, ref, hold)
		},
	}
	cmd.Flags().BoolVar(&hold, "hold", false, "put the ref on hold first, so that nothing follows")
	return cmd
}

func (c *cli) stop(ctx context.Context, a *app.App, ref slot.Ref, hold bool) error {
	s := ending.Stopper{Ender: a.Ender(), Ref: ref, Path: slot.PathManual, Reason: "stopped by " + a.Whoami(), Log: slog.New(slog.DiscardHandler)}
	if hold {
		s.Hold = func(ctx context.Context) error {
			return setHold(ctx, a, slot.Hold{Scope: ref.String(), Reason: "stopped", By: a.Whoami()})
		}
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
		c.printf(c.Out, "%s: on hold until `oneslot unhold %s`\n", ref, quote(ref.String()))
	}
	return sayLine(ctx, c.Out, a, ref, hold)
}

// notStopped tells a refusal in full, and adds to the rest what to do.
func (c *cli) notStopped(err error, ref slot.Ref) error {
	switch {
	case slot.IsRefusal(err):
		explain(c.Err, err, inquiry{c.asked, started}, time.Now())
		return &exitError{exitBusy}
	case errors.Is(err, slot.ErrNotAllowed):
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

// isDead reports that a claim is only still on record: the next one takes it.
func isDead(a *app.App, c slot.Claim) bool {
	d, _, _ := claim.Judge(app.Sight{}, c)
	return d != nil || a.Ender().Overtaken(c)
}
