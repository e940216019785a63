package reserve

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/forge"
)

const (
	// patience bounds a question to the forge that nothing else bounds, and a
	// withdrawal after the caller has gone.
	patience = 30 * time.Second
	// lateIn is how long a request may be on its way after its sender gave it up: a
	// comment that was posted so may still turn up.
	lateIn = 10 * time.Minute
)

// pause waits for a boot time. Short steps: a machine that wakes from suspend does
// not wake the timers that were due meanwhile.
func (r *Reserver) pause(ctx context.Context, until time.Duration) error {
	for {
		left := until - r.o.Clock.Boot()
		if left <= 0 {
			return context.Cause(ctx)
		}
		timer := time.NewTimer(min(left, time.Second))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// neverDone reports whether the forge itself said no, so that nothing was done and
// another try is no use now.
func neverDone(err error) bool {
	for _, no := range []error{
		forge.ErrNotFound, forge.ErrForbidden, forge.ErrUnauthorized, forge.ErrLimited, forge.ErrUnsupported, forge.ErrRefused,
	} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// newID names a new reservation: 130 random bits.
func newID() string { return strings.ToLower(rand.Text()) }

// The moments at which tests kill a contender.
const (
	afterNote = failpoint.AfterReserveNote
	afterPost = failpoint.AfterReservePost
	afterEdit = failpoint.AfterReserveEdit
	afterLock = failpoint.AfterReserveLock
)

func hit(name string) { failpoint.Hit(name) }
