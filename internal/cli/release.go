package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/slot"
)

func (c *cli) releaseVerb() *cobra.Command {
	var key keyFlags
	var quiet bool
	var outcome, reason string
	cmd := &cobra.Command{
		Use:   "release",
		Short: "Give a claim back",
		Long: `Release ends a claim that is ours and wakes whoever waits for the slot. Doing it
again is harmless. With --outcome waiting the slot is kept for a person.

Inside a run it says "I am done" to the run's supervisor, which gives the rest of
the run the grace time to end and then gives the slot back.

Exit codes:
  0    released, now or before
  64   the command line is wrong, or claim or token are missing
  69   unknown: it is not known whether it was released; do it again
  77   not allowed: the claim of a run is given back by its supervisor
  78   bad configuration
  81   lost: it was not ours any more; nothing was changed`,
		Args: c.exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := c.owner(cmd, key)
			if err != nil {
				return err
			}
			result := slot.Result(outcome)
			allowed := []slot.Result{slot.Done, slot.Failed, slot.Later, slot.Waits, slot.Stopped}
			if o.socket != "" {
				allowed = allowed[:4] // a worker does not stop itself
			}
			if !slices.Contains(allowed, result) {
				return c.usagef(cmd, "--outcome is one of %v, not %q", allowed, outcome)
			}
			ref, err := o.release(cmd.Context(), slot.Outcome{Result: result, Reason: clean(reason)})
			if err != nil || quiet {
				return err
			}
			c.printf(c.Out, "released  %s\n", ref)
			return nil
		},
	}
	key.add(cmd)
	f := cmd.Flags()
	f.StringVar(&outcome, "outcome", string(slot.Done), "how it ended: `O` is done, failed, later, waiting or stopped")
	f.StringVar(&reason, "reason", "", "one line of `TEXT` on record")
	f.BoolVarP(&quiet, "quiet", "q", false, "answer by the exit code alone")
	return cmd
}
