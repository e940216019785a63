package cli

import (
	"time"

	"github.com/spf13/cobra"
)

func (c *cli) renewVerb() *cobra.Command {
	var key keyFlags
	var quiet bool
	cmd := &cobra.Command{
		Use:   "renew",
		Short: "Move the deadline of a claim that is ours",
		Long: `Renew moves the claim's deadline by its time to live. An expired claim is
renewed too, as long as nobody took the slot since.

Exit codes:
  0    renewed
  64   the command line is wrong, or claim or token are missing
  69   unknown: the store could not be asked; the deadline may have moved or not
  77   not allowed
  78   bad configuration
  81   lost: stop working on it`,
		Args: c.exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := c.owner(cmd, key)
			if err != nil {
				return err
			}
			left, err := o.renew(cmd.Context())
			if err != nil || quiet {
				return err
			}
			c.printf(c.Out, "renewed  until %s (in %s)\n", when(time.Now().Add(left)), span(left))
			return nil
		},
	}
	key.add(cmd)
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "answer by the exit code alone")
	return cmd
}
