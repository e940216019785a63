package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/slot"
)

func (c *cli) holdVerb() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "hold REF|REPO [--reason TEXT]",
		Short: "Pause a ref or a repository: nothing starts there",
		Long: `Hold pauses a ref, or all refs of a repository (owner/repo): no claim is given
there until ` + "`oneslot unhold`" + `. No --force passes it. A run that is there already
goes on; ` + "`oneslot stop`" + ` ends it. Holding again replaces the reason.

Exit codes:
  0    it is on hold
  64   neither a ref nor a repository
  69   unknown: the store could not be asked
  77   not allowed
  78   bad configuration`,
		Args: c.exactly(1, "one REF or REPO"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, scope, err := c.scope(cmd, args[0])
			if err != nil {
				return err
			}
			return c.hold(cmd.Context(), a, scope, reason)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`TEXT` that everybody who asks is told")
	return cmd
}

func (c *cli) unholdVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "unhold REF|REPO",
		Short: "End a pause",
		Long: `Unhold ends what ` + "`oneslot hold`" + ` began; who waits in line is woken. What was not
on hold is no error: it is said, and the exit code is 0.

Exit codes:
  0    it is not on hold
  64   neither a ref nor a repository
  69   unknown: the store could not be asked
  77   not allowed
  78   bad configuration`,
		Args: c.exactly(1, "one REF or REPO"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, scope, err := c.scope(cmd, args[0])
			if err != nil {
				return err
			}
			return c.unhold(cmd.Context(), a, scope)
		},
	}
}

// scope opens the store and reads what a hold is about.
func (c *cli) scope(cmd *cobra.Command, word string) (*app.App, string, error) {
	a, err := c.open(cmd)
	if err != nil {
		return nil, "", err
	}
	scope, err := a.Scope(cmd.Context(), word)
	return a, scope, err
}

func (c *cli) hold(ctx context.Context, a *app.App, scope, reason string) error {
	if err := setHold(ctx, a, slot.Hold{Scope: scope, Reason: reason, By: a.Whoami()}); err != nil {
		return err
	}
	c.printf(c.Out, "%s: on hold until `oneslot unhold %s`\n", scope, quote(scope))
	live, err := a.Store.Live(ctx)
	if err != nil {
		return err
	}
	for _, l := range live {
		if within(l.Ref, scope) && !isDead(a, l) {
			ref := l.Ref.String()
			c.printf(c.Out, "%s: goes on, held by %s; `oneslot stop %s` ends it\n", ref, clean(l.Who()), quote(ref))
		}
	}
	return nil
}

func (c *cli) unhold(ctx context.Context, a *app.App, scope string) error {
	was, err := a.Store.Unhold(ctx, scope)
	if err != nil {
		return err
	}
	if !was {
		c.printf(c.Out, "%s: was not on hold\n", scope)
	} else {
		c.printf(c.Out, "%s: no longer on hold\n", scope)
		if err := noteHold(ctx, a, scope, slot.Proceed, "the hold was ended by "+a.Whoami(), "the next one who asks may have it"); err != nil {
			return err
		}
	}
	holds, err := a.Store.Holds(ctx)
	if err != nil {
		return err
	}
	for _, h := range holds {
		if within(mayRef(scope), h.Scope) {
			c.printf(c.Out, "%s: still paused: %s\n", scope, clean(h.String()))
		}
	}
	return nil
}

// setHold pauses a scope and records who did it.
func setHold(ctx context.Context, a *app.App, h slot.Hold) error {
	if err := a.Store.Hold(ctx, h); err != nil {
		return err
	}
	detail := "put on hold by " + h.By
	if h.Reason != "" {
		detail += ": " + h.Reason
	}
	return noteHold(ctx, a, h.Scope, slot.Defer, detail, "nothing starts until it is ended; what runs goes on")
}

// noteHold records a pause with its ref, or with those of the repository that
// are at work: the others have no history that it would be part of.
func noteHold(ctx context.Context, a *app.App, scope string, v slot.Verdict, detail, next string) error {
	refs := []slot.Ref{mayRef(scope)}
	if refs[0].IsZero() {
		live, err := a.Store.Live(ctx)
		if err != nil {
			return err
		}
		refs = refs[:0]
		for _, l := range live {
			if within(l.Ref, scope) {
				refs = append(refs, l.Ref)
			}
		}
	}
	for _, ref := range refs {
		err := a.Store.Note(ctx, slot.Decision{
			Ref: ref, Path: slot.PathManual, Verdict: v, Reason: slot.ReasonHold, Detail: detail, Next: next,
		})
		if err != nil {
			return fmt.Errorf("%s: recording it: %w", scope, err)
		}
	}
	return nil
}

// mayRef is the ref that a scope names, zero if it is a repository.
func mayRef(scope string) slot.Ref {
	ref, err := slot.ParseCanonical(scope)
	if err != nil {
		return slot.Ref{}
	}
	return ref
}

// within reports whether a ref is what a scope names, or in it.
func within(ref slot.Ref, scope string) bool {
	return !ref.IsZero() && (ref.String() == scope || ref.Repo() == scope)
}
