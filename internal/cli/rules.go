package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/slot"
)

func (c *cli) rulesVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "Try what the rules make of an event",
		Long: `Rules tells what would be started for an event, and why. Nothing is written.

Exit codes:
  0    told
  64   wrong usage
  78   bad configuration: all that is wrong is named`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.usagef(cmd, "say `rules test`")
		},
	}
	cmd.AddCommand(c.rulesTestVerb())
	return cmd
}

// trial is what `rules test` was asked.
type trial struct {
	file, hook, event string // a delivery
	kind, ref         string // or an event alone
	asJSON            bool
}

func (c *cli) rulesTestVerb() *cobra.Command {
	var t trial
	cmd := &cobra.Command{
		Use:   "test {--event FILE [--hook NAME] [--type EVENT] | --kind KIND --ref REF} [--json]",
		Short: "Tell what would be started for an event, and why",
		Long: `Test reads a delivery from FILE as the daemon would, but for its signature, and
tells for each event in it and each rule what would be started, or why not. Nothing
is written, and no other gate than trust is asked: "oneslot peek REF" asks them.

FILE ("-" is standard input) is a payload alone, for which --hook and --type name the
hook and the event as the forge calls it; or a recorded request: the line "POST
/hooks/NAME", headers, an empty line and the body.

Exit codes:
  0    told
  64   wrong usage, or FILE is no delivery
  78   bad configuration: all that is wrong is named`,
		Args: c.exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (t.file != "") == (t.kind != "" || t.ref != "") || (t.kind != "") != (t.ref != "") {
				return c.usagef(cmd, "it takes either --event or both --kind and --ref")
			}
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			r, err := c.rehearse(cmd, cfg, t)
			if err != nil {
				return err
			}
			if t.asJSON {
				return printJSON(c.Out, viewRehearsal(r))
			}
			return c.tellRehearsal(r)
		},
	}
	cmd.Flags().StringVar(&t.file, "event", "", "read the delivery from `FILE`")
	cmd.Flags().StringVar(&t.hook, "hook", "", "`NAME` of the hook that it came to")
	cmd.Flags().StringVar(&t.event, "type", "", "the `EVENT` as the forge calls it, for a payload without headers")
	cmd.Flags().StringVar(&t.kind, "kind", "", "try an event of this `KIND`, of which nothing else is known")
	cmd.Flags().StringVar(&t.ref, "ref", "", "and about this `REF`")
	cmd.Flags().BoolVar(&t.asJSON, "json", false, "print one JSON object")
	return cmd
}

func (c *cli) rehearse(cmd *cobra.Command, cfg *config.Config, t trial) (app.Rehearsal, error) {
	if t.file == "" {
		return rehearseKind(cmd, cfg, t)
	}
	d, err := c.readDelivery(t.file)
	if err != nil {
		return app.Rehearsal{}, err
	}
	if t.hook != "" {
		d.hook = t.hook
	}
	if d.hook == "" && len(cfg.Hooks) == 1 {
		d.hook = cfg.Hooks[0].Name.V
	}
	if d.hook == "" {
		return app.Rehearsal{}, c.usagef(cmd, "--hook must name one of the %d hooks", len(cfg.Hooks))
	}
	if t.event != "" {
		for _, h := range cfg.Hooks {
			if h.Name.V == d.hook {
				d.header.Set(eventHeader(h.Forge.V), t.event)
			}
		}
	} else if len(d.header) == 0 {
		return app.Rehearsal{}, c.usagef(cmd, "a payload without headers needs --type")
	}
	return app.Rehearse(cmd.Context(), cfg, d.hook, d.header, d.body)
}

func rehearseKind(cmd *cobra.Command, cfg *config.Config, t trial) (app.Rehearsal, error) {
	ref, err := slot.ParseRef(t.ref, app.Grammar(cmd.Context(), cfg))
	if err != nil {
		return app.Rehearsal{}, err
	}
	for _, k := range slot.EventKinds() {
		if string(k) == t.kind {
			e := slot.Event{Path: slot.PathManual, Repo: ref.Repo(), Ref: ref, Kind: k}
			return app.Rehearsal{Events: []app.Rehearsed{app.RehearseEvent(cmd.Context(), cfg, e)}}, nil
		}
	}
	return app.Rehearsal{}, fmt.Errorf("%w: %q is no kind of event; there are %s", slot.ErrUsage, t.kind, kindsOf(slot.EventKinds()))
}

func kindsOf(kinds []slot.EventKind) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return strings.Join(words, ", ")
}

// tellRehearsal prints what would happen for people.
func (c *cli) tellRehearsal(r app.Rehearsal) error {
	if r.Ignored != "" {
		c.printf(c.Out, "ignored: %s\n", clean(r.Ignored))
	}
	for _, e := range r.Events {
		c.printf(c.Out, "%s\n", clean(headline(e.Event)))
		rows := [][]string{}
		wanted := false
		for _, o := range e.Rules {
			rows = append(rows, []string{clean(o.Rule), clean(outlook(o))})
			wanted = wanted || o.Wants
		}
		if err := table(c.Out, "  ", rows); err != nil {
			return err
		}
		switch {
		case !wanted:
			c.printf(c.Out, "  ignored: no rule wants it\n")
		case e.Trust.Verdict == slot.Skip:
			c.printf(c.Out, "  skipped: %s: %s\n", clean(e.Trust.Reason), clean(e.Trust.Detail))
		}
	}
	return nil
}

func headline(e slot.Event) string {
	about := e.Ref.String()
	if e.Ref.IsZero() {
		about = e.Repo + " (the ref is found by its head commit)"
	}
	s := fmt.Sprintf("%s %s", e.Kind, about)
	if e.Sha != "" {
		s += " at " + e.Sha
	}
	if e.Facts.Actor != "" {
		s += " by " + e.Facts.Actor
	}
	return s
}

func outlook(o app.Outlook) string {
	switch {
	case !o.Wants:
		return "no: " + o.Why
	case o.Why != "":
		return "yes, but: " + o.Why
	case o.Run == nil:
		return "yes"
	}
	after := "at once"
	if o.Quiet > 0 {
		after = span(o.Quiet.Round(time.Millisecond)) + " after the last event"
	}
	return fmt.Sprintf("yes: %s, %s", strings.Join(o.Run, " "), after)
}
