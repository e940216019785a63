package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/supervise"
)

type runOptions struct {
	refusing
	any       bool
	onBusy    string
	waitMax   time.Duration
	ttl       time.Duration
	grace     time.Duration
	graceSet  bool
	timeout   time.Duration
	force     bool
	reason    string
	now       bool
	leave     bool
	report    string
	workspace string
	cloneURL  string
}

func (c *cli) runVerb() *cobra.Command {
	o := runOptions{refusing: refusing{what: started}}
	cmd := &cobra.Command{
		Use:   "run REF [flags] -- CMD [ARG...]",
		Short: "Claim a slot, run a command under it, give it back",
		Long: `Run claims the slot of REF, runs CMD under it, renews the claim for as long as
CMD lives, ends what CMD leaves behind, and gives the slot back. It is silent
when all is well. CMD is started as it is given; no shell sees it.

If somebody else holds the slot, nothing is started: run says who it is and
exits with 75, or waits in line with --on-busy wait.

With --json a refusal is one JSON object on standard output, in the form of
` + "`oneslot peek --json`" + `. With --report FILE, FILE tells our exit codes from CMD's
own ("ran": true); a FILE that cannot be written is refused before anything
starts.

Exit codes:
  CMD's own  it ran and ended so (128+n for signal n)
  64   the command line is wrong, or not a ref
  69   unknown: the store, a forge or a gate could not be asked; nothing was started
  74   CMD ended with 0, and the --report could not be written
  75   busy: the slot is held, on hold, a gate says not now, or --wait-max passed
       (see --busy-exit)
  77   not allowed
  78   bad configuration
  80   nothing to do: the work is over (closed, landed, ...)
  81   lost: the claim went to somebody else or could not be renewed in time; CMD
       was ended
  124  --timeout passed
  126  CMD cannot be run
  127  CMD was not found
  130  Ctrl-C (129 hang-up, 143 terminated)`,
		Example: "  oneslot run octo-org/octo-repo#12 -- ./fix.sh\n  oneslot run --any octo-org/octo-repo#12 octo-org/octo-repo#13 -- ./fix.sh",
		RunE: func(cmd *cobra.Command, args []string) error {
			words, argv, err := c.split(cmd, args)
			if err != nil {
				return err
			}
			o.graceSet = cmd.Flags().Changed("grace")
			if err := o.check(); err != nil {
				return c.usage(cmd, err)
			}
			return c.doRun(cmd, words, argv, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print a refusal as one JSON object; with --any, that of the first ref")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "tell a refusal by the exit code alone")
	f.IntVar(&o.exit, "busy-exit", exitBusy, "exit code `N` in place of 75; 0 is silent, too")
	f.BoolVar(&o.any, "any", false, "take the first free one of several refs")
	f.StringVar(&o.onBusy, "on-busy", "fail", "what to do if somebody holds the slot: `fail|wait`")
	durationVar(cmd, &o.waitMax, "wait-max", 0, "longest time to wait in line (default no bound)")
	durationVar(cmd, &o.ttl, "ttl", slot.DefaultTTL, "time to live of the claim between renewals, from 1s to 7d")
	durationVar(cmd, &o.grace, "grace", 0, "time between TERM and KILL, at most a third of --ttl (default 10s)")
	durationVar(cmd, &o.timeout, "timeout", 0, "longest time CMD may take (default no bound)")
	f.BoolVar(&o.force, "force", false, "pass gates, the line and reservations, and take a live holder's slot, its tree ended first; never passes a hold; needs --reason")
	f.StringVar(&o.reason, "reason", "", "`TEXT` on record for --force")
	f.BoolVar(&o.now, "now", false, "with --force: do not wait for a holder out of sight")
	f.BoolVar(&o.leave, "leave", false, "keep processes that CMD leaves behind")
	f.StringVar(&o.report, "report", "", "write how it went to `FILE`, as JSON")
	f.StringVar(&o.workspace, "workspace", "none", "only none in this version")
	f.StringVar(&o.cloneURL, "clone-url", "", "not in this version")
	f.String("recheck", "", "wait before the second look at reservation comments: a `RANGE` such as 5s-15s, a duration, or 0 (default reservation.recheck)")
	for _, name := range []string{"workspace", "clone-url"} { // known, to be refused in words
		_ = f.MarkHidden(name) // it is there
	}
	return cmd
}

// check refuses flags that make no sense, or not together.
func (o *runOptions) check() error {
	switch {
	case o.workspace != "none":
		return fmt.Errorf("--workspace %s is not in this version; leave it out", o.workspace)
	case o.cloneURL != "":
		return errors.New("--clone-url is not in this version; leave it out")
	case o.onBusy != "fail" && o.onBusy != "wait":
		return fmt.Errorf("--on-busy is fail or wait, not %q", o.onBusy)
	case o.any && (o.onBusy == "wait" || o.force):
		return errors.New("--any takes what is free; it goes with neither --on-busy wait nor --force")
	case o.waitMax > 0 && o.onBusy != "wait" && !o.force:
		return errors.New("--wait-max goes with --on-busy wait")
	case o.force && o.reason == "":
		return errors.New("--force needs --reason TEXT")
	case !o.force && (o.reason != "" || o.now):
		return errors.New("--reason and --now go with --force")
	case o.exit < 0 || o.exit > 255:
		return errors.New("--busy-exit is a number from 0 to 255")
	}
	return nil
}

// doRun is the verb, from the checked command line to the exit code.
func (c *cli) doRun(cmd *cobra.Command, words, argv []string, o runOptions) error {
	file, err := openReport(o.report)
	if err != nil {
		return err
	}
	rep, err := c.claimAndRun(cmd, words, argv, o)
	rep.Code = exitCode(err)
	if e := file.write(rep); e != nil {
		c.printf(c.Err, "oneslot: %v\n", e)
		if err == nil {
			err = &exitError{exitOutput}
		}
	}
	return err
}

// claimAndRun gets the slot and runs the command. The report is good in any case.
func (c *cli) claimAndRun(cmd *cobra.Command, words, argv []string, o runOptions) (rep runReport, err error) {
	var ref slot.Ref
	var told error
	defer func() {
		if told != nil {
			rep.refuse(ref, told)
		}
	}()
	fail := func(err error) (runReport, error) {
		told = err
		return rep, o.refusing.tell(c, ref, err)
	}
	ttl, grace, err := terms(o.ttl, o.grace, o.graceSet)
	if err != nil {
		return fail(err)
	}
	cfg, err := c.load(cmd)
	if err != nil {
		return fail(err)
	}
	ctx := cmd.Context()
	refs, err := c.refs(cmd, words, o.any, app.Grammar(ctx, cfg))
	if err != nil {
		return fail(err)
	}
	ref = refs[0]
	warnCI(c.Err, cfg)
	a, err := c.app(cfg)
	if err != nil {
		return fail(err)
	}
	a.Writing()
	gates, err := a.Admission(false, o.reason)
	if err != nil {
		return fail(err)
	}
	g, req, err := c.take(ctx, a, refs, taking{
		gates: gates,
		any:   o.any, wait: o.onBusy == "wait", longest: o.waitMax, force: o.force, reason: o.reason, now: o.now, uid: os.Geteuid(),
		request: func(r slot.Ref) claim.Request { return supervised(a, r, argv, ttl, grace) },
	})
	if err != nil {
		_ = gates.Ended(context.WithoutCancel(ctx)) // what others of this store left on the forge; what fails, the next does
		return fail(err)
	}
	ref = req.Ref
	spec, err := c.spec(a, g, req, argv)
	if err != nil {
		return fail(err)
	}
	spec.Timeout, spec.Leave = o.timeout, o.leave
	spec.Stdin, spec.Stdout, spec.Stderr = c.In, c.Out, c.Err
	stop := gates.Keep(ctx, g.Claim.ID, func(what string) {
		c.printf(c.Err, "oneslot: %s: reservation %s\n", ref, clean(what))
	})
	got, err := supervise.Run(ctx, spec)
	stop() // whoever looks at a reservation keeps others from ending it
	if e := gates.Ended(context.WithoutCancel(ctx)); e != nil {
		c.printf(c.Err, "oneslot: %s: what was said on the forge could not all be brought to its end; the next run or sweep here does: %v\n", ref, e)
	}
	rep = reportOf(got)
	if err != nil {
		told = err
	}
	a.Tidy(ctx, a.Config.Retention) //nolint:errcheck // the run is over; doctor tells what is kept for too long
	return rep, c.ending(ref, got, err, o.refusing)
}

// ending turns the end of a run into what the verb returns.
func (c *cli) ending(ref slot.Ref, rep supervise.Report, err error, o refusing) error {
	switch {
	case slot.IsRefusal(err), errors.Is(err, slot.ErrUnknown) && !rep.Ran:
		return o.tell(c, ref, err)
	case err != nil && !rep.Ran:
		c.printf(c.Err, "oneslot: %s: %v\n", ref, err)
	}
	if rep.Code == 0 {
		return nil
	}
	return &exitError{rep.Code}
}

// supervised asks for the claim of one run by this process.
func supervised(a *app.App, ref slot.Ref, argv []string, ttl, grace time.Duration) claim.Request {
	id := claim.NewID()
	return claim.Request{
		Ref: ref, Key: claim.NewKey(ref), Kind: slot.Supervised, Run: id,
		Holder: a.Holder(slot.PathManual, clean(filepath.Base(argv[0])), a.Self),
		Dir:    filepath.Join(a.Store.Dir(), "runs", id),
		Warden: a.Store.Capabilities().CrossHost || !proc.FirstNamespace(),
		TTL:    ttl, Grace: grace, Limits: a.RunLimits(),
	}
}

// spec is the run that goes with a granted claim.
func (c *cli) spec(a *app.App, g claim.Grant, req claim.Request, argv []string) (supervise.Spec, error) {
	s := supervise.Spec{
		Store: a.Store, Address: a.Store.Address(), Journal: a.Store, Clock: a.Clock, Log: slog.New(slog.DiscardHandler), Self: a.Self,
		State: a.Store.Dir(), Claim: g.Claim, Key: req.Key, Previous: g.Displaced,
		Argv: argv, Env: c.Environ(), Strip: app.Secrets(a.Config),
		LogBytes: a.Config.Retention.LogBytes.V, Chain: a.Inside, Attempt: 1,
	}
	if req.Warden {
		self, err := os.Executable()
		if err != nil {
			out := slot.Outcome{Result: slot.NoStart, Reason: "the warden's program is not known"}
			_, e := a.Store.Release(context.Background(), req.Key, out)
			return s, errors.Join(fmt.Errorf("%w: this program's own path: %w", slot.ErrUnknown, err), e)
		}
		s.WardenArgv = []string{self, wardenVerbName}
	}
	return s, nil
}
