package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
)

// runView is one run. The field names are fixed.
type runView struct {
	Run       string   `json:"run"`
	Ref       slot.Ref `json:"ref"`
	Rule      *string  `json:"rule"`
	Path      string   `json:"path"`
	Fence     int64    `json:"fence"`
	State     string   `json:"state"` // starting, running, ended
	Outcome   *string  `json:"outcome"`
	Exit      *int     `json:"exit"`
	Signal    *string  `json:"signal"`
	StartedAt *string  `json:"started_at"`
	EndedAt   *string  `json:"ended_at"`
	Log       *string  `json:"log"`
}

func (c *cli) runsVerb() *cobra.Command {
	var asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use:   "runs [REF]",
		Short: "List runs, the newest first",
		Long: `Runs lists what was run, of one ref or of all, the newest first.

Exit codes:
  0    shown; also if there is none
  64   wrong usage, or not a ref
  69   unknown: the store could not be asked
  77   the store is somebody else's
  78   bad configuration`,
		Args: c.atMost(1, "one REF or none"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return c.usagef(cmd, "-n takes 0 (all) or more")
			}
			a, ref, err := c.mayRef(cmd, args)
			if err != nil {
				return err
			}
			list, err := a.Store.Runs(cmd.Context(), ref, limit)
			if err != nil {
				return err
			}
			if len(list) == 0 && !asJSON {
				c.noRun(a, ref)
				return nil
			}
			return c.showRuns(a, list, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	cmd.Flags().IntVarP(&limit, "limit", "n", 50, "how many: `N`; 0 is all")
	return cmd
}

// atMost allows no more than n arguments, named in what.
func (c *cli) atMost(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return c.usagef(cmd, "it takes %s", what)
		}
		return nil
	}
}

// mayRef opens the store and reads a ref, if there is one.
func (c *cli) mayRef(cmd *cobra.Command, args []string) (*app.App, slot.Ref, error) {
	a, err := c.open(cmd)
	if err != nil || len(args) == 0 {
		return a, slot.Ref{}, err
	}
	ref, err := c.ref(cmd.Context(), a, args[0])
	return a, ref, err
}

// noRun says that there was no run yet, of one ref or of any.
func (c *cli) noRun(a *app.App, ref slot.Ref) {
	of := ""
	if !ref.IsZero() {
		of = " of " + ref.String()
	}
	c.printf(c.Err, "oneslot: no run%s is on record in %s\n", of, a.Store.Address())
}

// widest bounds how much of an outcome a line of runs shows; `why` tells all.
const widest = 60

func (c *cli) showRuns(a *app.App, list []slot.Run, asJSON bool) error {
	views := []runView{}
	rows := [][]string{{"RUN", "REF", "STATE", "OUTCOME", "HOLDER", "STARTED", "TOOK", "FENCE"}}
	now := a.Clock.Wall()
	for _, r := range list {
		v := viewRun(r)
		views = append(views, v)
		outcome, took := "-", "-"
		if r.State == slot.RunEnded {
			outcome = cut(clean(outcomeText(r.Outcome)), widest)
		}
		if end := r.EndedAt; !r.StartedAt.IsZero() {
			if end.IsZero() {
				end = now
			}
			took = span(end.Sub(r.StartedAt))
		}
		rows = append(rows, []string{
			r.ID, r.Ref.String(), v.State, outcome, clean(r.Who()), when(r.StartedAt), took, fmt.Sprint(r.Fence),
		})
	}
	if asJSON {
		return printJSON(c.Out, views)
	}
	return table(c.Out, "", rows)
}

func viewRun(r slot.Run) runView {
	v := runView{
		Run: r.ID, Ref: r.Ref, Rule: text(r.Rule), Path: r.Path, Fence: r.Fence, State: string(r.State),
		StartedAt: stamp(r.StartedAt), EndedAt: stamp(r.EndedAt),
	}
	if r.State == slot.RunEnded {
		v.Outcome, v.Exit, v.Signal = text(string(r.Outcome.Result)), r.Outcome.Exit, text(r.Outcome.Signal)
	}
	if r.Dir != "" {
		if path := rundir.At(r.Dir).LogPath(); exists(path) {
			v.Log = &path
		}
	}
	return v
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// outcomeText is an outcome in few words.
func outcomeText(out slot.Outcome) string {
	words := []string{string(out.Result)}
	switch {
	case out.Signal != "":
		words = append(words, out.Signal)
	case out.Exit != nil:
		words = append(words, fmt.Sprintf("exit %d", *out.Exit))
	}
	if out.Reason != "" {
		words = append(words, out.Reason)
	}
	return strings.Join(words, ", ")
}
