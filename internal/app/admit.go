package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

// Admission asks the configured gates for callers that come without the queue:
// `oneslot run`, claim and peek. A nil Admission lets everybody pass.
type Admission struct {
	app     *App
	set     *gate.Set
	reserve *Reservations
	look    bool
}

// Admission gives the gates to ask, and what to tell those who cannot see our store;
// a look tells nobody. force is a person's reason to pass gates and reservations. What
// is decided in the claim's own step (hold, limits) is asked only for a look, which
// takes no step; what is about events, never.
func (a *App) Admission(look bool, force string) (*Admission, error) {
	want := func(g config.Gate) bool {
		if force != "" {
			return false
		}
		if g.ReadsForge() {
			return len(a.Config.Forges) > 0
		}
		switch g.Type.V {
		case "trust", "already_handled", "hold":
			return false
		case "capacity":
			return look && a.Config.Limits.Running.V+a.Config.Limits.PerRepo.V > 0
		case "breaker":
			return look && a.RunLimits().PerRef > 0
		}
		return true
	}
	if !slices.ContainsFunc(a.Config.GatesInForce(), want) && !a.Config.Reservation.Enabled.V {
		return nil, nil
	}
	all, err := a.clients()
	if err != nil {
		return nil, err
	}
	set, err := a.gatesFor(a.Config, all, want)
	if err != nil {
		return nil, err
	}
	ad := &Admission{app: a, set: set, look: look}
	ad.reserve, err = a.reservationsOf(a.Config, all, slog.New(slog.DiscardHandler))
	if ad.reserve != nil {
		ad.reserve.force = force
	}
	return ad, err
}

// RunLimits are the limits for runs that come without the queue: the breaker counts
// only if it was set.
func (a *App) RunLimits() claim.Limits {
	l := plans{a.config}.Limits()
	if a.Config.Limits.RunsPerRef.Origin == (config.Origin{}) {
		l.PerRef, l.Window = 0, 0
	}
	return l
}

// Before asks the gates before the claim. It answers a *slot.DeferError if one of
// them says "not now", a *slot.SkipError if one says "never", and what all of them
// said in any case.
func (ad *Admission) Before(ctx context.Context, ref slot.Ref) ([]slot.Finding, error) {
	if ad == nil {
		return nil, nil
	}
	said, err := ad.ask(ctx, gate.Ask{Ref: ref, Path: slot.PathManual})
	if err == nil && ad.look { // others look under their claim
		var found []slot.Finding
		found, err = ad.reserve.look(ctx, ref)
		said = append(said, found...)
	}
	return said, err
}

// Ask is Before for a claim that is about to be asked for: a refusal is on record.
func (ad *Admission) Ask(ctx context.Context, req claim.Request) error {
	_, err := ad.Before(ctx, req.Ref)
	if err != nil {
		err = errors.Join(err, ad.app.Store.Note(ctx, deferred(req, err)))
	}
	return err
}

func (ad *Admission) ask(ctx context.Context, a gate.Ask) ([]slot.Finding, error) {
	ad.set.Tick()
	dec := ad.set.Decide(ctx, a)
	return dec.Evidence, refusal(a.Ref, dec)
}

func refusal(ref slot.Ref, dec gate.Decision) error {
	switch dec.Verdict {
	case slot.Proceed:
		return nil
	case slot.Skip:
		return &slot.SkipError{Ref: ref, Reason: dec.Reason, Detail: dec.Detail, Evidence: dec.Evidence}
	}
	return &slot.DeferError{Ref: ref, Reason: dec.Reason, Detail: dec.Detail, Until: dec.Until, Evidence: dec.Evidence}
}

// Under asks again for a claim that was granted, now that nobody else can start, and
// tells those who cannot see our store; the claim is kept renewed meanwhile. One that
// is refused is given back.
func (ad *Admission) Under(ctx context.Context, g claim.Grant, req claim.Request) error {
	if ad == nil {
		return nil
	}
	a := ad.app
	kept, stop := claim.Keep(ctx, a.Store, a.Clock, req.Key, g.Asked, g.Claim.Left)
	undo, err := ad.facts(kept, g, req)
	if lost := context.Cause(kept); lost != nil {
		err = lost
	}
	stop()
	if err == nil {
		return nil
	}
	after := context.WithoutCancel(ctx)
	if undo != nil {
		undo(after)
	}
	_ = a.Store.Note(after, deferred(req, err)) // the refusal itself is told
	out := slot.Outcome{Result: slot.NoStart, Reason: err.Error(), Unspent: true}
	if _, e := a.Store.Release(after, req.Key, out); e != nil && !errors.Is(e, slot.ErrLost) {
		return errors.Join(err, e)
	}
	return err
}

// facts finds out under the claim whether the work may start. undo withdraws what
// others were told.
func (ad *Admission) facts(ctx context.Context, g claim.Grant, req claim.Request) (undo func(context.Context), err error) {
	ask := gate.Ask{Ref: req.Ref, Path: req.Holder.Path, Claimed: true, Self: req.Key.Claim}
	said, err := ad.ask(ctx, ask)
	if err != nil {
		return nil, err
	}
	ad.note(ctx, req, said)
	undo, waited, err := ad.reserve.Reserve(ctx, g)
	if err == nil && waited { // what was read before is old by now
		_, err = ad.ask(ctx, ask)
	}
	if err != nil || req.Run == "" {
		return undo, err
	}
	dec, _ := ad.set.Hold(ctx, ask, gate.Run{ID: req.Run, Slug: req.Ref.Slug(), Supervisor: req.Holder.Process, State: ad.app.Store.Dir()})
	return undo, refusal(req.Ref, dec) // what was held is let go when this process ends
}

// note has it on record if a gate could not find out, and on_error let it pass.
func (ad *Admission) note(ctx context.Context, req claim.Request, said []slot.Finding) {
	for _, f := range said {
		if f.Verdict == slot.Unknown {
			_ = ad.app.Store.Note(ctx, slot.Decision{Ref: req.Ref, Path: req.Holder.Path, Run: req.Run, Verdict: slot.Proceed,
				Reason: f.Reason, Detail: f.Detail, Next: "the work goes on, as on_error says"}) // it goes on in any case
		}
	}
}

// Keep looks after what others were told, and tells what became of that for one claim,
// at any time from other goroutines. stop ends it, and waits until it has.
func (ad *Admission) Keep(ctx context.Context, claim string, tell func(what string)) (stop func()) {
	if ad == nil || ad.reserve == nil {
		return func() {}
	}
	ad.reserve.about = func(id, what string) {
		if id == claim {
			tell(what)
		}
	}
	return ad.reserve.keeping(ctx)
}

// Ended tells others that claims of this store have ended.
func (ad *Admission) Ended(ctx context.Context) error {
	if ad == nil {
		return nil
	}
	return ad.reserve.Tend(ctx)
}

// deferred is the decision that goes with a refusal by gates.
func deferred(req claim.Request, err error) slot.Decision {
	d := slot.Decision{Ref: req.Ref, Path: req.Holder.Path, Verdict: slot.Unknown, Reason: "gates", Detail: err.Error(),
		Next: "nothing started; the caller was told and may ask again"}
	var def *slot.DeferError
	var skip *slot.SkipError
	var busy *slot.BusyError
	switch {
	case errors.As(err, &busy): // what an earlier run left could not be stopped
		d.Verdict, d.Reason, d.Detail = slot.Defer, busy.Reason, busy.Detail
	case errors.As(err, &def):
		d.Verdict, d.Reason, d.Detail = slot.Defer, def.Reason, def.Detail
	case errors.As(err, &skip):
		d.Verdict, d.Reason, d.Detail, d.Next = slot.Skip, skip.Reason, skip.Detail, "there is nothing to do"
	}
	return d
}

// Persist tries until no gate puts the caller off any more, or longest (0: no bound) is
// over; a try is told how long it may take. In between it waits for a while, or until
// something has changed, under what listen makes of ctx; whose stop tells whether that
// was ended, and by what.
func (ad *Admission) Persist(ctx context.Context, longest time.Duration, try func(left time.Duration) error,
	listen func(context.Context) (_ context.Context, stop func() error)) error {
	if ad == nil {
		return try(longest)
	}
	watch, unwatch := context.WithCancel(ctx)
	defer unwatch()
	var changed <-chan struct{}
	for began := ad.app.Clock.Boot(); ; {
		left := longest
		if longest > 0 {
			left = max(longest-(ad.app.Clock.Boot()-began), time.Millisecond)
		}
		err := try(left)
		var def *slot.DeferError
		if !errors.As(err, &def) || def.Evidence == nil {
			return err
		}
		pause := ad.again(def.Until)
		if longest > 0 && pause >= left {
			return err
		}
		if changed == nil {
			changed, pause = ad.watch(watch), time.Millisecond // what changed before is seen by one more look
		}
		waiting, stop := listen(ctx)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-changed:
		case <-waiting.Done():
		}
		timer.Stop()
		if err := stop(); err != nil {
			return err
		}
	}
}

// watch tells, until ctx ends, when something that was in the way may be gone.
func (ad *Admission) watch(ctx context.Context) <-chan struct{} {
	changed := make(chan struct{}, 1)
	go ad.set.Watch(ctx, func(string) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	return changed
}

// againMost bounds how long somebody who waits does without a look.
const againMost = time.Minute

// again is when another look is worth it for somebody who waits, and was put off until
// then.
func (ad *Admission) again(until time.Time) time.Duration {
	if until.IsZero() {
		return gate.DefaultEvery
	}
	return min(max(until.Sub(ad.app.Clock.Wall()), 100*time.Millisecond), againMost)
}
