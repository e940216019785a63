package reserve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Alive says whether a claim of the local store lives. An error is an answer too:
// nobody knows.
type Alive func(ctx context.Context, claim string) (bool, error)

// Tidy goes through the records of this folder and forge. What a dead contender or
// holder left on a thread is deleted, its lock undone; an End that is not all done is
// finished. What is alive, or may be, is left alone. What cannot be cleared is tried
// again later and later, and given up after days. With refs it is about those alone.
func (r *Reserver) Tidy(ctx context.Context, alive Alive, refs ...slot.Ref) error {
	return r.each(ctx, refs, func(e *entry) error {
		if e.End != nil {
			return r.settle(ctx, e, r.finish)
		}
		lives, err := alive(ctx, e.Claim)
		if err != nil || lives {
			return nil // it lapses by itself if nobody renews it
		}
		return r.settle(ctx, e, r.clear)
	})
}

// Due has Tidy and End try at once what could not be cleared from some threads, however
// often that failed: somebody is about to work there, and would be in his own way.
func (r *Reserver) Due(ctx context.Context, refs ...slot.Ref) error {
	return r.each(ctx, refs, func(e *entry) error {
		if e.Next.IsZero() {
			return nil
		}
		e.Next = time.Time{}
		return e.save()
	})
}

// Tend renews the reservations of claims that are surely alive, each when a third of
// its time to live is over. Any process of the folder may call it, as often as it
// likes. Errors that match slot.ErrLost are *slot.LostError. With refs it is about
// those alone.
func (r *Reserver) Tend(ctx context.Context, alive Alive, refs ...slot.Ref) error {
	return r.each(ctx, refs, func(e *entry) error {
		due := e.Boot != r.o.Clock.BootID() || r.o.Clock.Boot()-e.Asked >= r.rules.ttl/3
		if e.Marker.State != Running || e.Lost || e.End != nil || !due {
			return nil
		}
		if lives, err := alive(ctx, e.Claim); err != nil || !lives {
			return nil
		}
		return r.renew(ctx, e)
	})
}

// Left reports whether a folder has records.
func Left(dir string) bool {
	ids, _ := folder(dir).ids()
	return len(ids) > 0
}

// Claims lists the claims whose reservations have a record in this folder, also those
// that another process works on. With refs it lists those about one of them.
func (r *Reserver) Claims(refs ...slot.Ref) (claims []string, err error) {
	ids, err := r.dir.ids()
	errs := []error{err}
	for _, id := range ids {
		switch rec, err := r.dir.peek(id); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			errs = append(errs, unknown("read a record", err))
		case r.means(rec, refs):
			claims = append(claims, rec.Claim)
		}
	}
	return claims, errors.Join(errs...)
}

// means reports whether a record is about this forge, and one of the refs, if any.
func (r *Reserver) means(rec record, refs []slot.Ref) bool {
	return rec.Ref.Host() == r.o.Forge && (len(refs) == 0 || slices.Contains(refs, rec.Ref))
}

// each does something to every record that no other process works on, and goes on
// when it fails.
func (r *Reserver) each(ctx context.Context, refs []slot.Ref, do func(*entry) error) error {
	ids, err := r.dir.ids()
	errs := []error{err}
	for _, id := range ids {
		if ctx.Err() != nil {
			return errors.Join(append(errs, unknown("tidy", context.Cause(ctx)))...)
		}
		if rec, err := r.dir.peek(id); err == nil && !r.means(rec, refs) {
			continue // its lock may be wanted elsewhere
		}
		e, err := r.dir.open(id)
		switch {
		case errors.Is(err, errBusyRecord), errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			errs = append(errs, unknown("read a record", err))
			continue
		}
		if err := do(e); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.Ref, err))
		}
		e.close()
	}
	return errors.Join(errs...)
}
