package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/ending"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
)

func (c *cli) takeoverVerb() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "takeover REF --reason TEXT",
		Short: "Look whether a holder still lives, and end its run",
		Long: `Takeover shows what is known of the holder's life: its process, its last
renewal, its tree, its log and its outcome. At a terminal it then asks yes or no;
elsewhere --reason is enough. It ends the run as ` + "`oneslot stop`" + ` does and leaves
the slot to the head of the line. Who did it, and why, is recorded.

Exit codes:
  0    it is ended; also if nobody held it, which is said
  64   no --reason, or not a ref
  69   unknown: the store could not be asked, or the run has not ended yet
  75   the answer was no, or somebody else took the slot meanwhile
  77   the processes belong to somebody else, who is named; nothing was changed
  78   bad configuration`,
		Args: c.exactly(1, "one REF"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(reason) == "" {
				return c.usagef(cmd, "it needs --reason TEXT, which is recorded")
			}
			a, ref, err := c.openFor(cmd, args[0])
			if err != nil {
				return err
			}
			return c.takeover(cmd.Context(), a, ref, reason)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why: `TEXT` for the record (needed)")
	return cmd
}

func (c *cli) takeover(ctx context.Context, a *app.App, ref slot.Ref, reason string) error {
	look, err := a.Store.Look(ctx, ref)
	if err != nil {
		return err
	}
	if live := look.Live(); live != nil {
		if err := c.showLife(a, *live); err != nil {
			return err
		}
		yes, err := c.confirm("end that run?")
		if err != nil {
			return err
		}
		if !yes {
			c.printf(c.Err, "oneslot: nothing was changed\n")
			return &exitError{exitBusy}
		}
	}
	s := ending.Stopper{
		Ender: a.Ender(), Ref: ref, Path: slot.PathManual, Log: slog.New(slog.DiscardHandler),
		Reason: fmt.Sprintf("taken over by %s: %s", a.Whoami(), reason),
	}
	did, err := s.Stop(ctx)
	if err != nil {
		return c.notStopped(err, ref)
	}
	if did == "" {
		did = "nothing to take over: nobody holds it"
	}
	c.printf(c.Out, "%s: %s\n", ref, clean(did))
	return sayLine(ctx, c.Out, a, ref, look.Hold != nil)
}

// showLife tells all that is known of a holder's life. That it is silent proves
// nothing, and is said as what it is.
func (c *cli) showLife(a *app.App, live slot.Claim) error {
	now := a.Clock.Wall()
	c.printf(c.Err, "%s is held by %s\n", live.Ref, clean(live.Who()))
	see := proc.Look(live.Holder.Process)
	life := string(see.Life)
	if see.Stopped {
		life += ", but stopped"
	}
	rows := [][]string{
		{"process", life + ": " + see.Detail},
		{"since", since(live.Since, now)},
		{"renewed", since(live.RenewedAt, now)},
		{"until", until(live, now)},
		{"fence", fmt.Sprint(live.Fence)},
	}
	if live.Run != "" {
		rows = append(rows, []string{"tree", membersOf(live.Run)})
	}
	if live.Dir != "" {
		rows = append(rows, lifeOf(rundir.At(live.Dir), now)...)
	}
	for _, r := range rows {
		r[1] = clean(r[1])
	}
	return table(io.Writer(c.Err), "  ", rows)
}

// membersOf names the living processes of a run.
func membersOf(run string) string {
	members, err := proc.Tree{Run: run}.Members()
	if len(members) == 0 {
		if err != nil {
			return "cannot be seen: " + err.Error()
		}
		return "no process of it is left"
	}
	const most = 8
	var names []string
	for _, m := range members[:min(most, len(members))] {
		names = append(names, fmt.Sprintf("%d (%s)", m.PID, m.Command))
	}
	s := strings.Join(names, ", ")
	if more := len(members) - most; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// lifeOf is what the run's folder tells.
func lifeOf(dir rundir.Dir, now time.Time) [][]string {
	outcome := "none yet"
	if out, err := dir.Outcome(); err == nil {
		outcome = outcomeText(out) + ": it has ended, the release is pending"
	}
	rows := [][]string{{"outcome", outcome}}
	if info, err := os.Stat(dir.LogPath()); err == nil {
		rows = append(rows, []string{"output", "last " + since(info.ModTime(), now)})
	}
	return rows
}
