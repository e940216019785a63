package reserve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Alive says whether a claim of the local store lives. An error is an answer too:
// nobody knows.
type Alive func(ctx context.Context, claim string) (bool, error)

// Tidy goes through the records of this folder and forge. What a dead contender or
// holder left on a thread is deleted, its lock undone; an End that is not all done is
// finished. What is alive, or may be, is left alone.
func (r *Reserver) Tidy(ctx context.Context, alive Alive) error {
	return r.each(ctx, func(e *entry) error {
		if e.End != nil {
			return r.finish(ctx, e)
		}
		lives, err := alive(ctx, e.Claim)
		if err != nil || lives {
			return nil // it lapses by itself if nobody renews it
		}
		return r.clear(ctx, e)
	})
}

// Tend renews the reservations of claims that are surely alive, each when a third of
// its time to live is over. Any process of the folder may call it, as often as it
// likes. Errors that match slot.ErrLost are *slot.LostError.
func (r *Reserver) Tend(ctx context.Context, alive Alive) error {
	return r.each(ctx, func(e *entry) error {
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

// Claims lists the claims whose reservations have a record in this folder, also those
// that another process works on.
func (r *Reserver) Claims() (claims []string, err error) {
	ids, err := r.dir.ids()
	errs := []error{err}
	for _, id := range ids {
		switch rec, err := r.dir.peek(id); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			errs = append(errs, unknown("read a record", err))
		case rec.Ref.Host() == r.o.Forge:
			claims = append(claims, rec.Claim)
		}
	}
	return claims, errors.Join(errs...)
}

// each does something to every record that no other process works on, and goes on
// when it fails.
func (r *Reserver) each(ctx context.Context, do func(*entry) error) error {
	ids, err := r.dir.ids()
	errs := []error{err}
	for _, id := range ids {
		if ctx.Err() != nil {
			return errors.Join(append(errs, unknown("tidy", context.Cause(ctx)))...)
		}
		e, err := r.dir.open(id)
		switch {
		case errors.Is(err, errBusyRecord), errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			errs = append(errs, unknown("read a record", err))
			continue
		}
		if e.Ref.Host() == r.o.Forge {
			if err := do(e); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", e.Ref, err))
			}
		}
		e.close()
	}
	return errors.Join(errs...)
}
