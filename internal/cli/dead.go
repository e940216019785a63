package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

func (c *cli) deadVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "dead",
		Short: "List the work that was given up, and why",
		Long: `Dead lists the work items whose every attempt failed, or that nothing can be run
for, with the reason. ` + "`oneslot retry REF`" + ` gives one a fresh budget; so does a new
head, another kind of event, or a person's wish. ` + "`oneslot drop REF`" + ` ends it without
a run.

Exit codes:
  0    shown
  64   wrong usage
  69   unknown: the store could not be asked
  77   the store is somebody else's
  78   bad configuration`,
		Args: c.exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := c.open(cmd)
			if err != nil {
				return err
			}
			items, err := a.Books().Items(cmd.Context(), queue.Filter{State: string(queue.Dead)})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.Out, queueViews(items))
			}
			if len(items) == 0 {
				c.printf(c.Out, "nothing was given up\n")
				return nil
			}
			rows := [][]string{{"REF", "RULE", "ATTEMPTS", "SINCE", "REASON"}}
			now := a.Clock.Wall()
			for _, it := range items {
				rows = append(rows, []string{it.Ref.String(), ruleName(it.Policy), fmt.Sprint(it.Attempts), since(it.Age, now), reasonText(it)})
			}
			return table(c.Out, "", rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func (c *cli) retryVerb() *cobra.Command {
	var rule string
	var all bool
	cmd := &cobra.Command{
		Use:   "retry REF | --all",
		Short: "Give work that was given up, or waits, a fresh budget",
		Long: `Retry has the work items of REF that are dead, back off or wait for a person looked
at now, with a fresh budget of attempts. The run is told of all their events. --all
does so for what ` + "`oneslot dead`" + ` lists, and for nothing else.

Exit codes:
  0    done; also if there was nothing, which is said
  64   not a ref
  69   unknown: the store could not be asked
  77   the store is somebody else's
  78   bad configuration`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return c.usagef(cmd, "it takes one REF, or --all")
			}
			a, err := c.open(cmd)
			if err != nil {
				return err
			}
			var ref slot.Ref
			if !all {
				if ref, err = c.ref(cmd.Context(), a, args[0]); err != nil {
					return err
				}
			}
			var only *string
			if cmd.Flags().Changed("rule") {
				only = &rule
			}
			items, err := a.Books().Revive(cmd.Context(), ref, only)
			if err != nil {
				return err
			}
			for _, it := range items {
				c.printf(c.Out, "%s: %s is looked at now\n", it.Ref, ruleName(it.Policy))
			}
			if len(items) == 0 {
				c.printf(c.Out, "%s\n", nothingToRetry(ref))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&rule, "rule", "", "only the work of the rule of that `NAME`")
	cmd.Flags().BoolVar(&all, "all", false, "all that was given up")
	return cmd
}

func nothingToRetry(ref slot.Ref) string {
	if ref.IsZero() {
		return "nothing to retry: no work was given up"
	}
	return ref.String() + ": nothing to retry: no work of it is dead, backs off or waits for a person"
}

// queueView is a work item as status, why and dead show it.
type queueView struct {
	Ref      slot.Ref `json:"ref"`
	Rule     string   `json:"rule"`
	State    string   `json:"state"`
	Attempts int      `json:"attempts"`
	Defers   int      `json:"defers"`
	Reason   *string  `json:"reason"`
	Detail   *string  `json:"detail"`
	NextLook *string  `json:"next_look"`
	Run      *string  `json:"run"`
	Since    *string  `json:"since"`
	Events   int      `json:"events"`
}

func queueViews(items []queue.Item) []queueView {
	views := []queueView{}
	for _, it := range items {
		views = append(views, queueView{
			Ref: it.Ref, Rule: it.Policy.Rule, State: string(it.State), Attempts: it.Attempts, Defers: it.Defers,
			Reason: text(it.Reason), Detail: text(it.Detail), NextLook: stamp(it.Due), Run: text(it.Run),
			Since: stamp(it.Age), Events: it.Waiting,
		})
	}
	return views
}

// ruleName names what an item goes by, for people.
func ruleName(p queue.Policy) string {
	switch {
	case p.Rule != "":
		return "rule " + p.Rule
	case len(p.Run) > 0:
		return "a command of its own"
	}
	return "[worker]"
}

// reasonText is why an item is where it is.
func reasonText(it queue.Item) string {
	if it.Detail == "" {
		return clean(it.Reason)
	}
	return clean(it.Reason + ": " + it.Detail)
}
