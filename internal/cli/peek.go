package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

func (c *cli) peekVerb() *cobra.Command {
	var o refusing
	cmd := &cobra.Command{
		Use:   "peek REF",
		Short: "Look whether a run could start now; take nothing",
		Long: `Peek answers as run would, and takes and writes nothing. A holder that is
provably dead, or overdue and in sight, leaves the slot free; the evidence says
so. What peek saw can be over at once: only run and claim exclude others.

With --json it prints one object, also if the store could not be asked.

Exit codes:
  0    free
  64   the command line is wrong, or not a ref
  69   unknown: the store, a forge or a gate could not be asked
  74   the answer could not be printed
  75   held, or deferred by a hold or another gate
  77   not allowed
  78   bad configuration
  80   nothing to do: the work is over (closed, landed, ...)`,
		Args: c.exactly(1, "one REF"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.doPeek(cmd, args[0], o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	cmd.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "answer by the exit code alone")
	return cmd
}

func (c *cli) doPeek(cmd *cobra.Command, word string, o refusing) error {
	cfg, err := c.load(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	ref, err := slot.ParseRef(word, app.Grammar(ctx, cfg))
	if err != nil {
		return err
	}
	a, err := c.app(cfg)
	if err != nil {
		return o.tell(c, ref, err)
	}
	a.OnlyLook()
	slots, err := a.Slots(ctx, []slot.Ref{ref})
	if err != nil {
		return o.tell(c, ref, err)
	}
	ref = slots[0]
	s, err := a.Store.Look(ctx, ref)
	if err != nil {
		return o.tell(c, ref, err)
	}
	v := viewOf(a, s)
	if err := ask(ctx, a, ref, &v); err != nil {
		return o.tell(c, ref, err)
	}
	switch {
	case o.json:
		err = printJSON(c.Out, v)
	case !o.quiet:
		err = c.printPeek(a, s, v)
	}
	if err != nil {
		return err
	}
	switch v.State {
	case stateFree:
		return nil
	case stateSkipped:
		return &exitError{exitSkipped}
	case stateUnknown:
		return &exitError{exitUnknown}
	}
	return &exitError{exitBusy}
}

// ask adds what the gates say to a slot that is free.
func ask(ctx context.Context, a *app.App, ref slot.Ref, v *slotView) error {
	gates, err := a.Admission(true, "")
	if err != nil || gates == nil || v.State != stateFree {
		return err
	}
	said, err := gates.Before(ctx, ref)
	if reason := v.Reason; err == nil {
		v.findAll(said)
		v.Reason = reason
		return nil
	}
	v.State = refusalView(ref, err).State
	v.findAll(said)
	return nil
}

// printPeek tells people what was seen.
func (c *cli) printPeek(a *app.App, s claim.Slot, v slotView) error {
	colour, now := green, time.Now()
	if v.State != stateFree {
		colour = yellow
	}
	c.printf(c.Out, "%s  %s\n", v.Ref, c.paint(c.Out, colour, v.State))
	var rows [][]string
	for _, e := range v.Evidence {
		detail := e.Reason
		if e.Detail != nil {
			detail += ": " + clean(*e.Detail)
		}
		rows = append(rows, []string{e.Gate, detail})
	}
	if live := s.Live(); live != nil {
		rows = append(rows,
			[]string{"holder", clean(live.Who())},
			[]string{"since", since(live.Since, now)},
			[]string{"renewed", since(live.RenewedAt, now)},
			[]string{"until", until(*live, now)},
			[]string{"fence", fmt.Sprint(live.Fence)},
		)
	}
	if s.Waiting > 0 {
		rows = append(rows, []string{"line", fmt.Sprintf("%d wait in line", s.Waiting)})
	}
	return table(c.Out, "  ", append(rows, []string{"store", a.Store.Address()}))
}
