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
	var all bool
	cmd := &cobra.Command{
		Use:   "hold REF|REPO | --all [--reason TEXT]",
		Short: "Pause a ref, a repository or everything: nothing starts there",
		Long: `Hold pauses a ref, all refs of a repository (owner/repo), or with --all ('*' is
the same) every ref of the store, keys too: no claim is given there until
` + "`oneslot unhold`" + ` of the same. No --force passes it. A run that is there already goes
on; ` + "`oneslot stop`" + ` ends it. Holding again replaces the reason.

Exit codes:
  0    it is on hold
  64   neither a ref nor a repository
  69   unknown: the store could not be asked
  77   not allowed
  78   bad configuration`,
		Args: c.oneOrAll(&all, "one REF or REPO"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, scope, err := c.scope(cmd, args)
			if err != nil {
				return err
			}
			return c.hold(cmd.Context(), a, scope, reason)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "everything")
	cmd.Flags().StringVar(&reason, "reason", "", "`TEXT` that everybody who asks is told")
	return cmd
}

func (c *cli) unholdVerb() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "unhold REF|REPO | --all",
		Short: "End a pause",
		Long: `Unhold ends what ` + "`oneslot hold`" + ` of the same began; who waits in line is woken. So
--all ends the pause of everything alone: refs and repositories that are on hold
themselves stay so, and are listed. What was not on hold is no error: it is said, and
the exit code is 0.

Exit codes:
  0    it is not on hold
  64   neither a ref nor a repository
  69   unknown: the store could not be asked
  77   not allowed
  78   bad configuration`,
		Args: c.oneOrAll(&all, "one REF or REPO"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, scope, err := c.scope(cmd, args)
			if err != nil {
				return err
			}
			return c.unhold(cmd.Context(), a, scope)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "the pause of everything, and no other")
	return cmd
}

// oneOrAll asks for one argument, named in what, or for --all.
func (c *cli) oneOrAll(all *bool, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 || *all == (len(args) == 1) {
			return c.usagef(cmd, "it takes %s, or --all", what)
		}
		return nil
	}
}

// scope opens the store and reads what a verb is about: without an argument it is
// everything (see oneOrAll).
func (c *cli) scope(cmd *cobra.Command, args []string) (*app.App, string, error) {
	a, err := c.open(cmd)
	if err != nil {
		return nil, "", err
	}
	word := slot.Everything
	if len(args) > 0 {
		word = args[0]
	}
	scope, err := a.Scope(cmd.Context(), word)
	return a, scope, err
}

func (c *cli) hold(ctx context.Context, a *app.App, scope, reason string) error {
	if err := setHold(ctx, a, slot.Hold{Scope: scope, Reason: reason, By: a.Whoami()}); err != nil {
		return err
	}
	c.printf(c.Out, "%s: on hold until %s\n", slot.ScopeName(scope), unholds(scope))
	live, err := a.Store.Live(ctx)
	if err != nil {
		return err
	}
	for _, l := range live {
		if l.Ref.Within(scope) && !isDead(a, l) {
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
	name := slot.ScopeName(scope)
	if !was {
		c.printf(c.Out, "%s: was not on hold\n", name)
	} else {
		c.printf(c.Out, "%s: no longer on hold\n", name)
		detail := "the hold on " + name + " was ended by " + a.Whoami()
		if err := noteHold(ctx, a, scope, slot.Proceed, detail, "the next one who asks may have it, if no other hold is left"); err != nil {
			return err
		}
	}
	holds, err := a.Store.Holds(ctx)
	if err != nil {
		return err
	}
	for _, h := range holds {
		paused := name
		switch {
		case inside(h.Scope, scope):
			paused = h.Scope
		case !inside(scope, h.Scope):
			continue
		}
		c.printf(c.Out, "%s: still paused: %s\n", paused, clean(h.String()))
	}
	return nil
}

// setHold pauses a scope and records who did it.
func setHold(ctx context.Context, a *app.App, h slot.Hold) error {
	if err := a.Store.Hold(ctx, h); err != nil {
		return err
	}
	detail := "put on hold by " + h.By
	if mayRef(h.Scope).IsZero() {
		detail = "put on hold with " + slot.ScopeName(h.Scope) + " by " + h.By
	}
	if h.Reason != "" {
		detail += ": " + h.Reason
	}
	return noteHold(ctx, a, h.Scope, slot.Defer, detail, "nothing starts until it is ended; what runs goes on")
}

// noteHold records a pause with its ref, or with those of the repository, or of all,
// that are at work: the others have no history that it would be part of.
func noteHold(ctx context.Context, a *app.App, scope string, v slot.Verdict, detail, next string) error {
	refs := []slot.Ref{mayRef(scope)}
	if refs[0].IsZero() {
		live, err := a.Store.Live(ctx)
		if err != nil {
			return err
		}
		refs = refs[:0]
		for _, l := range live {
			if l.Ref.Within(scope) {
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

// mayRef is the ref that a scope names, zero if it is more than one.
func mayRef(scope string) slot.Ref {
	ref, err := slot.ParseCanonical(scope)
	if err != nil {
		return slot.Ref{}
	}
	return ref
}

// inside reports whether a scope is part of another.
func inside(scope, of string) bool {
	return scope != of && (of == slot.Everything || mayRef(scope).Within(of))
}

// unholds is the command that ends the hold on a scope.
func unholds(scope string) string {
	if scope == slot.Everything {
		return "`oneslot unhold --all`"
	}
	return "`oneslot unhold " + quote(scope) + "`"
}
