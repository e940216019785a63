package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
)

type claimOptions struct {
	refusing
	any    bool
	ttl    time.Duration
	pid    int
	export bool
}

func (c *cli) claimVerb() *cobra.Command {
	o := claimOptions{refusing: refusing{exit: exitBusy, what: claimed}}
	cmd := &cobra.Command{
		Use:   "claim REF",
		Short: "Claim a slot without running anything; for callers that cannot use run",
		Long: `Claim takes the slot of REF and leaves it claimed until it is released or
expires. Who does the work must renew the claim (` + "`oneslot renew`" + `), check it before
each effect (` + "`oneslot check`" + `, or ` + "`oneslot guard -- CMD`" + `), and give it back
(` + "`oneslot release`" + `). Whoever can wrap the work in a command should use run.

With --pid N the claim lives as long as process N does.

Exit codes:
  0    claimed
  64   the command line is wrong, not a ref, or there is no process N
  69   unknown: the store, a forge or a gate could not be asked
  74   claim and token could not be printed; the claim was given back
  75   busy: the slot is held, on hold, or a gate says not now
  77   not allowed
  78   bad configuration
  80   nothing to do: the work is over (closed, landed, ...)
  81   lost: somebody took it by force before it was handed over`,
		Example: "  eval \"$(oneslot claim octo-org/octo-repo#12 --pid $$ --export)\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.json && o.export {
				return c.usagef(cmd, "--json and --export exclude each other")
			}
			if cmd.Flags().Changed("pid") && o.pid <= 0 {
				return c.usagef(cmd, "--pid %d is no process's number", o.pid)
			}
			err := c.doClaim(cmd, args, o)
			if o.export && err != nil {
				err = errors.Join(err, exportNone(c.Out, exitCode(err)))
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print one JSON object: the claim, or the refusal; with --any, that of the first ref")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "tell a refusal by the exit code alone")
	f.BoolVar(&o.any, "any", false, "take the first free one of several refs")
	durationVar(cmd, &o.ttl, "ttl", slot.DetachedTTL, "time to live without a renewal, from 1s to 7d")
	f.IntVar(&o.pid, "pid", 0, "bind the claim to the life of process `N`")
	f.BoolVar(&o.export, "export", false, "print lines for the shell's eval")
	return cmd
}

func (c *cli) doClaim(cmd *cobra.Command, words []string, o claimOptions) (err error) {
	ttl, grace, err := terms(o.ttl, 0, false)
	if err != nil {
		return err
	}
	cfg, err := c.load(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	refs, err := c.refs(cmd, words, o.any, app.Grammar(ctx, cfg))
	if err != nil {
		return err
	}
	bound, command, err := holderOf(o.pid)
	if err != nil {
		return err
	}
	warnCI(c.Err, cfg)
	a, err := c.app(cfg)
	if err != nil {
		return o.tell(c, refs[0], err)
	}
	a.Writing()
	gates, err := a.Admission(false, "")
	if err != nil {
		return o.tell(c, refs[0], err)
	}
	defer func() {
		if err != nil {
			_ = gates.Ended(context.WithoutCancel(ctx)) // nobody works now; what fails, the next process does
		}
	}()
	g, req, err := c.take(ctx, a, refs, taking{any: o.any, gates: gates, request: func(ref slot.Ref) claim.Request {
		return claim.Request{
			Ref: ref, Key: claim.NewKey(ref), Kind: slot.Detached, Bound: !bound.IsZero(),
			Holder: a.Holder(slot.PathManual, command, bound), TTL: ttl, Grace: grace, Limits: a.RunLimits(),
		}
	}})
	if err != nil {
		return o.tell(c, refs[0], err)
	}
	// What a killed `oneslot run` left of its worker must be gone first.
	if err := a.Ender().Clear(ctx, g, req.Key); err != nil {
		return o.tell(c, req.Ref, err)
	}
	cl, err := fresh(ctx, a, g.Claim, req.Key)
	if err != nil {
		return o.tell(c, req.Ref, err)
	}
	return c.handOver(ctx, a, cl, req.Key, o)
}

// fresh renews a claim before it is handed over: how old the grant is by now
// nobody knows, and it may be lost. What is not handed over is given back.
func fresh(ctx context.Context, a *app.App, cl slot.Claim, key claim.Key) (slot.Claim, error) {
	_, err := a.Store.Renew(ctx, key)
	if err == nil {
		cl, err = a.Store.Check(ctx, key) // the store's own times, as others see them
	}
	if err == nil {
		return cl, nil
	}
	out := slot.Outcome{Result: slot.NoStart, Reason: err.Error()}
	if _, e := a.Store.Release(ctx, key, out); e != nil && !errors.Is(e, slot.ErrLost) {
		return cl, fmt.Errorf("%w; and the claim could not be given back: %w", err, e)
	}
	return cl, err
}

// holderOf names whom a detached claim is bound to, and the program that people
// are shown: its own, or that of our caller.
func holderOf(pid int) (slot.Process, string, error) {
	if pid == 0 {
		parent, err := proc.Identify(os.Getppid())
		if err != nil {
			return slot.Process{}, "", nil
		}
		return slot.Process{}, clean(proc.Look(parent).Command), nil
	}
	p, err := proc.Identify(pid)
	if errors.Is(err, os.ErrProcessDone) {
		return p, "", fmt.Errorf("%w: --pid %d: there is no such process", slot.ErrUsage, pid)
	}
	if err != nil {
		return p, "", fmt.Errorf("%w: --pid %d: %w", slot.ErrUnknown, pid, err)
	}
	return p, clean(proc.Look(p).Command), nil
}

// claimView is what claim prints as JSON. The field names are fixed.
type claimView struct {
	Claim     string  `json:"claim"`
	Token     string  `json:"token"`
	Ref       string  `json:"ref"`
	Slug      string  `json:"slug"`
	Fence     int64   `json:"fence"`
	ExpiresAt *string `json:"expires_at"`
}

// handOver tells the caller its claim and token. What nobody got would keep the slot
// for nothing, so the claim is given back if they cannot be told.
func (c *cli) handOver(ctx context.Context, a *app.App, cl slot.Claim, key claim.Key, o claimOptions) error {
	signal.Ignore(syscall.SIGPIPE)
	var err error
	switch {
	case o.json:
		err = printJSON(c.Out, claimView{key.Claim, key.Token, cl.Ref.String(), cl.Ref.Slug(), cl.Fence, stamp(cl.ExpiresAt)})
	case o.export:
		err = printExport(c.Out, cl, key)
	default:
		err = table(c.Out, "", [][]string{
			{"claimed", cl.Ref.String()},
			{"claim", key.Claim},
			{"token", key.Token},
			{"fence", strconv.FormatInt(cl.Fence, 10)},
			{"until", until(cl, time.Now())},
			{"renew", "oneslot renew --claim " + key.Claim + " --token " + key.Token},
			{"release", "oneslot release --claim " + key.Claim + " --token " + key.Token},
		})
	}
	if err == nil {
		return nil
	}
	out := slot.Outcome{Result: slot.NoStart, Reason: "the caller could not be told its claim and token"}
	if _, e := a.Store.Release(ctx, key, out); e != nil {
		return fmt.Errorf("%w; and the claim could not be given back: %w", err, e)
	}
	return fmt.Errorf("%w; the claim was given back", err)
}

// exported names what an eval of the shell gets of a claim.
func exported(cl slot.Claim, key claim.Key) [][2]string {
	return [][2]string{
		{"ONESLOT_CLAIM", key.Claim},
		{"ONESLOT_TOKEN", key.Token},
		{"ONESLOT_REF", cl.Ref.String()},
		{"ONESLOT_SLUG", cl.Ref.Slug()},
		{"ONESLOT_FENCE", strconv.FormatInt(cl.Fence, 10)},
	}
}

// printExport prints shell lines in one write, so that no half of them is run.
func printExport(w io.Writer, cl slot.Claim, key claim.Key) error {
	lines := ""
	for _, kv := range exported(cl, key) {
		lines += "export " + kv[0] + "=" + forceQuote(kv[1]) + "\n"
	}
	_, err := io.WriteString(w, lines)
	return printed(err)
}

// exportNone has an eval end with the code of the refusal, and takes away the claim of
// before: nobody is to go on under that.
func exportNone(w io.Writer, code int) error {
	line := "unset"
	for _, kv := range exported(slot.Claim{}, claim.Key{}) {
		line += " " + kv[0]
	}
	_, err := fmt.Fprintf(w, "%s; (exit %d)\n", line, code)
	return printed(err)
}
