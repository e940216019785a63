package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// whyView is a slot, the work that waits for it, and its history.
type whyView struct {
	Ref       slot.Ref       `json:"ref"`
	Slot      slotView       `json:"slot"`
	Work      []queueView    `json:"work"`
	Decisions []decisionView `json:"decisions"`
}

type decisionView struct {
	At      *string `json:"at"`
	LastAt  *string `json:"last_at"` // of the last of count
	Path    string  `json:"path"`
	Verdict string  `json:"verdict"`
	Reason  string  `json:"reason"`
	Detail  *string `json:"detail"`
	Next    *string `json:"next"`
	Fence   *int64  `json:"fence"`
	Run     *string `json:"run"`
	Count   int     `json:"count"`
}

func (c *cli) whyVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "why REF",
		Short: "Tell why something did, or did not, start on a ref",
		Long: `Why tells the present state of a ref's slot in one sentence, then what was decided
about it, the oldest first, and what happens next. Equal decisions in a row are
one line with a count. It takes and writes nothing.

Exit codes:
  0    told
  64   not a ref
  69   unknown: the store could not be asked
  77   the store is somebody else's
  78   bad configuration`,
		Args: c.exactly(1, "one REF"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, ref, err := c.openFor(cmd, args[0])
			if err != nil {
				return err
			}
			return c.why(cmd.Context(), a, ref, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (c *cli) why(ctx context.Context, a *app.App, ref slot.Ref, asJSON bool) error {
	look, err := a.Store.Look(ctx, ref)
	if err != nil {
		return err
	}
	list, err := a.Store.Decisions(ctx, ref)
	if err != nil {
		return err
	}
	work, err := a.Books().Items(ctx, queue.Filter{Ref: ref})
	if err != nil {
		return err
	}
	if asJSON {
		v := whyView{Ref: ref, Slot: viewOf(a, look), Work: queueViews(work), Decisions: []decisionView{}}
		for _, d := range list {
			v.Decisions = append(v.Decisions, viewDecision(d))
		}
		return printJSON(c.Out, v)
	}
	runs, err := a.Store.Runs(ctx, ref, 0)
	if err != nil {
		return err
	}
	now := a.Clock.Wall()
	c.printf(c.Out, "%s\n", clean(presently(a, look, len(list)+len(work), now)))
	for _, it := range work {
		c.printf(c.Out, "%s\n", clean(workText(ctx, a, it, now)))
	}
	rows := history(list, runs, now)
	if len(rows) > 0 {
		c.printf(c.Out, "\n")
		if err := table(c.Out, "", rows); err != nil {
			return err
		}
	}
	c.printf(c.Out, "\nnext: %s\n", clean(nextFor(a, look, work, now)))
	return nil
}

// workText is a work item in one sentence.
func workText(ctx context.Context, a *app.App, it queue.Item, now time.Time) string {
	what := "its work by " + ruleName(it.Policy)
	events := times(it.Waiting, "event") + " wait"
	if it.Waiting == 1 {
		events += "s"
	}
	switch it.State {
	case queue.Running:
		line := fmt.Sprintf("%s: run %s is told of it, attempt %d", what, it.Run, it.Attempts+1)
		if more, err := beside(ctx, a, it); err == nil && more > 0 {
			line += "; " + waiting(more, "more event") + " for its end, and will start it again"
		}
		return line + "."
	case queue.Dead:
		return fmt.Sprintf("%s was given up after %s (%s), %s.", what, times(it.Attempts, "attempt"), reasonText(it), events)
	case queue.Pending:
		look := "it is looked at now"
		if it.Due.After(now) {
			look = "next look in " + span(it.Due.Sub(now))
		}
		if nobody := unworked(a, it.Ref); nobody != "" {
			look = nobody
		}
		line := fmt.Sprintf("%s is pending (%s), %s; %s", what, reasonText(it), events, look)
		if !it.Deferred.IsZero() {
			line += fmt.Sprintf("; deferred %s since %s, which spent no attempt", times(it.Defers, "time"), since(it.Deferred, now))
		}
		return line + "."
	}
	if it.Reason == "" {
		return what + " is done."
	}
	return fmt.Sprintf("%s is idle (%s).", what, reasonText(it))
}

// times is a number of things, in words.
func times(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

func viewDecision(d slot.Decision) decisionView {
	return decisionView{
		At: stamp(d.At), LastAt: stamp(d.LastAt), Path: d.Path, Verdict: string(d.Verdict), Reason: d.Reason,
		Detail: text(d.Detail), Next: text(d.Next), Fence: number(d.Fence), Run: text(d.Run), Count: max(d.Count, 1),
	}
}

// presently is the state of a slot in one sentence. records is how much there is on
// record about it.
func presently(a *app.App, s claim.Slot, records int, now time.Time) string {
	ref, line := s.Ref.String(), ""
	live := s.Live()
	switch {
	case live != nil:
		with := ""
		switch {
		case live.Ref != s.Ref:
			with = ", as part of " + live.Ref.String() + ","
		case len(live.Also) > 0:
			with = ", together with " + refList(live.Also) + ","
		}
		line = fmt.Sprintf("%s is held%s by %s since %s, last renewed %s ago, fence %d: %s.",
			ref, with, live.Who(), since(live.Since, now), span(now.Sub(live.RenewedAt)), live.Fence, stateText(a, s))
	case s.Hold != nil:
		line = ref + " is held by nobody."
	case s.InLine(app.Sight{}):
		line = fmt.Sprintf("%s is free, and the head of its line (%d waiting) has its turn.", ref, s.Waiting)
	case s.Newest == nil && records == 0:
		line = fmt.Sprintf("%s is free: nobody ever asked for it in %s.", ref, a.Store.Address())
	case s.Newest == nil:
		line = ref + " is free: nobody ever had it."
	default:
		line = fmt.Sprintf("%s is free: %s had it last, until %s (%s).",
			ref, s.Newest.Who(), when(s.Newest.EndedAt), outcomeText(s.Newest.Outcome))
	}
	if h := s.Hold; h != nil {
		line += fmt.Sprintf(" %s, since %s.", h, since(h.At, now))
	}
	return line
}

func refList(refs []slot.Ref) string {
	var names []string
	for _, r := range refs {
		names = append(names, r.String())
	}
	return strings.Join(names, ", ")
}
