package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

func (c *cli) dropVerb() *cobra.Command {
	var rule, reason string
	var dead bool
	cmd := &cobra.Command{
		Use:   "drop (REF | --dead) --reason TEXT",
		Short: "End work that waits, or was given up, without a run",
		Long: `Drop ends the work of REF that is pending, backs off, waits for a person or is
dead: its events are skipped, and nothing starts for them. Who did it, and why, is
recorded. --dead does so for what ` + "`oneslot dead`" + ` lists, and for nothing else.

A run that is there goes on, with the events that it is told of; ` + "`oneslot stop`" + `
ends it. What comes later starts as ever, also if the forge tells the same again: it
is sent once more, or found by polling because it is still so. To keep that out,
` + "`oneslot hold`" + ` the ref, or change the rule.

Exit codes:
  0    done; also if there was nothing, which is said
  64   no --reason, or not a ref
  69   unknown: the store could not be asked
  77   not allowed
  78   bad configuration`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if dead == (len(args) == 1) {
				return c.usagef(cmd, "it takes one REF, or --dead")
			}
			if strings.TrimSpace(reason) == "" {
				return c.usagef(cmd, "it needs --reason TEXT, which is recorded")
			}
			a, err := c.open(cmd)
			if err != nil {
				return err
			}
			d := queue.Drop{Path: slot.PathManual, By: a.Whoami(), Reason: reason}
			if !dead {
				if d.Ref, err = c.ref(cmd.Context(), a, args[0]); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("rule") {
				d.Rule = &rule
			}
			return c.drop(cmd.Context(), a, d)
		},
	}
	cmd.Flags().StringVar(&rule, "rule", "", "only the work of the rule of that `NAME`")
	cmd.Flags().BoolVar(&dead, "dead", false, "all that was given up")
	cmd.Flags().StringVar(&reason, "reason", "", "why: `TEXT` for the record (needed)")
	return cmd
}

func (c *cli) drop(ctx context.Context, a *app.App, d queue.Drop) error {
	list, err := a.Books().Drop(ctx, d)
	if err != nil {
		return err
	}
	n := 0
	for _, one := range list {
		if n += one.Events; one.Events > 0 {
			c.printf(c.Out, "%s: dropped %s for %s\n", one.Item.Ref, times(one.Events, "event"), ruleName(one.Item.Policy))
		}
	}
	if n == 0 {
		c.printf(c.Out, "%s\n", nothingToDrop(d.Ref))
	}
	for _, one := range list {
		if it := one.Item; it.State == queue.Running {
			c.printf(c.Out, "%s: run %s is told of %s: `oneslot stop %s` ends it\n", it.Ref, it.Run, times(it.Waiting, "event"), quote(it.Ref.String()))
		}
	}
	if d.Ref.IsZero() {
		return nil
	}
	look, err := a.Store.Look(ctx, d.Ref)
	if err != nil {
		return err
	}
	if live := look.Live(); live != nil && live.Kind == slot.Waiting {
		c.printf(c.Out, "%s: its slot is still kept for a person: `oneslot stop %s` gives it back\n", d.Ref, quote(d.Ref.String()))
	}
	return nil
}

func nothingToDrop(ref slot.Ref) string {
	if ref.IsZero() {
		return "nothing to drop: no work was given up"
	}
	return ref.String() + ": nothing to drop: no work of it waits or is dead"
}
