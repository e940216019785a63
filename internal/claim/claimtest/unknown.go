package claimtest

import (
	"context"
	"errors"

	"github.com/oneslot/oneslot/internal/slot"
)

// unknownTests: "could not be asked" is an answer of its own (P8, C18).
func unknownTests() []test {
	return []test{
		{"P8/ACancelledCallNeverSaysFree", func(b *bench) {
			s, req := b.open(), b.supervised(b.ref(1))
			b.begin(s, req)
			ctx, cancel := context.WithCancel(b.ctx)
			cancel()
			b.unknown(ctx, s, true)
			if _, err := s.Check(b.ctx, req.Key); err != nil {
				b.Errorf("the holder after a stranger's cancelled calls: %v", err)
			}
			fresh := b.detached(b.ref(2))
			g, err := s.Acquire(ctx, fresh)
			n := b.look(s, fresh.Ref).Live()
			switch {
			case err == nil && (n == nil || n.Fence != g.Claim.Fence):
				b.Errorf("granted fence %d, but the slot has %+v", g.Claim.Fence, n)
			case err != nil && !errors.Is(err, slot.ErrUnknown):
				b.Errorf("acquire: %v; want unknown", err)
			}
			// Sent again with the same key it is granted, whatever came before.
			b.take(s, fresh)
		}},
		{"P8/AClosedStoreIsUnknown", func(b *bench) {
			s, req := b.open(), b.detached(b.ref(1))
			b.take(s, req)
			if err := s.Close(); err != nil {
				b.Fatalf("close: %v", err)
			}
			b.unknown(b.ctx, s, false)
			_, err := s.Release(b.ctx, req.Key, slot.Outcome{})
			if !errors.Is(err, slot.ErrUnknown) {
				b.Errorf("release: %v; want unknown", err)
			}
			_, err = s.Check(b.ctx, req.Key)
			if !errors.Is(err, slot.ErrUnknown) {
				b.Errorf("check: %v; want unknown", err)
			}
		}},
	}
}

// unknown asks about the held slot ref(1) where it cannot be asked. An answer
// that is given all the same (if it may be) must be the truth.
func (b *bench) unknown(ctx context.Context, s Store, may bool) {
	b.Helper()
	judge := func(what string, err error, truth bool) {
		b.Helper()
		if errors.Is(err, slot.ErrUnknown) || may && truth {
			return
		}
		b.Errorf("%s: %v; want unknown", what, err)
	}
	_, err := s.Acquire(ctx, b.detached(b.ref(1)))
	_, busy := errors.AsType[*slot.BusyError](err)
	judge("acquire", err, busy)
	l, err := s.Look(ctx, b.ref(1))
	judge("look", err, err == nil && l.Live() != nil)
	live, err := s.Live(ctx)
	judge("live", err, err == nil && len(live) == 1)
	runs, err := s.OpenRuns(ctx, b.ref(1))
	judge("open runs", err, err == nil && len(runs) == 1)
	ds, err := s.Decisions(ctx, b.ref(1))
	judge("decisions", err, err == nil && len(ds) > 0)
	_, err = s.Holds(ctx)
	judge("holds", err, err == nil)
}
