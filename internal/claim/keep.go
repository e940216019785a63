package claim

import (
	"context"
	"errors"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// Keep renews a claim for as long as ctx lives. The context it returns ends
// when the claim is lost, or when it could not be renewed in time: its cause
// then matches slot.ErrLost or slot.ErrUnknown. asked is the boot time just
// before the claim was asked for, ttl what was granted. stop ends the renewals
// and waits for the last one.
func Keep(ctx context.Context, s Store, clk clock.Clock, key Key, asked, ttl time.Duration) (kept context.Context, stop func()) {
	kept, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		cancel(keep(kept, s, clk, key, asked, ttl))
	}()
	return kept, func() {
		cancel(context.Canceled)
		<-done
	}
}

func keep(ctx context.Context, s Store, clk clock.Clock, key Key, asked, ttl time.Duration) error {
	deadline, due := asked+ttl, asked+ttl/3
	for {
		// Short steps: a machine that wakes from suspend does not wake the
		// timers that were due meanwhile.
		step := min(max(due-clk.Boot(), 0), max(ttl/16, 20*time.Millisecond), time.Second)
		timer := time.NewTimer(step)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
		sent := clk.Boot()
		if sent < due {
			continue
		}
		lease, err := renewBefore(ctx, s, key, deadline-sent)
		switch {
		case err == nil:
			ttl, deadline, due = lease.TTL, sent+lease.TTL, sent+lease.TTL/3
		case errors.Is(err, slot.ErrLost):
			return err
		case clk.Boot() >= deadline-ttl/20:
			return err
		default:
			due = clk.Boot() + min(max(ttl/10, 20*time.Millisecond), 5*time.Second)
			due = min(due, deadline-ttl/20)
		}
	}
}

// renewBefore gives up on an answer that would come too late to count. After a
// suspend that outlasted the claim it still asks: the record may be the newest.
func renewBefore(ctx context.Context, s Store, key Key, left time.Duration) (Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, max(left, time.Second))
	defer cancel()
	return s.Renew(ctx, key)
}
