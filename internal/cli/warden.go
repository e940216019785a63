package cli

import (
	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/supervise"
)

// wardenVerbName is the hidden verb that a supervisor starts as its second
// process. It is not for people.
const wardenVerbName = "warden-internal"

func (c *cli) wardenVerb() *cobra.Command {
	return &cobra.Command{
		Use:    wardenVerbName,
		Short:  "The second process of a supervised run; started by oneslot itself",
		Hidden: true,
		Args:   c.exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if code := supervise.WardenMain(cmd.Context()); code != 0 {
				return &exitError{code}
			}
			return nil
		},
	}
}
