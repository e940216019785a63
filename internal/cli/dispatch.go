package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

type dispatchOptions struct {
	kind   string
	rule   string
	key    string
	note   string
	wait   bool
	asJSON bool
}

// wishView is what became of a wish, under one rule.
type wishView struct {
	Event  *string  `json:"event"`
	Ref    slot.Ref `json:"ref"`
	Kind   string   `json:"kind"`
	Rule   string   `json:"rule"`
	Result string   `json:"result"`
	Of     *string  `json:"of"`
	Reason *string  `json:"reason"`
	Daemon *int     `json:"daemon"` // its pid; null for none
}

func (c *cli) dispatchVerb() *cobra.Command {
	var o dispatchOptions
	cmd := &cobra.Command{
		Use:   "dispatch REF [flags] [-- CMD [ARG...]]",
		Short: "Put a wish in the queue",
		Long: `Dispatch records that somebody wants work on REF. When it returns, the wish is on
disk. It only records: what runs is said by the rules and [worker] of whoever
works the queue, or by CMD, which is started as it is given, in this folder.

Without a daemon nobody works the queue; dispatch says so, and --wait works it
for this ref, in the foreground, until the wish has come to its end. With a
daemon --wait waits for that. What the wish waits for is told on standard error,
whenever that changes.

Exit codes:
  0    it is in the queue; with --wait: a run that ended 0 was told of it
  the run's own  with --wait, if it waits for a person now, or every attempt
       failed (1 if it had none)
  64   wrong usage, or not a ref
  69   unknown: the store could not be asked
  77   not allowed
  78   bad configuration: there is nothing to run
  80   with --wait: the wish was skipped
  130  Ctrl-C while waiting; the wish stays in the queue`,
		Example: "  oneslot dispatch octo-org/octo-repo#12 --rule fix-ci\n  oneslot dispatch octo-org/octo-repo#12 --wait -- ./fix.sh",
		RunE: func(cmd *cobra.Command, args []string) error {
			words, argv, err := c.splitMaybe(cmd, args)
			if err != nil {
				return err
			}
			if len(words) != 1 {
				return c.usagef(cmd, "it needs one REF")
			}
			if o.kind != "" && !slices.Contains(slot.EventKinds(), slot.EventKind(o.kind)) {
				return c.usagef(cmd, "there is no kind %q", o.kind)
			}
			return c.dispatch(cmd, words[0], argv, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.kind, "kind", "", "`KIND` of event, as rules name it (default manual)")
	f.StringVar(&o.rule, "rule", "", "`NAME` of the rule to go by (default every rule that wants it, else [worker])")
	f.StringVar(&o.key, "key", "", "idempotency `KEY`: the same wish given again is a duplicate")
	f.StringVar(&o.note, "note", "", "`TEXT` for the worker and the record")
	f.BoolVar(&o.wait, "wait", false, "return when the wish has come to its end")
	f.BoolVar(&o.asJSON, "json", false, "print a JSON array")
	return cmd
}

func (c *cli) dispatch(cmd *cobra.Command, word string, argv []string, o dispatchOptions) error {
	ctx := cmd.Context()
	a, err := c.openNeeding(cmd, config.Whole)
	if err != nil {
		return err
	}
	ref, err := c.ref(ctx, a, word)
	if err != nil {
		return err
	}
	w := app.Wish{Ref: ref, Kind: slot.EventKind(o.kind), Path: slot.PathManual, Key: o.key, Note: o.note, Run: argv}
	if cmd.Flags().Changed("rule") {
		w.Rule = &o.rule
	}
	if len(argv) > 0 {
		if w.Dir, err = os.Getwd(); err != nil {
			return err
		}
	}
	accepted, err := a.Dispatch(ctx, w)
	if err != nil {
		return err
	}
	pid, err := a.Daemon()
	if err != nil {
		return err
	}
	if err := c.sayAccepted(a, accepted, ref, pid, o); err != nil || !o.wait {
		return err
	}
	return c.awaitWish(cmd, a, ref, accepted, pid)
}

// sayAccepted tells what became of a wish.
func (c *cli) sayAccepted(a *app.App, accepted []queue.Accepted, ref slot.Ref, pid int, o dispatchOptions) error {
	views := []wishView{}
	for _, acc := range accepted {
		views = append(views, wishView{
			Event: text(acc.Event.ID), Ref: ref, Kind: string(acc.Event.Kind), Rule: acc.Rule, Result: string(acc.Intake),
			Of: text(acc.Of), Reason: text(acc.Reason), Daemon: number(pid),
		})
		if o.asJSON {
			continue
		}
		line := fmt.Sprintf("%s: %s", ref, acc.Intake)
		if acc.Rule != "" {
			line += " for rule " + acc.Rule
		}
		if acc.Of != "" {
			line += " of " + acc.Of
		}
		if acc.Reason != "" {
			line += ": " + acc.Reason
		}
		c.printf(c.Out, "%s\n", clean(line))
	}
	if pid == 0 && !o.wait && a.Queue != nil {
		c.printf(c.Err, "oneslot: no daemon works this queue: start `oneslot serve`, or dispatch with --wait\n")
	}
	if o.asJSON {
		return printJSON(c.Out, views)
	}
	return nil
}

// awaitWish waits for the end of the events, working the queue itself if there is
// no daemon.
func (c *cli) awaitWish(cmd *cobra.Command, a *app.App, ref slot.Ref, accepted []queue.Accepted, pid int) error {
	var ids []string
	for _, acc := range accepted {
		switch {
		case acc.Intake == slot.Duplicate && acc.Of != "":
			ids = append(ids, acc.Of)
		case acc.Event.ID != "":
			ids = append(ids, acc.Event.ID)
		}
	}
	end := &wishEnd{app: a, ref: ref, ids: ids, seen: map[int64]string{}, said: map[int64]string{},
		say: func(s string) { c.printf(c.Err, "oneslot: %s\n", clean(s)) }}
	if pid == 0 && a.Queue != nil {
		if err := c.work(cmd, a, ref, end); err != nil {
			return err
		}
		// A daemon that began meanwhile does the rest.
		if pid, err := a.Daemon(); err != nil {
			return err
		} else if pid == 0 {
			return c.verdict(cmd.Context(), end)
		}
	}
	ctx, stop := interruptible(cmd.Context())
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		done, err := end.over(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if done {
			stop()
			return c.verdict(cmd.Context(), end)
		}
		select {
		case <-ctx.Done():
			end.left()
			return stop()
		case <-tick.C:
		}
	}
}

// wishEnd looks whether a wish has come to its end.
type wishEnd struct {
	app  *app.App
	ref  slot.Ref
	ids  []string
	last []queue.Record // those of them that have ended, or wait for a person
	work []queue.Item   // the work of the ref, if one of them has not ended

	say        func(string)
	seen, said map[int64]string // of each work: what it waits for
}

// over reports whether no event of the wish waits for a run: all have ended, or
// wait for a person.
func (w *wishEnd) over(ctx context.Context) (bool, error) {
	w.last, w.work = nil, nil
	records, err := w.app.Books().Events(ctx, queue.Filter{Ref: w.ref})
	if err != nil {
		return false, err
	}
	waits := false
	for _, r := range records {
		if !slices.Contains(w.ids, r.ID) {
			continue
		}
		if r.State == queue.EventUnresolved {
			return false, nil
		}
		waits = waits || r.State == queue.EventWaiting
		w.last = append(w.last, r)
	}
	if !waits {
		return true, nil
	}
	if w.work, err = w.app.Books().Items(ctx, queue.Filter{Ref: w.ref}); err != nil {
		return false, err
	}
	over := true
	for _, r := range w.last {
		if r.State == queue.EventWaiting && w.asking(r) == nil {
			over = false
			w.tell(r)
		}
	}
	return over, nil
}

// tell says what an event waits for, if that is not what was said last; and if it was so
// at the look before: events and work are read one after the other, and looks are short.
func (w *wishEnd) tell(r queue.Record) {
	for _, it := range w.work {
		if !of(it, r) {
			continue
		}
		what := waitsFor(it, r)
		still := w.seen[it.ID] == what
		w.seen[it.ID] = what
		if what == "" || !still || w.said[it.ID] == what {
			continue
		}
		w.said[it.ID] = what
		line := fmt.Sprintf("%s: its work by %s waits (%s)", w.ref, ruleName(it.Policy), what)
		if now := w.app.Clock.Wall(); it.State == queue.Pending && it.Due.After(now) {
			line += "; next look in " + span(it.Due.Sub(now))
		}
		w.say(line)
	}
}

// waitsFor is what keeps work from a run that is told of an event; empty if nothing does
// that is worth a word.
func waitsFor(it queue.Item, r queue.Record) string {
	switch {
	case it.State == queue.Running && it.Run != r.Run:
		return "run " + it.Run + ", which is not told of this wish, has to end"
	case it.State != queue.Pending, it.Deferred.IsZero() && it.Reason != queue.ReasonRetry && it.Reason != queue.ReasonLater:
		return ""
	case it.Attempts > 0:
		return reasonText(it) + ", after " + times(it.Attempts, "attempt")
	}
	return reasonText(it)
}

// left says what becomes of a wish that nobody waits for any more.
func (w *wishEnd) left() {
	line := w.ref.String() + ": no longer waited for; the wish stays in the queue"
	i := slices.IndexFunc(w.work, func(it queue.Item) bool { return it.State == queue.Running })
	if i >= 0 {
		line += ", and run " + w.work[i].Run + " goes on"
	} else if nobody := unworked(w.app, w.ref); nobody != "" {
		line += "; " + nobody
	}
	w.say(line)
}

// of reports whether an event is of that work. A server tells only the rule of one.
func of(it queue.Item, r queue.Record) bool {
	return r.Item == it.ID || r.Item == 0 && r.Rule == it.Policy.Rule
}

// asking is the work of an event that waits for a person; nil if it does not. If there
// is more than one of its rule, all has to wait so.
func (w *wishEnd) asking(r queue.Record) *queue.Item {
	var found *queue.Item
	for i, it := range w.work {
		switch {
		case !of(it, r):
		case it.State == queue.Pending, it.State == queue.Running:
			return nil
		case it.State == queue.Idle && it.Reason == queue.ReasonWaiting:
			found = &w.work[i]
		}
	}
	return found
}

// missing counts the events of the wish that were not found at the last look.
func (w *wishEnd) missing() (n int) {
	for _, id := range w.ids {
		if !slices.ContainsFunc(w.last, func(r queue.Record) bool { return r.ID == id }) {
			n++
		}
	}
	return n
}

// verdict is the exit code of a wish that has ended, or waits for a person: the worst
// of its events'. What went wrong is said. What became of an event that is not on
// record any more is not known.
func (c *cli) verdict(ctx context.Context, w *wishEnd) error {
	over, err := w.over(ctx)
	if err != nil {
		return err
	}
	if !over {
		return fmt.Errorf("%w: %s: its work stopped short of an end; see `oneslot why %s`", slot.ErrUnknown, w.ref, quote(w.ref.String()))
	}
	if n := w.missing(); n > 0 {
		return fmt.Errorf("%w: %d of the wish's %d events are not among those that %s lists", slot.ErrUnknown, n, len(w.ids), w.app.Store.Address())
	}
	worst := exitOK
	var told []int64
	for _, r := range w.last {
		switch r.State {
		case queue.EventSkipped:
			c.printf(c.Err, "oneslot: %s: skipped: %s\n", w.ref, clean(r.Reason))
			worst = max(worst, exitSkipped)
		case queue.EventWaiting:
			it := w.asking(r)
			if !slices.Contains(told, it.ID) { // once for all events of its
				told = append(told, it.ID)
				line := w.ref.String() + ": waits for a person"
				if it.Detail != "" {
					line += ": " + it.Detail
				}
				c.printf(c.Err, "oneslot: %s; see `oneslot why %s`\n", clean(line), quote(w.ref.String()))
			}
			run, err := w.app.Store.Run(ctx, r.Run)
			if err != nil {
				return err
			}
			if exit := run.Outcome.Exit; exit != nil { // as `oneslot run` ends
				worst = max(worst, *exit)
			}
		case queue.EventDead:
			run, err := w.app.Store.Run(ctx, r.Run)
			if err != nil {
				c.printf(c.Err, "oneslot: %s: given up: %s\n", w.ref, clean(r.Reason))
				return &exitError{1}
			}
			see := "`oneslot log --run " + run.ID + "`"
			if run.Outcome.Result == slot.NoStart { // it has no log
				see = "`oneslot why " + quote(w.ref.String()) + "`"
			}
			c.printf(c.Err, "oneslot: %s: given up: run %s: %s; see %s\n", w.ref, run.ID, clean(outcomeText(run.Outcome)), see)
			if exit := run.Outcome.Exit; exit != nil && *exit != 0 {
				return &exitError{*exit}
			}
			return &exitError{1}
		}
	}
	if worst == exitOK {
		return nil
	}
	return &exitError{worst}
}

// work works the queue of a ref in the foreground.
func (c *cli) work(cmd *cobra.Command, a *app.App, ref slot.Ref, end *wishEnd) error {
	supervisor, err := c.supervisorArgv(a)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	err = a.Work(ctx, supervisor, ref, end.over)
	if code := stop(); code != nil {
		end.left()
		return code
	}
	return err
}
