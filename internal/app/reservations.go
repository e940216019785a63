package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/forge/transport"
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
	off   bool // they are wanted no more: what is there is brought to its end, and no new ones are made
	seen  seen
	// about hears of what became of a claim's reservation; nil: the record alone does.
	about func(claim, what string)
}

// againReserved is when a ref is looked at again that others have reserved.
const againReserved = 30 * time.Second

// reasonReserved is that somebody else has reserved a ref, or may get it.
const reasonReserved = "reservation: held"

// slowly is how long a reservation may take before what was read earlier is old.
const slowly = time.Second

// reservationsOf makes them, if the configuration wants them. With a daemon's store
// all paths ask that daemon, and comments would only repeat it. If they were switched
// off, what is left of earlier ones is still looked after.
func (a *App) reservationsOf(cfg *config.Config, all forges, log *slog.Logger) (*Reservations, error) {
	if cfg.Remote() {
		return nil, nil
	}
	dir, off := filepath.Join(a.Store.Dir(), "reservations"), !cfg.Reservation.Enabled.V
	if off && !reserve.Left(dir) {
		return nil, nil
	}
	key, _, err := cfg.ReservationKey()
	switch {
	case err != nil && off:
		return nil, nil //nolint:nilerr // without a key nothing can be said; what is there lapses
	case err != nil:
		return nil, err
	}
	r := &Reservations{app: a, off: off, seen: seen{list: map[string]bool{}}, at: map[string]*reserve.Reserver{}, log: log}
	for host, c := range all.at {
		r.at[host], err = reserve.New(reserve.Options{
			Forge: host, Thread: c.Forge, Caps: c.Capabilities(), Clock: a.Clock, Log: log,
			Dir: dir, Key: key, Host: cfg.Host.V,
			Report: r.report,
			Low:    cfg.Reservation.Recheck.V.Min, High: cfg.Reservation.Recheck.V.Max, TTL: cfg.Reservation.TTL.V,
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
	if r == nil || r.off {
		return nil, false, nil
	}
	c := g.Claim
	began := r.app.Clock.Boot()
	// What an earlier run of ours has left on the threads would be in our own way. It
	// tells others to keep out: so it stays until nothing of that run is left. Other
	// threads can wait for the next sweep.
	if err := r.app.Ender().EndEarlier(ctx, c, g.Displaced); err != nil {
		return nil, false, err
	}
	if refs := threads(c); len(refs) > 0 {
		if err := errors.Join(r.due(ctx, refs), r.Tend(ctx, refs...)); err != nil {
			r.log.Warn("not all reservations could be looked after", "err", err)
		}
	}
	var held []slot.Ref
	undo = func(ctx context.Context) {
		for _, ref := range held {
			if err := r.at[ref.Host()].Withdraw(ctx, recordOf(c, ref)); err != nil {
				r.log.Warn("a reservation could not be withdrawn yet; the next sweep tries again", "ref", ref, "err", err)
			}
		}
	}
	for _, ref := range threads(c) {
		at, ok := r.at[ref.Host()]
		if !ok {
			r.untold(ctx, c, ref)
			continue
		}
		owned, err := r.forOwner(ctx, ref)
		if err == nil {
			var got reserve.Held
			got, err = at.Take(owned, reserve.Ask{Ref: ref, Claim: recordOf(c, ref), Path: c.Holder.Path, Force: r.force})
			r.suspect(ctx, c, ref, got.Suspicious, err)
		}
		if err != nil {
			undo(context.WithoutCancel(ctx))
			return nil, false, r.refused(ref, err)
		}
		held = append(held, ref)
	}
	return undo, r.app.Clock.Boot()-began > slowly, nil
}

// untold records that others are not told: nobody is to find out by two workers.
func (r *Reservations) untold(ctx context.Context, c slot.Claim, ref slot.Ref) {
	r.log.Warn("reservations are on, and no forge is configured for a ref", "ref", ref)
	r.note(ctx, slot.Decision{Ref: c.Ref, Path: c.Holder.Path, Reason: "reservation: not asked",
		Detail: "there is no [[forge]] for " + ref.Host(), Next: "the work goes on; who does not share this store is not told of it"})
}

// forOwner says whose installation of an app we are: of the repository's owner of now.
func (r *Reservations) forOwner(ctx context.Context, ref slot.Ref) (context.Context, error) {
	now, err := r.app.Names.Current(ctx, ref)
	return transport.ForOwner(ctx, now.Owner()), err
}

// look asks, for a peek, whether somebody else has reserved a ref. Nothing is written.
// Errors are *slot.DeferError.
func (r *Reservations) look(ctx context.Context, ref slot.Ref) ([]slot.Finding, error) {
	if r == nil || r.off {
		return nil, nil
	}
	at, ok := r.at[ref.Host()]
	if !ok || len(threads(slot.Claim{Ref: ref})) == 0 {
		return nil, nil
	}
	by, err := at.Peek(ctx, ref)
	f := slot.Finding{Gate: "reservation", Verdict: slot.Proceed, Reason: "reservation: none"}
	switch {
	case err != nil:
		f.Verdict, f.Reason, f.Detail = slot.Unknown, "reservation: unknown", err.Error()
	case by.Comment != 0:
		f.Verdict, f.Reason, f.Detail = slot.Defer, reasonReserved, (&reserve.BusyError{Ref: ref, By: by}).Error()
	default:
		return []slot.Finding{f}, nil
	}
	list := []slot.Finding{f}
	return list, &slot.DeferError{Ref: ref, Reason: f.Reason, Detail: f.Detail, Evidence: list}
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

func (r *Reservations) refused(ref slot.Ref, err error) error {
	var busy *reserve.BusyError
	if !errors.As(err, &busy) {
		return err
	}
	return &slot.DeferError{
		Ref: ref, Reason: reasonReserved, Detail: busy.Error(), Until: r.app.Clock.Wall().Add(againReserved),
		Evidence: []slot.Finding{{Gate: "reservation", Verdict: slot.Defer, Reason: reasonReserved, Detail: busy.Error()}},
	}
}

// Tend renews the reservations of claims that live, and ends those of claims that do
// not. With refs it is about their threads alone.
func (r *Reservations) Tend(ctx context.Context, refs ...slot.Ref) error {
	if r == nil {
		return nil
	}
	var errs []error
	for host, at := range r.at {
		if len(refs) > 0 && !slices.ContainsFunc(refs, func(ref slot.Ref) bool { return ref.Host() == host }) {
			continue
		}
		errs = append(errs, r.ended(ctx, at, refs), at.Tend(ctx, r.lives, refs...), at.Tidy(ctx, r.lives, refs...))
	}
	return errors.Join(errs...)
}

// due has what earlier claims left on some threads cleared at the next look.
func (r *Reservations) due(ctx context.Context, refs []slot.Ref) error {
	var errs []error
	for _, at := range r.at {
		errs = append(errs, at.Due(ctx, refs...))
	}
	return errors.Join(errs...)
}

// ended tells the threads what came of claims that are over.
func (r *Reservations) ended(ctx context.Context, at *reserve.Reserver, refs []slot.Ref) error {
	claims, err := at.Claims(refs...)
	for _, record := range claims {
		lives, end, e := r.fate(ctx, record)
		if ref, forsaken := r.forsaken(ctx, record); forsaken && e == nil && lives {
			if e = r.app.Ender().Reap(context.WithoutCancel(ctx), ref); e == nil { // by halves it would help nobody
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
	r, err := a.reservationsOf(a.Config, all, slog.New(slog.DiscardHandler))
	for _, f := range a.Config.Forges {
		if _, _, e := a.Config.ForgeSecret(f); e != nil && r != nil {
			delete(r.at, f.Host.V) // kept from us: who has it looks after these
		}
	}
	return r, err
}

// tendEvery is how often reservations are looked after: a look at files, as long as
// nothing is due.
const tendEvery = 15 * time.Second

// keep looks after reservations until ctx ends; after those of refs, if there are any.
func (r *Reservations) keep(ctx context.Context, nudge <-chan struct{}, refs ...slot.Ref) {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	for {
		if err := r.Tend(ctx, refs...); err != nil && ctx.Err() == nil {
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
func (r *Reservations) keeping(ctx context.Context, refs ...slot.Ref) (stop func()) {
	if r == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.keep(ctx, nil, refs...)
	}()
	return func() {
		cancel()
		<-done
	}
}
