package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
)

// followPause is how often a log that is followed is looked at.
const followPause = 100 * time.Millisecond

func (c *cli) logVerb() *cobra.Command {
	var run string
	var follow, raw bool
	cmd := &cobra.Command{
		Use:   "log [-f] [REF | --run ID]",
		Short: "Print what a run's worker printed",
		Long: `Log prints the output of the newest run, of REF's newest run, or of the run
named by --run. With -f it goes on until that run ends.

The text is the worker's. Into a file or a pipe it goes as it is; for a terminal
control characters are taken out (--raw leaves them in), since they could be
anybody's.

Exit codes:
  0    printed; also if there is no run yet, which is said
  64   wrong usage, not a ref, or no such run
  69   unknown: the store or the log could not be read
  77   the store is somebody else's
  78   bad configuration`,
		Args: c.atMost(1, "one REF or none"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if run != "" && len(args) > 0 {
				return c.usagef(cmd, "it takes a REF or --run, not both")
			}
			a, ref, err := c.mayRef(cmd, args)
			if err != nil {
				return err
			}
			r, err := pickRun(cmd.Context(), a, ref, run)
			if err != nil {
				return err
			}
			if r.ID == "" {
				c.noRun(a, ref)
				return nil
			}
			var w io.Writer = c.Out
			if onTerminal(c.Out) && !raw {
				w = &plainWriter{w: c.Out}
			}
			if _, err := os.Stat(rundir.At(r.Dir).LogPath()); err != nil && a.Server != nil {
				return a.Server.Log(cmd.Context(), r.ID, follow, w) // it lies on the daemon's host
			}
			return c.printLog(cmd.Context(), a, w, r, follow)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run ends")
	cmd.Flags().StringVar(&run, "run", "", "the run's `ID`")
	cmd.Flags().BoolVar(&raw, "raw", false, "leave control characters in, on a terminal too")
	return cmd
}

// pickRun finds the run that is meant; its ID is empty if there is none yet.
func pickRun(ctx context.Context, a *app.App, ref slot.Ref, id string) (slot.Run, error) {
	if id != "" {
		return a.Store.Run(ctx, id)
	}
	list, err := a.Store.Runs(ctx, ref, 1)
	if err != nil || len(list) == 0 {
		return slot.Run{}, err
	}
	return list[0], nil
}

// printLog copies a run's log; following, until the run has ended and all of it
// is copied.
func (c *cli) printLog(ctx context.Context, a *app.App, w io.Writer, r slot.Run, follow bool) error {
	var f *os.File
	for {
		over, err := hasEnded(ctx, a, r)
		if err != nil {
			return err
		}
		if f == nil {
			f, err = os.Open(rundir.At(r.Dir).LogPath())
			switch {
			case err == nil:
				defer f.Close()
			case !errors.Is(err, fs.ErrNotExist):
				return fmt.Errorf("%w: the log of run %s: %w", slot.ErrUnknown, r.ID, err)
			case over || !follow:
				c.printf(c.Err, "oneslot: run %s has left no log (%s)\n", r.ID, rundir.At(r.Dir).LogPath())
				return nil
			}
		}
		if f != nil {
			if _, err := io.Copy(w, f); err != nil {
				return fmt.Errorf("%w: the log of run %s: %w", slot.ErrUnknown, r.ID, err)
			}
		}
		if over || !follow {
			return nil
		}
		select {
		case <-time.After(followPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// hasEnded asks before the log is read, so that nothing is missed after it. A
// run whose supervisor is dead writes no more.
func hasEnded(ctx context.Context, a *app.App, r slot.Run) (bool, error) {
	now, err := a.Store.Run(ctx, r.ID)
	if err != nil || now.State == slot.RunEnded {
		return true, err
	}
	if _, err := rundir.At(r.Dir).Outcome(); err == nil {
		return true, nil
	}
	life, _ := app.Sight{}.Life(now.Holder.Process)
	return life == "dead", nil
}
