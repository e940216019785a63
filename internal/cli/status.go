package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// statusView is the state of everything.
type statusView struct {
	Store  string       `json:"store"`
	Daemon *int         `json:"daemon"` // its pid; null for none
	Slots  []statusSlot `json:"slots"`
	Queue  []queueView  `json:"queue"`
}

// statusSlot is a slot, and how far the work under its claim has come.
type statusSlot struct {
	slotView
	Phase *string `json:"phase"` // null if it is only on hold
}

// queueMost bounds the rows of the queue that status shows.
const queueMost = 1000

func (c *cli) statusVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show who holds what, what is on hold, and what waits in the queue",
		Long: `Status lists the claims that are live, how many wait in line for each, what is on
hold, and the work that is pending, running or given up (the newest 1000 of
each). It takes and writes nothing.

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

// state is what the store says: each live slot, all holds, and the queue.
type state struct {
	slots  []claim.Slot
	holds  []slot.Hold
	queue  []queue.Item
	daemon int // its pid; 0 for none
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
	if all.holds, err = a.Store.Holds(ctx); err != nil {
		return all, err
	}
	for _, in := range []queue.State{queue.Running, queue.Pending, queue.Dead} {
		items, err := a.Books().Items(ctx, queue.Filter{State: string(in), Limit: queueMost})
		if err != nil {
			return state{}, err
		}
		all.queue = append(all.queue, items...)
	}
	all.daemon, err = a.Daemon()
	return all, err
}

func (all state) view(a *app.App) statusView {
	v := statusView{Store: a.Store.Address(), Daemon: number(all.daemon), Slots: []statusSlot{}, Queue: queueViews(all.queue)}
	shown := map[string]bool{}
	for _, s := range all.slots {
		v.Slots = append(v.Slots, statusSlot{viewOf(a, s), text(phase(*s.Live()))})
		shown[s.Ref.String()] = true
	}
	for _, h := range all.holds {
		if shown[h.Scope] {
			continue // its slot tells
		}
		paused := slotView{Ref: h.Scope, State: stateDeferred, Since: stamp(h.At), Evidence: []gateFinding{}}
		paused.find("hold", slot.Defer, slot.ReasonHold, h.String())
		v.Slots = append(v.Slots, statusSlot{slotView: paused})
	}
	return v
}

func (c *cli) showStatus(a *app.App, all state) error {
	now := a.Clock.Wall()
	rows := [][]string{{"REF", "STATE", "HOLDER", "SINCE", "RENEWED", "UNTIL", "FENCE"}}
	for _, s := range all.slots {
		l := s.Live()
		rows = append(rows, []string{
			s.Ref.String(), stateText(a, s), clean(l.Who()), since(l.Since, now),
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
		only := ""
		if h.Scope == slot.Everything {
			only = "; " + unholds(h.Scope) + " ends it, and no other hold"
		}
		c.printf(c.Out, "%s, since %s%s\n", clean(h.String()), since(h.At, now), only)
	}
	if err := c.showQueue(all.queue, now); err != nil {
		return err
	}
	c.printf(c.Out, "\n")
	daemon := "none: nobody works the queue"
	if all.daemon != 0 {
		daemon = fmt.Sprintf("pid %d", all.daemon)
		if daemonStopped(a, all.daemon) {
			daemon += ", stopped (SIGSTOP): nothing is taken and nothing starts"
		}
	}
	return table(c.Out, "", [][]string{
		{"daemon", daemon},
		{"default_host", a.Config.DefaultHost.V + " (" + a.Config.DefaultHost.Origin.String() + ")"},
		{"store", storeText(a)},
	})
}

// storeText is the address of the store, and whether its file is still to come: a
// mistyped address looks as idle as an idle one.
func storeText(a *app.App) string {
	if a.Queue != nil { // it is a file of this host
		if _, err := os.Stat(a.Config.StorePath()); errors.Is(err, fs.ErrNotExist) {
			return a.Store.Address() + " (there is no such file yet; the first claim or wish makes it)"
		}
	}
	return a.Store.Address()
}

// showQueue lists work items, if there are any.
func (c *cli) showQueue(items []queue.Item, now time.Time) error {
	if len(items) == 0 {
		return nil
	}
	c.printf(c.Out, "\n")
	rows := [][]string{{"WORK ON", "RULE", "STATE", "WAITS", "EVENTS", "ATTEMPTS", "DEFERS", "NEXT LOOK", "REASON"}}
	for _, it := range items {
		waits, next := "-", "-"
		if !it.Age.IsZero() {
			waits = span(now.Sub(it.Age))
		}
		if it.State == queue.Pending {
			if next = "now"; it.Due.After(now) {
				next = "in " + span(it.Due.Sub(now))
			}
		}
		rows = append(rows, []string{it.Ref.String(), ruleName(it.Policy), string(it.State), waits, fmt.Sprint(it.Waiting),
			fmt.Sprint(it.Attempts), fmt.Sprint(it.Defers), next, reasonText(it)})
	}
	return table(c.Out, "", rows)
}

// phase is how far the work under a live claim has come, in one word.
func phase(c slot.Claim) string {
	switch c.Kind {
	case slot.Waiting, slot.Detached:
		return string(c.Kind)
	}
	return string(c.Phase)
}

// stateText is a live slot's state in few words, the most urgent ones first.
func stateText(a *app.App, s claim.Slot) string {
	l := *s.Live()
	var words []string
	d, reason, _ := claim.Judge(app.Sight{}, l)
	switch {
	case ended(l) && l.Kind == slot.Supervised:
		words = append(words, reasonPending)
	case a.Ender().Overtaken(l), d != nil && d.Why == claim.Dead:
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
	if d == nil && stopped(l) {
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
