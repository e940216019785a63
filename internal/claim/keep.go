package claim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// Keep renews a claim for as long as ctx lives. The context it returns ends
// when the claim is lost, or before its time is over if it could not be renewed:
// its cause then matches slot.ErrLost or slot.ErrUnknown. asked is the boot time
// just before the claim was asked for, ttl what was granted. stop ends the
// renewals and waits for the last one.
func Keep(ctx context.Context, s Store, clk clock.Clock, key Key, asked, ttl time.Duration) (kept context.Context, stop func()) {
	kept, cancel := context.WithCancelCause(ctx)
	k := &keeping{store: s, clk: clk, key: key, answers: make(chan renewal, 1)}
	k.granted(asked, ttl)
	done := make(chan struct{})
	go func() {
		defer close(done)
		cancel(k.keep(kept))
		k.asks.Wait()
	}()
	return kept, func() {
		cancel(context.Canceled)
		<-done
	}
}

// keeping is one claim being kept. Its times are boot time.
type keeping struct {
	store Store
	clk   clock.Clock
	key   Key

	ttl, deadline, due time.Duration

	// A store may hold an answer back for as long as its disk hangs, whatever
	// the context says, so that nobody waits for one here.
	answers chan renewal
	asks    sync.WaitGroup
	sent    time.Duration // of the question under way; 0 for none
	failed  error         // of the last question
}

type renewal struct {
	lease Lease
	err   error
}

func (k *keeping) granted(sent, ttl time.Duration) {
	k.ttl, k.deadline, k.due = ttl, sent+ttl, sent+ttl/3
}

func (k *keeping) keep(ctx context.Context) error {
	for {
		// Short steps: a machine that wakes from suspend does not wake the
		// timers that were due meanwhile.
		timer := time.NewTimer(min(max(k.ttl/32, 10*time.Millisecond), time.Second))
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case a := <-k.answers:
			timer.Stop()
			if err := k.heard(a); err != nil {
				return err
			}
		case <-timer.C:
		}
		now := k.clk.Boot()
		if err := k.late(now); err != nil {
			return err
		}
		if k.sent == 0 && now >= k.due {
			k.ask(ctx, now)
		}
	}
}

func (k *keeping) ask(ctx context.Context, now time.Duration) {
	k.sent = now
	k.asks.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, max(k.deadline-now, lateMax))
		defer cancel()
		lease, err := k.store.Renew(ctx, k.key)
		k.answers <- renewal{lease, err}
	})
}

func (k *keeping) heard(a renewal) error {
	sent := k.sent
	k.sent, k.failed = 0, a.err
	switch {
	case a.err == nil:
		k.granted(sent, a.lease.TTL)
	case errors.Is(a.err, slot.ErrLost):
		return a.err
	default:
		k.due = k.clk.Boot() + min(max(k.ttl/10, 20*time.Millisecond), 5*time.Second)
	}
	return nil
}

// lateMax is how long the answer to a question may take that could only be
// asked when the time was over, after a suspend: the record may be the newest.
const lateMax = time.Second

// late gives up when the time is nearly over and nothing good was heard.
func (k *keeping) late(now time.Duration) error {
	end := k.deadline - k.ttl/20
	switch {
	case now < end, k.sent >= end && now < k.sent+lateMax:
		return nil
	case k.failed != nil:
		return k.failed
	case k.sent != 0:
		return fmt.Errorf("%w: the claim could not be renewed in time: no answer", slot.ErrUnknown)
	}
	return nil
}
