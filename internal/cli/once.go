package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/supervise"
)

// oncePrefix begins the keys of once's own slots. Other verbs that claim refuse
// such a key, so that nobody's `key:` is in the way of a once.
const oncePrefix = "oneslot/once/"

// reserved reports whether the ref is a slot of once's own.
func reserved(r slot.Ref) bool { return strings.HasPrefix(r.Key(), oncePrefix) }

// onceRule is how a run of once tells others, from its claim's commit on, what
// it runs.
const onceRule = "once:"

func (c *cli) onceVerb() *cobra.Command {
	o := struct{ keep, ttl time.Duration }{}
	cmd := &cobra.Command{
		Use:   "once KEY [flags] -- CMD [ARG...]",
		Short: "Run a command once for all callers that ask while it runs",
		Long: `Once runs CMD if nobody runs it under KEY. Callers that come while it runs do
not run it again: they wait, and get its output and exit code, be it a failure.
With --keep D, callers that come less than D after its end get them, too.

KEY is any name, and no ref: its slot is key:oneslot/once/KEY, which hold, why and
stop take. So a once of octo-org/octo-repo#12 excludes no run of that issue.

CMD gets no input and no terminal. It is run at least once: if the caller that
runs it is killed or interrupted, one of the others runs it again. Standard
output and standard error are kept apart, 64 MiB in all. The caller that runs it
passes on everything; the others say so if there was more, and exit with 74.

Exit codes:
  CMD's own  it ran here or elsewhere and ended so (128+n for signal n)
  64   the command line is wrong, or another CMD runs under KEY; with --keep,
       also if the newest result that it reaches back to is another CMD's
  69   unknown: the store could not be asked; nothing was started
  74   CMD ran elsewhere, and its output is not here, or not all of it
  75   deferred: KEY's slot is on hold, or asked from inside its own CMD
  77   not allowed
  78   bad configuration
  81   lost: the claim was taken by force while CMD ran here
  126  CMD cannot be run
  127  CMD was not found
  130  Ctrl-C (129 hang-up, 143 terminated)`,
		Example: "  oneslot once fetch-issues --keep 1m -- gh issue list --json number",
		RunE: func(cmd *cobra.Command, args []string) error {
			before, argv, err := c.split(cmd, args)
			if err != nil {
				return err
			}
			if len(before) != 1 {
				return c.usagef(cmd, "it takes one KEY before --")
			}
			return c.doOnce(cmd, before[0], argv, o.keep, o.ttl)
		},
	}
	durationVar(cmd, &o.keep, "keep", 0, "how long a result also serves callers that come later")
	durationVar(cmd, &o.ttl, "ttl", slot.DefaultTTL, "time to live of the claim between renewals, from 1s to 7d")
	return cmd
}

// once is one caller of one key.
type once struct {
	c      *cli
	a      *app.App
	ref    slot.Ref
	argv   []string
	rule   string // onceRule + digest of argv
	keep   time.Duration
	ttl    time.Duration
	joined bool // it has waited for somebody's run before
}

func (c *cli) doOnce(cmd *cobra.Command, key string, argv []string, keep, ttl time.Duration) error {
	ref, err := slot.ParseRef("key:"+oncePrefix+key, slot.Grammar{})
	if err != nil || key == "" {
		return c.usagef(cmd, "KEY cannot be a key: %v", err)
	}
	ttl, _, err = terms(ttl, 0, false)
	if err != nil {
		return err
	}
	cfg, err := c.load(cmd)
	if err != nil {
		return err
	}
	warnCI(c.Err, cfg)
	refusal := refusing{exit: exitBusy, what: started}
	a, err := c.app(cfg)
	if err != nil {
		return refusal.tell(c, ref, err)
	}
	o := &once{c: c, a: a, ref: ref, argv: argv, rule: onceRule + digest(argv), keep: keep, ttl: ttl}
	return refusal.tell(c, ref, o.serve(cmd.Context()))
}

// digest names a command: equal for equal lists of arguments.
func digest(argv []string) string {
	h := sha256.New()
	for _, arg := range argv {
		fmt.Fprintf(h, "%d:%s,", len(arg), arg)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// serve answers the caller: from a kept result, from somebody's run, or from a
// run of its own. Each round ends with one of them, or with the news that the
// run waited for left no result.
func (o *once) serve(ctx context.Context) error {
	for {
		s, err := o.a.Store.Look(ctx, o.ref)
		if err != nil {
			return err
		}
		if res, err := o.kept(ctx, s); err != nil || res != nil {
			return o.replay(res, err)
		}
		if v := viewOf(o.a, s); v.State == stateHeld && s.Live() != nil && v.Reason != slot.ReasonInside {
			if res, err := o.join(ctx, *s.Live()); err != nil || res != nil {
				return o.replay(res, err)
			}
			continue
		}
		err = o.run(ctx)
		var busy *slot.BusyError
		if errors.As(err, &busy) && busy.Claim.ID != "" && busy.Reason == slot.ReasonHeld {
			continue // somebody was faster: join
		}
		return err
	}
}

// kept is the newest result, if it is young enough for this caller.
func (o *once) kept(ctx context.Context, s claim.Slot) (*onceResult, error) {
	if o.keep == 0 || s.Newest == nil || !s.Newest.Ended || s.Newest.Run == "" {
		return nil, nil
	}
	age := o.a.Clock.Wall().Sub(s.Newest.EndedAt)
	if age < 0 || age >= o.keep { // one from the future would be kept for ever
		return nil, nil
	}
	res, err := readResult(s.Newest.Dir)
	if err != nil || res == nil {
		return nil, nil //nolint:nilerr // a result that cannot be read is none
	}
	return res, o.same(ctx, s.Newest.Run)
}

// same refuses a run of another command under the same key.
func (o *once) same(ctx context.Context, run string) error {
	r, err := o.a.Store.Run(ctx, run)
	if err != nil {
		return err
	}
	if r.Rule != o.rule {
		return fmt.Errorf("%w: another command has the key %q (run %s); give this one a key of its own", slot.ErrUsage,
			strings.TrimPrefix(o.ref.Key(), oncePrefix), run)
	}
	return nil
}

// lookAgain is how often a follower looks for the result even if it was not told
// that the runner ended: the runner may be out of sight, or may still be busy
// with a slow reader of its own.
const lookAgain = 500 * time.Millisecond

// join waits for the run of the claim. It gives nothing if that left no result.
func (o *once) join(ctx context.Context, c slot.Claim) (*onceResult, error) {
	if c.Run == "" {
		return nil, &slot.BusyError{Ref: o.ref, Reason: slot.ReasonHeld, Claim: c, Store: o.a.Store.Address()}
	}
	if err := o.same(ctx, c.Run); err != nil {
		return nil, err
	}
	o.joined = true
	gone, stop, err := app.Sight{}.Watch(c.Holder.Process)
	if err != nil {
		gone, stop = nil, func() {} // out of sight
	}
	defer stop()
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for over := false; ; {
		res, err := readResult(c.Dir)
		if err != nil || res != nil {
			return res, err
		}
		if over {
			return nil, nil
		}
		select {
		case <-gone:
			over = true // the last look is after the end
		case <-tick.C:
			s, err := o.a.Store.Look(ctx, o.ref)
			if err != nil {
				return nil, err
			}
			over = gone == nil && (s.Live() == nil || s.Live().ID != c.ID)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// replay gives the caller what somebody else's run gave.
func (o *once) replay(res *onceResult, err error) error {
	if err != nil {
		return err
	}
	for name, to := range map[string]*os.File{onceOut: o.c.Out, onceErr: o.c.Err} {
		if err := copyFile(to, filepath.Join(res.dir, name)); err != nil {
			o.c.printf(o.c.Err, "oneslot: the output of %s: %v\n", o.ref, err)
			return &exitError{exitOutput}
		}
	}
	switch {
	case res.Over:
		o.c.printf(o.c.Err, "oneslot: %s printed more than %d MiB; the rest is with the caller that ran it (its exit code was %d)\n",
			o.ref, onceLimit>>20, res.Code)
		return &exitError{exitOutput}
	case res.Code != 0:
		return &exitError{res.Code}
	}
	return nil
}

// run claims the slot and runs the command for everybody.
func (o *once) run(ctx context.Context) error {
	_, grace, err := terms(o.ttl, 0, false)
	if err != nil {
		return err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	req := supervised(o.a, o.ref, o.argv, o.ttl, grace)
	req.Rule = o.rule
	g, err := o.a.Taker().Take(ctx, req)
	if err != nil {
		return err
	}
	if o.joined {
		o.c.printf(o.c.Err, "oneslot: the run of %s that this one waited for left no result: running it again\n", o.ref)
	}
	spec, err := o.c.spec(o.a, g, req, o.argv)
	if err != nil {
		return err
	}
	rec, err := newRecorder(req.Dir, o.c.Out, o.c.Err)
	if err != nil {
		out := slot.Outcome{Result: slot.NoStart, Reason: "its output could not be captured"}
		_, e := o.a.Store.Release(ctx, req.Key, out)
		return errors.Join(err, e)
	}
	spec.Stdin, spec.Stdout, spec.Stderr = null, rec.writer(0), rec.writer(1)
	told, stop := signalled()
	rep, err := supervise.Run(ctx, spec)
	stop()
	if e := rec.finish(); e != nil {
		o.c.printf(o.c.Err, "oneslot: the output was not kept for others: %v\n", e)
	} else if o.settles(rep, err, told()) {
		if e := rec.seal(rep.Code); e != nil {
			o.c.printf(o.c.Err, "oneslot: the result was not kept for others: %v\n", e)
		}
	}
	rec.wait()
	return o.c.ending(o.ref, rep, err, refusing{exit: exitBusy, what: started})
}

// settles reports whether the run's end is the answer for all who joined it: the
// command's own end, whatever it was, but not what befell its runner.
func (o *once) settles(rep supervise.Report, err error, told bool) bool {
	var start *supervise.StartError
	switch {
	case errors.As(err, &start):
		return true
	case err != nil, !rep.Ran, told:
		return false
	}
	return !slices.Contains([]slot.Result{slot.Lost, slot.Vanish}, rep.Outcome)
}
