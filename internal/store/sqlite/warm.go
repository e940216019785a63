package sqlite

import (
	"context"
	"errors"
	"math"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Warm opens the file for writing and prepares what comes first. It changes nothing,
// so nothing is synced; whatever fails is told by the steps themselves.
func (s *Store) Warm(ctx context.Context) {
	_, _ = s.Start(ctx, claim.Key{Claim: "none." + claim.NewID()})
}

// Rehearse takes all steps of a run in a transaction that is given up, so that those
// of a real one find all at hand: statements, pages, memory, the -wal. Meanwhile nobody
// else writes, for some milliseconds.
func (s *Store) Rehearse(ctx context.Context) {
	_ = s.do(ctx, "rehearse", func(t *tx) error {
		// Whoever rehearses has or is a daemon, and that moves the -wal into the file.
		if err := t.exec("PRAGMA wal_autocheckpoint = " + moveLast); err != nil {
			return err
		}
		return errors.Join(t.rehearse(), errGivenUp)
	})
	// The first commit of a process costs more than the next ones. This one says what is so already.
	_ = s.do(ctx, "rehearse", func(t *tx) error { return t.exec("UPDATE meta SET boot = boot") })
}

var errGivenUp = errors.New("it was a rehearsal")

// rehearse is a run from its claim to its release.
func (t *tx) rehearse() error {
	ref, err := slot.ParseCanonical("key:rehearsal")
	if err != nil {
		return err
	}
	key, run := claim.NewKey(ref), "none."+claim.NewID()
	_, refused, err := t.acquire(claim.Request{Ref: ref, Key: key, Kind: slot.Supervised, Run: run, TTL: slot.MinTTL,
		Limits: claim.Limits{Running: math.MaxInt32, PerRef: math.MaxInt32, Window: 1}})
	if err != nil || refused != nil {
		return errors.Join(err, refused)
	}
	r, err := t.find(ref.Slug())
	if err != nil || r == nil {
		return err
	}
	w := &work{slot: r.id, Item: queue.Item{Ref: ref, State: queue.Running, Run: run}}
	if err := t.save(w); err != nil {
		return err
	}
	if _, refused, err = t.start(key); err != nil || refused != nil {
		return errors.Join(err, refused)
	}
	_, refused, err = t.release(key, slot.Outcome{Result: slot.Done})
	return errors.Join(err, refused)
}
