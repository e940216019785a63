package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/standby"
)

// attempt is one item on its way through the path. It belongs to one goroutine.
type attempt struct {
	*Dispatcher
	life context.Context // ends when nothing more is to start
	look queue.Look
	plan Plan
	run  string
	req  claim.Request
	sup  *standby.Supervisor
	ask  gate.Ask
	also []slot.Ref // whose slots it needs, too

	waits   bool          // somebody holds the slot
	head    string        // the present head commit, as read under the claim
	begun   bool          // the item is the run's; it became so with the claim
	failed  bool          // a step could not be written
	rooms   int64         // how often room was made when the claim was asked for
	asked   time.Duration // boot time of the question for the claim
	changes int64         // how many the dispatcher knew of when the gates were asked
	peeked  time.Duration // boot time of the last look
}

// try is the path. It ends with a start, or with a decision that says why not; and
// reports whether all of it could be written. If life ends on the way, nothing is
// started, and the item waits.
func (d *Dispatcher) try(life context.Context, l queue.Look) (written bool) {
	a := &attempt{Dispatcher: d, life: life, look: l}
	ctx := context.WithoutCancel(life)
	if a.planned(ctx) && (a.busy(ctx) || a.mayGo(ctx)) && a.linked(ctx) && life.Err() == nil {
		if grant, ok := a.claimed(ctx); ok {
			a.under(ctx, grant)
		}
	}
	return !a.failed
}

// A rule that is not there any more may be back in a moment: somebody edits the file.
const (
	ruleLost  = 10 * time.Second // for which it must be away
	ruleAgain = 3 * time.Second  // between two looks
)

// planned reads what is to run, and makes the item's events dead letters if that
// is nothing any more, and has been so for a while.
func (a *attempt) planned(ctx context.Context) bool {
	it := a.look.Item
	a.ask = gate.Ask{Ref: it.Ref, Sha: it.Sha, Rule: it.Policy.Rule, Path: a.path(), Events: events(a.look.Events)}
	plan, err := a.Plans.Plan(it, it.Sha)
	now := a.Clock.Wall()
	switch {
	case err == nil:
		a.plan = plan
		return true
	case it.Reason == queue.ReasonRule && !it.Deferred.IsZero() && now.Sub(it.Deferred).Abs() >= ruleLost:
		a.kill(ctx, queue.ReasonRule, err)
	default:
		a.done("defer", a.Queue.Defer(ctx, it.ID, "", now.Add(ruleAgain),
			a.decision(slot.Defer, queue.ReasonRule, err.Error(), "it is given up if the configuration stays so")))
	}
	return false
}

func (a *attempt) path() string {
	if n := len(a.look.Events); n > 0 {
		return a.look.Events[n-1].Path
	}
	return slot.PathSweep
}

func events(records []queue.Record) []slot.Event {
	list := make([]slot.Event, len(records))
	for i, r := range records {
		list[i] = r.Event
	}
	return list
}

// busy reports that whoever held the slot when it was last looked at still does. The
// claim would only be refused, and what gates ask costs: if it is not, they are asked
// under it.
func (a *attempt) busy(ctx context.Context) bool {
	it := a.look.Item
	if it.Deferred.IsZero() || !slices.Contains([]string{slot.ReasonHeld, slot.ReasonCovered}, it.Reason) {
		return false
	}
	a.mu.Lock()
	refs := append([]slot.Ref{it.Ref}, a.related[it.ID].refs...)
	a.mu.Unlock()
	for _, ref := range refs {
		s, err := a.Claims.Look(ctx, ref)
		if live := s.Live(); err == nil && live != nil && live.Kind != slot.Waiting { // that one an event resumes
			a.waits = true
		}
	}
	return a.waits
}

// mayGo asks the gates, and carries out what they say.
func (a *attempt) mayGo(ctx context.Context) bool {
	return a.obey(ctx, a.decide(ctx), "")
}

// decide asks the gates what the world looks like now.
func (a *attempt) decide(ctx context.Context) gate.Decision {
	a.changes, a.peeked = a.Dispatcher.changes.Load(), a.Clock.Boot()
	return a.Gates.Decide(ctx, a.ask)
}

// obey carries out a decision of the gates for an item that run (if not empty) has
// begun, and reports whether the way is free.
func (a *attempt) obey(ctx context.Context, dec gate.Decision, run string) bool {
	it := a.look.Item.ID
	for reason, ids := range byReason(dec) {
		sd := a.decision(slot.Skip, reason.Reason, reason.Detail, "these events are over; others go on")
		err := a.Queue.Skip(ctx, it, run, a.look.Last, ids, sd)
		if a.done("skip", err); err != nil {
			return false
		}
	}
	switch dec.Verdict {
	case slot.Defer:
		until := dec.Until
		if until.IsZero() {
			until = a.Clock.Wall().Add(gateEvery)
		}
		a.done("defer", a.Queue.Defer(ctx, it, run, until, a.decision(slot.Defer, dec.Reason, dec.Detail, "it is looked at again; nothing is spent")))
		if a.Dispatcher.changes.Load() != a.changes { // before it was put off, so that no change woke it
			_, err := a.Queue.Wake(ctx, a.look.Item.Ref, "")
			a.done("wake", err)
		}
		return false
	case slot.Skip:
		if len(dec.Skipped) == 0 {
			a.done("skip", a.Queue.Skip(ctx, it, run, a.look.Last, nil, a.decision(slot.Skip, dec.Reason, dec.Detail, "these events are over")))
		}
		return false
	}
	for _, e := range dec.Evidence {
		if e.Verdict == slot.Unknown { // and on_error let it pass: that is on record
			a.done("note", a.Journal.Note(ctx, a.decision(slot.Proceed, e.Reason, e.Detail, "the work goes on, as on_error says")))
		}
	}
	return true
}

// why is what several events were ended by.
type why struct{ Reason, Detail string }

func byReason(dec gate.Decision) map[why][]string {
	ended := map[why][]string{}
	for id, ans := range dec.Skipped {
		w := why{ans.Reason, ans.Detail}
		ended[w] = append(ended[w], id)
	}
	return ended
}

// claimed takes the slot in the name of a supervisor that waits for its job.
func (a *attempt) claimed(ctx context.Context) (claim.Grant, bool) {
	it := a.look.Item
	sup, err := a.Pool.Get()
	if err != nil {
		a.done("defer", a.Queue.Defer(ctx, it.ID, "", a.later(), a.decision(slot.Unknown, "supervisor", err.Error(), "it is tried again")))
		return claim.Grant{}, false
	}
	a.sup = sup
	a.run = claim.NewID()
	a.req = claim.Request{
		Ref: it.Ref, Key: claim.NewKey(it.Ref), Kind: slot.Supervised, Run: a.run, Rule: it.Policy.Rule, Queued: true,
		Holder: a.Holder(a.path(), filepath.Base(a.plan.Argv[0]), sup.Process),
		Dir:    filepath.Join(a.State, "runs", a.run), Warden: a.Warden,
		TTL: a.plan.TTL, Grace: a.plan.Grace, Limits: a.Plans.Limits(), Also: a.also,
	}
	a.asked, a.rooms = a.Clock.Boot(), a.Dispatcher.rooms.Load()
	grant, err := a.take(ctx)
	var busy *slot.BusyError
	if errors.As(err, &busy) && busy.Claim.Kind == slot.Waiting {
		// What it waits for is an event that a rule wants, and here is one.
		a.req.Displace = &claim.Displace{Claim: busy.Claim.ID, Why: claim.Resumed, Detail: "an event came for it"}
		grant, err = a.take(ctx)
	}
	if err == nil {
		a.Metrics.Claimed(a.Clock.Boot() - a.asked)
		return grant, true
	}
	if slot.IsRefusal(err) || errors.Is(err, queue.ErrStale) {
		a.Pool.Back(sup)
	} else { // the claim may have been given: it dies with the supervisor
		sup.Close()
	}
	a.refused(ctx, err)
	return claim.Grant{}, false
}

// refused puts the item off because of what the claim store said; the store has
// the decision on record already.
func (a *attempt) refused(ctx context.Context, err error) {
	it := a.look.Item
	var busy *slot.BusyError
	var def *slot.DeferError
	until := a.Clock.Wall().Add(gateEvery)
	switch {
	case errors.Is(err, queue.ErrStale):
		a.done("claim", err)
	case errors.Is(err, slot.ErrUsage): // it will be so the next time, too
		a.kill(ctx, "claim", err)
	case errors.As(err, &def) && def.Reason == slot.ReasonCapacity:
		// It stays due, for whatever ends makes room; what it waits for is written once.
		a.crowded(it.Ref, a.req.Limits, a.rooms)
		d := a.onRecord(def.Reason, def.Detail)
		if it.Reason != def.Reason {
			a.done("defer", a.Queue.Defer(ctx, it.ID, "", it.Due, d))
		}
	case errors.As(err, &def):
		if !def.Until.IsZero() {
			until = def.Until
		}
		a.done("defer", a.Queue.Defer(ctx, it.ID, "", until, a.onRecord(def.Reason, def.Detail)))
	case errors.As(err, &busy):
		a.watch(busy.Claim)
		if at := busy.Claim.ExpiresAt; !at.IsZero() && at.Before(until) && at.After(a.Clock.Wall()) {
			until = at
		}
		a.done("defer", a.Queue.Defer(ctx, it.ID, "", until, a.onRecord(busy.Reason, detail(busy))))
	default:
		a.Log.Error("the slot could not be claimed; nothing starts", "ref", it.Ref, "err", err)
		a.done("defer", a.Queue.Defer(ctx, it.ID, "", a.Clock.Wall().Add(time.Second), a.decision(slot.Unknown, "claim", err.Error(), "nothing was started; it is tried again")))
	}
}

func detail(busy *slot.BusyError) string {
	if busy.Claim.ID == "" {
		return busy.Error()
	}
	if busy.Detail != "" { // it is another ref's
		return busy.Claim.Who() + ": " + busy.Detail
	}
	return busy.Claim.Who()
}

// under is the path from the granted claim on.
func (a *attempt) under(ctx context.Context, grant claim.Grant) {
	if !a.begin(ctx) {
		return
	}
	failpoint.Hit(failpoint.AfterBegin)
	a.ask.Events, a.ask.Claimed, a.ask.Self, a.ask.Sha = events(a.look.Events), true, a.req.Key.Claim, a.look.Item.Sha

	kept, stop := claim.Keep(ctx, a.Claims, a.Clock, a.req.Key, a.asked, grant.Claim.Left)
	undo, ok := a.facts(kept, grant)
	lost := context.Cause(kept)
	stop()
	why := "the gates did not let it start"
	switch {
	case lost != nil:
		a.putBack(ctx, "facts_unknown", lost.Error())
	case !ok: // and why is on record
	case a.life.Err() != nil:
		why = a.ending(ctx)
	default:
		err := a.start(ctx, grant)
		if err == nil {
			return
		}
		why = err.Error()
		a.putBack(ctx, "supervisor", why)
	}
	if ok {
		undo(ctx)
	}
	a.giveBack(ctx, why)
}

// facts finds out, now that nobody else can start, whether it is still to start: it
// asks the gates again, has those that cannot see our store told, and has gates that
// keep others out do it. undo takes all of that back.
func (a *attempt) facts(ctx context.Context, g claim.Grant) (undo func(context.Context), ok bool) {
	none := func(context.Context) {}
	if !a.stillLinked(ctx) || !a.mayStart(ctx) {
		return none, false
	}
	withdraw, waited, ok := a.reserved(ctx, g)
	if !ok {
		return none, false
	}
	if waited && !a.mayStart(ctx) { // what was read before is old by now
		withdraw(ctx)
		return none, false
	}
	dec, release := a.Gates.Hold(ctx, a.ask, gate.Run{ID: a.run, Slug: a.look.Item.Ref.Slug(), Supervisor: a.sup.Process, State: a.State})
	undo = func(ctx context.Context) {
		if release != nil {
			release(ctx)
		}
		withdraw(ctx)
	}
	if !a.obey(ctx, dec, a.run) {
		undo(ctx)
		return none, false
	}
	return undo, true
}

// mayStart asks the gates under the claim.
func (a *attempt) mayStart(ctx context.Context) bool {
	dec := a.decide(ctx)
	a.head = dec.Head
	if !a.obey(ctx, dec, a.run) {
		return false
	}
	if related := dec.Related(); related != "" && !a.plan.Link {
		a.done("note", a.Journal.Note(ctx, a.decision(slot.Proceed, "related", related, "it has a slot of its own; `link = true` in the rule makes them one")))
	}
	return true
}

// refillAfter is when the next supervisor is started in advance: not while this one
// starts its worker, which would take longer for it.
const refillAfter = 100 * time.Millisecond

// start hands the run over.
func (a *attempt) start(ctx context.Context, grant claim.Grant) error {
	// The events may have brought a newer head since; what was read is newer still.
	plan, err := a.Plans.Plan(a.look.Item, cmp.Or(a.head, a.look.Item.Sha))
	if err != nil {
		return err
	}
	c := grant.Claim
	c.Left = a.plan.TTL // the supervisor's first step renews it
	job := standby.Job{
		Claim: c, Key: a.req.Key, Previous: grant.Displaced, Argv: plan.Argv, Dir: plan.Dir,
		Strip: plan.Strip, Rule: a.look.Item.Policy.Rule, Attempt: a.look.Item.Attempts + 1, Timeout: plan.Timeout,
		LogBytes: plan.LogBytes,
	}
	if err := a.sup.Start(job); err != nil {
		return fmt.Errorf("the supervisor did not take the job: %w", err)
	}
	a.Metrics.Decided(slot.Proceed, "")
	a.Metrics.Started(a.Clock.Wall().Sub(a.look.Item.Last))
	window := a.Clock.Boot() - a.peeked
	a.Metrics.Peeked(window)
	a.Log.Info("started", "since_peek", window, "ref", c.Ref, "run", a.run, "claim", c.ID, "rule", job.Rule, "events", len(a.look.Events), "attempt", job.Attempt)
	a.Tell("claim", c.Ref)
	c.Holder.Process = a.sup.Process
	a.watch(c)
	time.AfterFunc(refillAfter, a.Pool.Refill)
	return nil
}

// putBack has the item wait again although its run has begun.
func (a *attempt) putBack(ctx context.Context, reason, detail string) {
	a.done("put back", a.Queue.Defer(ctx, a.look.Item.ID, a.run, a.later(), a.decision(slot.Unknown, reason, detail, "it is looked at again; nothing is spent")))
}

// ending has the item wait for whoever works the queue next: we start nothing any more.
func (a *attempt) ending(ctx context.Context) (why string) {
	why = "whoever worked the queue ended before the start"
	a.done("put back", a.Queue.Defer(ctx, a.look.Item.ID, a.run, a.Clock.Wall(),
		a.decision(slot.Defer, "ending", why, "whoever works the queue next starts it; nothing is spent")))
	return why
}

// laterMost bounds how far apart looks get at what cannot be found out.
const laterMost = 5 * time.Minute

// later is when to look again at what could not be found out: each time in a row
// twice as far away.
func (a *attempt) later() time.Time {
	wait := gateEvery
	for range a.look.Item.Defers {
		if wait *= 2; wait >= laterMost {
			wait = laterMost
			break
		}
	}
	return a.Clock.Wall().Add(wait)
}

// kill makes dead letters of what waits: nothing can be started for it.
func (a *attempt) kill(ctx context.Context, reason string, err error) {
	it := a.look.Item
	failed := a.Queue.Kill(ctx, it.ID, "", a.decision(slot.Skip, reason, err.Error(),
		"the events are dead letters; mend the cause and `oneslot retry` them"))
	if a.done("dead letter", failed); failed == nil {
		it.Reason, it.Detail = reason, err.Error()
		GivenUp(a.Log, it)
	}
}

// giveBack releases a claim under which nothing started. If that fails the claim
// dies with the supervisor.
func (a *attempt) giveBack(ctx context.Context, reason string) {
	out := slot.Outcome{Result: slot.NoStart, Reason: reason, Unspent: true}
	if _, err := a.Claims.Release(ctx, a.req.Key, out); err != nil {
		a.Log.Error("a claim could not be given back; it ends with its supervisor", "ref", a.req.Ref, "err", err)
	}
	a.sup.Close()
}

// decision is the record of a verdict on the item. Before that is the run's, each
// look has a run of its own, which would make equal verdicts differ.
func (a *attempt) decision(v slot.Verdict, reason, detail, next string) slot.Decision {
	a.Metrics.Decided(v, reason)
	run := a.run
	if a.look.Item.Run != run {
		run = ""
	}
	return slot.Decision{
		Ref: a.look.Item.Ref, Path: a.path(), Verdict: v, Reason: reason, Detail: detail, Next: next, Run: run,
	}
}

// onRecord is a refusal that the claim store has put on record.
func (a *attempt) onRecord(reason, detail string) slot.Decision {
	a.Metrics.Decided(slot.Defer, reason)
	return slot.Decision{Reason: reason, Detail: detail}
}

// done looks at the end of a step on the queue. A stale item is somebody else's
// business by now; any other failure leaves the item as it was, to be picked again.
func (a *attempt) done(what string, err error) {
	a.Tell("work", a.look.Item.Ref)
	if err != nil && !errors.Is(err, queue.ErrStale) {
		a.failed = true
		a.Log.Error("the queue could not be written; the item stays as it is", "step", what, "ref", a.look.Item.Ref, "err", err)
	}
}
