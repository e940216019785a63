package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
)

// statusView is the state of everything. There is no queue in this version.
type statusView struct {
	Store string     `json:"store"`
	Slots []slotView `json:"slots"`
	Queue []struct{} `json:"queue"`
}

func (c *cli) statusVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show who holds what, and what is on hold",
		Long: `Status lists the claims that are live, how many wait in line for each, and what
is on hold. It takes and writes nothing.

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
			all, err := statusOf(cmd.Context(), a)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.Out, all.view(a))
			}
			return c.showStatus(a, all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// state is what the store says: each live slot, and all holds.
type state struct {
	slots []claim.Slot
	holds []slot.Hold
}

func statusOf(ctx context.Context, a *app.App) (state, error) {
	live, err := a.Store.Live(ctx)
	if err != nil {
		return state{}, err
	}
	var all state
	for _, c := range live {
		s, err := a.Store.Look(ctx, c.Ref)
		if err != nil {
			return state{}, err
		}
		if s.Live() != nil { // else it ended meanwhile
			all.slots = append(all.slots, s)
		}
	}
	all.holds, err = a.Store.Holds(ctx)
	return all, err
}

func (all state) view(a *app.App) statusView {
	v := statusView{Store: a.Store.Address(), Slots: []slotView{}, Queue: []struct{}{}}
	shown := map[string]bool{}
	for _, s := range all.slots {
		v.Slots = append(v.Slots, viewOf(a, s))
		shown[s.Ref.String()] = true
	}
	for _, h := range all.holds {
		if shown[h.Scope] {
			continue // its slot tells
		}
		paused := slotView{Ref: h.Scope, State: stateDeferred, Since: stamp(h.At), Evidence: []gateFinding{}}
		paused.find("hold", slot.Defer, slot.ReasonHold, holdText(h))
		v.Slots = append(v.Slots, paused)
	}
	return v
}

func (c *cli) showStatus(a *app.App, all state) error {
	now := a.Clock.Wall()
	rows := [][]string{{"REF", "STATE", "HOLDER", "SINCE", "RENEWED", "UNTIL", "FENCE"}}
	for _, s := range all.slots {
		l := s.Live()
		rows = append(rows, []string{
			s.Ref.String(), stateText(a, s), clean(l.Holder.String()), since(l.Since, now),
			span(now.Sub(l.RenewedAt)) + " ago", until(*l, now), fmt.Sprint(l.Fence),
		})
	}
	if len(rows) == 1 {
		c.printf(c.Out, "nothing is held\n")
	} else if err := table(c.Out, "", rows); err != nil {
		return err
	}
	for i, h := range all.holds {
		if i == 0 {
			c.printf(c.Out, "\n")
		}
		c.printf(c.Out, "%s, since %s\n", clean(holdText(h)), since(h.At, now))
	}
	c.printf(c.Out, "\n")
	return table(c.Out, "", [][]string{
		{"default_host", a.Config.DefaultHost.V + " (" + a.Config.DefaultHost.Origin.String() + ")"},
		{"store", a.Store.Address()},
	})
}

// stateText is a live slot's state in few words, the most urgent ones first.
func stateText(a *app.App, s claim.Slot) string {
	l := *s.Live()
	var words []string
	d, reason, _ := claim.Judge(app.Sight{}, l)
	switch {
	case ended(l) && l.Kind == slot.Supervised:
		words = append(words, reasonPending)
	case overtaken(a, l), d != nil && d.Why == claim.Dead:
		words = append(words, "dead, next claim takes it")
	case d != nil:
		words = append(words, "overdue, next claim takes it")
	case l.Expired() && l.Kind != slot.Waiting:
		words = append(words, "overdue")
	case l.Kind == slot.Waiting:
		words = append(words, "waiting for a person")
	case l.Kind == slot.Detached:
		words = append(words, "held")
	default:
		words = append(words, string(l.Phase))
	}
	if reason == slot.ReasonUnseen {
		words = append(words, "out of sight")
	}
	if d == nil && !l.Holder.Process.IsZero() && proc.Look(l.Holder.Process).Stopped {
		words = append(words, "its process is stopped (SIGSTOP)")
	}
	if s.Hold != nil {
		words = append(words, "on hold")
	}
	if s.Waiting > 0 {
		words = append(words, fmt.Sprintf("%d waiting in line", s.Waiting))
	}
	return strings.Join(words, "; ")
}

// pad fills s up to a width.
func pad(s string, width int) string { return fmt.Sprintf("%-*s", width, s) }
