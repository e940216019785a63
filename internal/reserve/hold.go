package reserve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/slot"
)

// renew makes a reservation last one time to live from now. It fails with slot.ErrLost
// when others may have taken it meanwhile, for good; any other error matches
// slot.ErrUnknown, and another try may do.
func (r *Reserver) renew(ctx context.Context, e *entry) error {
	lost := func(why string) error {
		r.report(ctx, e, "lost", why)
		e.Lost = true
		err := e.save()
		return errors.Join(&slot.LostError{Claim: e.Claim, Reason: why}, err)
	}
	if e.Lost || e.End != nil || e.Marker.State != Running {
		return &slot.LostError{Claim: e.Claim, Reason: "its reservation is over"}
	}
	l, _, err := r.read(ctx, e.Ref, e.Place)
	if err != nil {
		return unknown("read "+e.Ref.String(), err)
	}
	mine, shown := l.mine(e.Marker.ID)
	if shown && mine.Marker.State == Posted {
		return unknown("renew", errors.New("the list is behind our own edit"))
	}
	until, ok := r.rules.renew(own{id: e.Marker.ID}, l)
	if !ok {
		return lost("its reservation was taken away, changed by somebody else, or not renewed in time")
	}
	next := e.record
	next.Marker.Renewal++
	asked := r.o.Clock.Boot()
	err = r.editBefore(ctx, next, min(until-asked, patience))
	switch now := r.o.Clock.Boot(); {
	case now >= until:
		return lost("its reservation could not be renewed in time")
	case err != nil:
		return unknown("edit our comment", err)
	}
	next.Boot, next.Asked = r.o.Clock.BootID(), asked
	e.record = next
	if err := e.save(); err != nil {
		return unknown("note the renewal", err)
	}
	return nil
}

func (r *Reserver) editBefore(ctx context.Context, rec record, left time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	_, err := r.o.Thread.EditComment(ctx, rec.Ref, rec.Comment, r.body(rec))
	return err
}

// End ends the reservation of a claim: the comment says what came of it, or is
// deleted, and what we locked is unlocked. What cannot be done now is done by Tidy.
// Ending what is not there is no error.
func (r *Reserver) End(ctx context.Context, claim string, end End) error {
	e, err := r.find(ctx, claim)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return unknown("end", err)
	}
	defer e.close()
	if e.End == nil {
		end.Summary = shorten(end.Summary, maxSummary, maxRecord/4)
		end.Link, end.Outcome = safeLink(end.Link), word(end.Outcome)
		e.End = &end
		if err := e.save(); err != nil {
			return unknown("note the end", err)
		}
	}
	return r.settle(ctx, e, r.finish)
}

// Withdraw takes back the reservation of a claim under which nothing was started: the
// comment is deleted in any case, and what we locked is unlocked. What cannot be done
// now is done by Tidy. Withdrawing what is not there is no error.
func (r *Reserver) Withdraw(ctx context.Context, claim string) error {
	e, err := r.find(ctx, claim)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return unknown("withdraw", err)
	}
	defer e.close()
	return r.settle(ctx, e, r.clear)
}

// finish does what End asked for.
func (r *Reserver) finish(ctx context.Context, e *entry) error {
	if r.o.DeleteAtEnd || e.Comment == 0 {
		return r.clear(ctx, e)
	}
	unlocked := r.unlock(ctx, e)
	next := e.record
	next.Marker.State, next.Marker.Comment = Ended, e.Comment
	err := r.insist(ctx, func(ctx context.Context) error {
		_, err := r.o.Thread.EditComment(ctx, e.Ref, e.Comment, r.body(next))
		if errors.Is(err, forge.ErrNotFound) {
			// Somebody deleted it, or we may not see it now: this tells them apart.
			return r.o.Thread.DeleteComment(ctx, e.Ref, e.Comment)
		}
		return err
	})
	if err != nil {
		err = unknown("edit our comment", err)
	}
	if err := errors.Join(unlocked, err); err != nil {
		return err
	}
	return e.remove()
}

// find locks the record of a claim's reservation; fs.ErrNotExist if there is none.
func (r *Reserver) find(ctx context.Context, claim string) (*entry, error) {
	ctx, cancel := context.WithTimeout(ctx, patience) // who has the lock may be frozen
	defer cancel()
	ids, err := r.dir.ids()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		rec, err := r.dir.peek(id)
		if err != nil || rec.Claim != claim || rec.Ref.Host() != r.o.Forge || rec.Marker.State != Running {
			continue // what cannot be read, Tidy reports
		}
		e, err := r.dir.await(ctx, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return e, err
	}
	return nil, fs.ErrNotExist
}

// clear deletes what a reservation left on the thread, then its record. It unlocks
// first: whoever comes next finds the thread as it was.
func (r *Reserver) clear(ctx context.Context, e *entry) error {
	if err := errors.Join(r.unlock(ctx, e), r.deleteAll(ctx, e)); err != nil {
		return err
	}
	return e.remove()
}

func (r *Reserver) deleteAll(ctx context.Context, e *entry) error {
	ids := []int64{e.Comment}
	if e.Comment == 0 {
		var err error
		if ids, err = r.leftBy(ctx, e.record); err != nil {
			return unknown("read "+e.Ref.String(), err)
		}
		if len(ids) == 0 && r.o.Clock.Wall().Sub(e.Since).Abs() < lateIn {
			return unknown("withdraw", fmt.Errorf("the post had no answer, and may turn up until %v after it", lateIn))
		}
	}
	for _, id := range ids {
		if err := r.insist(ctx, func(ctx context.Context) error { return r.o.Thread.DeleteComment(ctx, e.Ref, id) }); err != nil {
			return unknown("delete our comment", err)
		}
	}
	return nil
}

// leftBy finds the comments of a reservation whose post had no answer.
func (r *Reserver) leftBy(ctx context.Context, rec record) (ids []int64, err error) {
	list, err := r.o.Thread.Comments(ctx, rec.Ref)
	if err != nil {
		return nil, err
	}
	for _, c := range list.List {
		m, sum, ok := parse(c.Body)
		if ok && m.ID == rec.Marker.ID && m.genuine(r.o.Key, rec.Place, c.Author.Login, sum) {
			ids = append(ids, c.ID)
		}
	}
	return ids, nil
}

// insist tries three times what is harmless to do twice.
func (r *Reserver) insist(ctx context.Context, do func(context.Context) error) (err error) {
	wait := time.Second / 2
	for try := range 3 {
		if try > 0 {
			if e := r.pause(ctx, r.o.Clock.Boot()+wait); e != nil {
				return err
			}
			wait *= 2
		}
		if err = do(ctx); err == nil || neverDone(err) {
			return err
		}
	}
	return err
}
