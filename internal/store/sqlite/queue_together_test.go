package sqlite

import (
	"errors"
	"testing"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// forItem asks for the slot of the desk's item.
func (d *desk) forItem() (claim.Request, queue.Begin) {
	req := detached(ref(1))
	req.Kind, req.Run, req.Rule = slot.Supervised, claim.NewID(), "fix"
	return req, queue.Begin{Item: d.item().ID, Run: req.Run, Policy: d.item().Policy}
}

// P1, P5: the slot is taken and the item begun in one step, or neither.
func TestAcquireFor_BothOrNeither(t *testing.T) {
	d := newDesk(t)
	d.accept()
	req, begin := d.forItem()
	g, l, err := d.q.AcquireFor(d.ctx, req, begin)
	d.must("the first", err)
	if g.Claim.ID != req.Key.Claim || l.Item.Run != req.Run || len(l.Events) != 2 || l.Events[1].Run != req.Run {
		t.Errorf("%+v with %+v", g, l)
	}
	if it := d.item(); it.State != queue.Running || it.Run != req.Run {
		t.Errorf("the item: %+v", it)
	}
	second, begin := d.forItem()
	if _, _, err := d.q.AcquireFor(d.ctx, second, begin); !errors.Is(err, queue.ErrStale) {
		t.Errorf("an item that somebody has in hand: %v", err)
	}
	_, err = d.s.Release(d.ctx, req.Key, slot.Outcome{Result: slot.NoStart, Unspent: true})
	d.must("release", err)
	begin.Item++
	if _, _, err := d.q.AcquireFor(d.ctx, second, begin); !errors.Is(err, queue.ErrStale) {
		t.Errorf("an item that there is not: %v", err)
	}
	if s, err := d.s.Look(d.ctx, ref(1)); err != nil || s.Live() != nil {
		t.Errorf("the slot was taken for no item: %+v, %v", s, err)
	}
}

// P6, P10: a held slot refuses, on record, and the item waits as before.
func TestAcquireFor_BusySlot(t *testing.T) {
	d := newDesk(t)
	_, err := d.s.Acquire(d.ctx, detached(ref(1)))
	d.must("somebody else", err)
	before := d.item()
	req, begin := d.forItem()
	var busy *slot.BusyError
	if _, _, err := d.q.AcquireFor(d.ctx, req, begin); !errors.As(err, &busy) {
		t.Fatalf("a held slot: %v", err)
	}
	if it := d.item(); it.State != queue.Pending || it.Run != "" || it.Attempts != before.Attempts {
		t.Errorf("the item: %+v", it)
	}
	list, err := d.s.Decisions(d.ctx, ref(1))
	if err != nil || len(list) == 0 || list[len(list)-1].Reason != slot.ReasonHeld {
		t.Errorf("decisions: %+v, %v", list, err)
	}
}

// A rehearsal leaves nothing behind, not even of its own slot.
func TestRehearse_ChangesNothing(t *testing.T) {
	d := newDesk(t)
	count := func() (n int) {
		err := d.s.read.QueryRowContext(d.ctx, `SELECT (SELECT count(*) FROM slot) + (SELECT count(*) FROM run) +
			(SELECT count(*) FROM item) + (SELECT count(*) FROM event) + (SELECT count(*) FROM decision)`).Scan(&n)
		d.must("count", err)
		return n
	}
	before := count()
	if err := d.s.do(d.ctx, "rehearse", func(t *tx) error { return t.rehearse() }); err != nil {
		t.Fatalf("its steps: %v", err)
	}
	if count() == before {
		t.Error("its steps do nothing")
	}
	before = count()
	d.s.Warm(d.ctx)
	d.s.Rehearse(d.ctx)
	if n := count(); n != before {
		t.Errorf("%d rows, there were %d", n, before)
	}
	d.claimed(true) // and the writer goes on
}
