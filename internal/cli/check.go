package cli

import (
	"time"

	"github.com/spf13/cobra"
)

func (c *cli) checkVerb() *cobra.Command {
	var key keyFlags
	var quiet bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Ask whether a claim is still ours",
		Long: `Check asks whether the claim is still ours. It changes nothing. Inside a run it
asks the run's supervisor, elsewhere the store.

Exit codes:
  0    still ours
  64   the command line is wrong, or claim or token are missing
  69   unknown: it could not be asked. This is not "lost", and not "ours"
  77   not allowed
  78   bad configuration
  81   lost: it is not, or not any more, ours`,
		Args: c.exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := c.owner(cmd, key)
			if err != nil {
				return err
			}
			s, err := o.check(cmd.Context())
			if err != nil || quiet {
				return err
			}
			c.printf(c.Out, "ours  %s  fence %d  until %s (in %s)\n", s.ref, s.fence, when(time.Now().Add(s.left)), span(s.left))
			return nil
		},
	}
	key.add(cmd)
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "answer by the exit code alone")
	return cmd
}
