package claim

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
)

// renewer is a store of which only Renew is asked.
type renewer struct {
	Store
	renew func(context.Context) (Lease, error)
}

func (r renewer) Renew(ctx context.Context, _ Key) (Lease, error) { return r.renew(ctx) }

// A store whose disk hangs gives no answer, whatever the context says; one that
// is slow gives it when the context is over. The claim ends in time all the same.
func TestKeep_EndsBeforeTheClaimDoes(t *testing.T) {
	for name, renew := range map[string]func(ctx context.Context, hang chan struct{}){
		"hangs": func(_ context.Context, hang chan struct{}) { <-hang },
		"slow":  func(ctx context.Context, _ chan struct{}) { <-ctx.Done() },
		"fails": func(context.Context, chan struct{}) {},
	} {
		t.Run(name, func(t *testing.T) {
			clk, err := clock.System()
			if err != nil {
				t.Fatal(err)
			}
			const ttl = time.Second
			asked, hang := clk.Boot(), make(chan struct{})
			kept, stop := Keep(t.Context(), renewer{renew: func(ctx context.Context) (Lease, error) {
				renew(ctx, hang)
				return Lease{}, slot.ErrUnknown
			}}, clk, Key{}, asked, ttl)
			defer stop()
			defer close(hang)
			select {
			case <-kept.Done():
			case <-time.After(3 * ttl):
				t.Fatal("the context outlives the claim")
			}
			if took := clk.Boot() - asked; took >= ttl {
				t.Errorf("it ended after %v of %v", took, ttl)
			}
			if cause := context.Cause(kept); !errors.Is(cause, slot.ErrUnknown) {
				t.Errorf("cause: %v", cause)
			}
		})
	}
}

// After a suspend that outlasted the claim, the record may still be the newest.
func TestKeep_AsksAfterASuspend(t *testing.T) {
	clk := clock.NewManual(time.Now())
	var asks atomic.Int32
	kept, stop := Keep(t.Context(), renewer{renew: func(context.Context) (Lease, error) {
		asks.Add(1)
		return Lease{TTL: time.Second}, nil
	}}, clk, Key{}, clk.Boot(), time.Second)
	defer stop()
	clk.Suspend(time.Hour)
	for until := time.Now().Add(5 * time.Second); asks.Load() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("it was not asked")
		}
	}
	time.Sleep(100 * time.Millisecond)
	if kept.Err() != nil {
		t.Errorf("the claim was given up: %v", context.Cause(kept))
	}
}
