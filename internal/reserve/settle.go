package reserve

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
)

// What cannot be cleared is tried again at once, then after firstAgain, and each time
// after twice as long, up to mostAgain; after giveUp it is left as it is: by then it
// holds nothing any more.
const (
	firstAgain = 15 * time.Second
	mostAgain  = time.Hour
	giveUp     = 7 * 24 * time.Hour
	// goneAfter is for how long a thread must not be there before it counts as gone: a
	// replica may be behind, or issues be switched off for a while.
	goneAfter = time.Hour
)

// settle does what is left of a record, if it is due. The first failure is an error,
// the second is reported, and later ones are silent.
func (r *Reserver) settle(ctx context.Context, e *entry, do func(context.Context, *entry) error) error {
	now := r.o.Clock.Wall()
	if left := e.Next.Sub(now); 0 < left && left <= mostAgain { // more: the clock was set back
		return nil
	}
	err := do(ctx, e)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return err // we were told to stop
	}
	e.Tries++
	if e.Failing.IsZero() {
		e.Failing = now
	}
	if now.Sub(e.Failing) >= goneAfter && r.gone(ctx, e, err) {
		return e.remove()
	}
	if now.Sub(e.Failing) > giveUp {
		r.report(ctx, e, "given up", "what we left on the thread stays: "+oneLine(err))
		return errors.Join(err, e.remove())
	}
	e.Next = now.Add(distance(e.Tries))
	if e.Tries == 2 {
		r.report(ctx, e, "not cleared", oneLine(err))
	}
	saved := e.save()
	if e.Tries > 1 {
		err = nil
	}
	return errors.Join(err, saved)
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// distance is how long to wait after so many failures.
func distance(tries int) time.Duration {
	if tries < 2 {
		return 0
	}
	return min(firstAgain<<min(tries-2, 20), mostAgain)
}

// gone reports that a thread is no more: its forge says so, or shows its repository
// and not the thread. A 404 alone may mean that we may not see it.
func (r *Reserver) gone(ctx context.Context, e *entry, err error) bool {
	if !errors.Is(err, forge.ErrNotFound) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err = r.o.Thread.Thread(ctx, e.Ref)
	if !errors.Is(err, forge.ErrNotFound) {
		return false
	}
	if failed, ok := errors.AsType[*forge.Error](err); ok && failed.Status == http.StatusGone {
		return true
	}
	at, err := r.place(ctx, e.Ref)
	return err == nil && at == e.Place
}

// report tells the caller what a person may want to know of a reservation.
func (r *Reserver) report(ctx context.Context, e *entry, what, why string) {
	if r.o.Report != nil {
		r.o.Report(ctx, Report{Claim: e.Claim, Ref: e.Ref, Path: e.Marker.Path, Comment: e.Comment, What: what, Why: why})
	}
}
