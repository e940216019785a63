package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/forge/transport"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/reserve"
	"github.com/oneslot/oneslot/internal/slot"
)

// Reservations tell paths that share no store with us, by comments on the forge, who
// works on what. A nil one tells nobody.
type Reservations struct {
	app *App
	at  map[string]*reserve.Reserver // by host
	log *slog.Logger
	// force is a person's reason to pass the reservations of others; empty: they count.
	force string
}

// againReserved is when a ref is looked at again that others have reserved.
const againReserved = 30 * time.Second

// slowly is how long a reservation may take before what was read earlier is old.
const slowly = time.Second

// reservationsOf makes them, if the configuration wants them. With a daemon's store
// all paths ask that daemon, and comments would only repeat it.
func (a *App) reservationsOf(cfg *config.Config, all forges, log *slog.Logger) (*Reservations, error) {
	if !cfg.Reservation.Enabled.V || cfg.Remote() {
		return nil, nil
	}
	key, _, err := cfg.ReservationKey()
	if err != nil {
		return nil, err
	}
	r := &Reservations{app: a, at: map[string]*reserve.Reserver{}, log: log}
	for host, c := range all.at {
		r.at[host], err = reserve.New(reserve.Options{
			Forge: host, Thread: c.client, Caps: c.Capabilities(), Clock: a.Clock, Log: log,
			Dir: filepath.Join(a.Store.Dir(), "reservations"), Key: key, Host: cfg.Host.V,
			Low: cfg.Reservation.Recheck.V.Min, High: cfg.Reservation.Recheck.V.Max, TTL: cfg.Reservation.TTL.V,
			DeleteAtEnd: cfg.Reservation.DeleteAtEnd.V, Lock: cfg.Reservation.LockConversation.V,
		})
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Reserve implements dispatch.Reservations: all the threads of a claim or none, in
// the order of their names.
func (r *Reservations) Reserve(ctx context.Context, g claim.Grant) (undo func(context.Context), waited bool, err error) {
	if r == nil {
		return nil, false, nil
	}
	c := g.Claim
	began := r.app.Clock.Boot()
	// What an earlier run of ours has left on the thread would be in our own way. It
	// tells others to keep out: so it stays until nothing of that run is left.
	if err := r.app.endEarlier(ctx, c, g.Displaced); err != nil {
		return nil, false, err
	}
	if err := r.Tend(ctx); err != nil {
		r.log.Warn("not all reservations could be looked after", "err", err)
	}
	var held []string
	undo = func(ctx context.Context) {
		for _, id := range held {
			r.end(ctx, c.Ref.Host(), id, reserve.End{Outcome: string(slot.NoStart)})
		}
	}
	for _, ref := range threads(c) {
		ctx := transport.ForOwner(ctx, ref.Owner()) // whose installation of an app we are
		at, ok := r.at[ref.Host()]
		if !ok {
			continue
		}
		// Other hosts may never have heard the old name of a renamed repository.
		now, err := r.app.Names.Current(ctx, ref)
		if err == nil {
			var got reserve.Held
			got, err = at.Take(ctx, reserve.Ask{Ref: now, Claim: recordOf(c, ref), Path: c.Holder.Path, Force: r.force})
			r.suspect(ctx, c, ref, got.Suspicious, err)
		}
		if err != nil {
			undo(context.WithoutCancel(ctx))
			return nil, false, r.refused(ref, err)
		}
		held = append(held, recordOf(c, ref))
	}
	return undo, r.app.Clock.Boot()-began > slowly, nil
}

// threads are the conversations that a claim is about.
func threads(c slot.Claim) []slot.Ref {
	list := slices.DeleteFunc(append([]slot.Ref{c.Ref}, c.Also...), func(ref slot.Ref) bool {
		return ref.Kind() != slot.RefIssue && ref.Kind() != slot.RefMerge
	})
	slices.SortFunc(list, func(a, b slot.Ref) int { return strings.Compare(a.String(), b.String()) })
	return list
}

// recordOf names the reservation of one of a claim's threads, by the claim, the thread,
// and the ref that the claim's run is about.
func recordOf(c slot.Claim, thread slot.Ref) string {
	return c.ID + " " + thread.String() + " " + c.Ref.String()
}

// suspect reports comments that look like reservations and count for nothing.
func (r *Reservations) suspect(ctx context.Context, c slot.Claim, ref slot.Ref, list []reserve.Suspicion, err error) {
	if busy, ok := errors.AsType[*reserve.BusyError](err); ok {
		list = busy.Suspicious
	}
	for _, s := range list {
		r.log.Warn("a comment looks like a reservation and is none", "ref", ref, "comment", s.Comment, "by", s.Login, "why", s.Why)
		err := r.app.Store.Note(ctx, slot.Decision{
			Ref: c.Ref, Path: c.Holder.Path, Run: c.Run, Verdict: slot.Proceed, Reason: "reservation: suspicious",
			Detail: fmt.Sprintf("comment %d by %s on %s: %s", s.Comment, s.Login, ref, s.Why), Next: "it counts for nothing",
		})
		if err != nil {
			r.log.Warn("that could not be put on record", "err", err)
		}
	}
}

func (r *Reservations) refused(ref slot.Ref, err error) error {
	var busy *reserve.BusyError
	if !errors.As(err, &busy) {
		return err
	}
	return &slot.DeferError{
		Ref: ref, Reason: "reservation: held", Detail: busy.Error(), Until: r.app.Clock.Wall().Add(againReserved),
		Evidence: []slot.Finding{{Gate: "reservation", Verdict: slot.Defer, Reason: "reservation: held", Detail: busy.Error()}},
	}
}

func (r *Reservations) end(ctx context.Context, host, record string, end reserve.End) {
	if err := r.at[host].End(ctx, record, end); err != nil {
		r.log.Warn("a reservation could not be ended yet; the next sweep tries again", "record", record, "err", err)
	}
}

// Tend renews the reservations of claims that live, and ends those of claims that do
// not.
func (r *Reservations) Tend(ctx context.Context) error {
	if r == nil {
		return nil
	}
	var errs []error
	for _, at := range r.at {
		errs = append(errs, r.ended(ctx, at), at.Tend(ctx, r.lives), at.Tidy(ctx, r.lives))
	}
	return errors.Join(errs...)
}

// ended tells the threads what came of claims that are over.
func (r *Reservations) ended(ctx context.Context, at *reserve.Reserver) error {
	claims, err := at.Claims()
	for _, record := range claims {
		lives, end, e := r.fate(ctx, record)
		if ref, forsaken := r.forsaken(ctx, record); forsaken && e == nil && lives {
			if e = r.app.Reap(ctx, ref); e == nil {
				lives, end, e = r.fate(ctx, record)
			}
		}
		if e == nil && !lives && end != nil {
			e = at.End(ctx, record, *end)
		}
		err = errors.Join(err, e)
	}
	return err
}

// lives implements reserve.Alive.
func (r *Reservations) lives(ctx context.Context, record string) (bool, error) {
	lives, _, err := r.fate(ctx, record)
	return lives, err
}

// Tend brings what was said on forges about claims of this store up to date.
func (a *App) Tend(ctx context.Context) error {
	r, err := a.reservations()
	if err != nil {
		return err
	}
	return r.Tend(ctx)
}

// reservations are those of a process that is no daemon; nil if there are to be none.
func (a *App) reservations() (*Reservations, error) {
	if !a.Config.Reservation.Enabled.V {
		return nil, nil
	}
	all, err := a.clients()
	if err != nil {
		return nil, err
	}
	return a.reservationsOf(a.Config, all, slog.New(slog.DiscardHandler))
}

// refsOf reads the name of a reservation: its claim, its thread, and the ref that the
// claim's run is about.
func refsOf(record string) (id string, thread, lead slot.Ref, ok bool) {
	words := strings.Fields(record)
	if len(words) != 3 {
		return "", thread, lead, false // none of ours
	}
	thread, err := slot.ParseCanonical(words[1])
	if err == nil {
		lead, err = slot.ParseCanonical(words[2])
	}
	return words[0], thread, lead, err == nil
}

// fate tells what became of the claim that a reservation lives with. It lives for as
// long as a process of its run may.
func (r *Reservations) fate(ctx context.Context, record string) (lives bool, end *reserve.End, err error) {
	id, thread, lead, ok := refsOf(record)
	if !ok {
		return false, nil, nil
	}
	s, err := r.app.Store.Look(ctx, thread)
	if err != nil {
		return false, nil, err
	}
	if live := s.Live(); live != nil && live.ID == id {
		return !counts{r.app}.over(ctx, *live), nil, nil
	}
	runs, err := r.app.Store.Runs(ctx, lead, 0)
	for _, run := range runs {
		switch {
		case run.Claim != id:
		case run.State == slot.RunEnded:
			return false, endOf(run.Outcome), nil
		case run.TreeGoneAt.IsZero() && run.Holder.Process.Boot == r.app.Clock.BootID():
			return true, nil, nil // somebody has the slot by now, who is about to end it
		}
	}
	return false, nil, err
}

// forsaken reports that a reservation's holder is dead, and that no process of its run
// is left: nobody may ever come for that slot.
func (r *Reservations) forsaken(ctx context.Context, record string) (slot.Ref, bool) {
	id, thread, _, _ := refsOf(record)
	s, err := r.app.Store.Look(ctx, thread)
	if err != nil {
		return thread, false
	}
	c := s.Live()
	if c == nil || c.ID != id || c.Run == "" {
		return thread, false
	}
	if d, _, _ := claim.Judge(Sight{}, *c); d == nil || d.Why != claim.Dead {
		return thread, false
	}
	left, err := proc.Tree{Run: c.Run}.Members()
	return c.Ref, err == nil && len(left) == 0
}

// endOf is what a thread is told of an outcome.
func endOf(o slot.Outcome) *reserve.End {
	e := &reserve.End{Outcome: string(o.Result), Summary: o.Summary, Link: o.PR}
	if e.Summary == "" {
		e.Summary = o.Reason
	}
	return e
}

// tendEvery is how often reservations are looked after: a look at files, as long as
// nothing is due.
const tendEvery = 15 * time.Second

// keep looks after reservations until ctx ends.
func (r *Reservations) keep(ctx context.Context, nudge <-chan struct{}) {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	for {
		if err := r.Tend(ctx); err != nil && ctx.Err() == nil {
			r.log.Warn("not all reservations could be looked after", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-nudge:
		}
	}
}

// keeping is keep beside other work. stop ends it, and waits until it has ended.
func (r *Reservations) keeping(ctx context.Context) (stop func()) {
	if r == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.keep(ctx, nil)
	}()
	return func() {
		cancel()
		<-done
	}
}

// String is for logs: nothing of it is secret.
func (r *Reservations) String() string { return fmt.Sprintf("reservations at %d forges", len(r.at)) }
