package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// leading covers ref(n) with a supervised claim of ref(33).
func (d *desk) leading(also ...int) claim.Request {
	d.Helper()
	req := detached(ref(33))
	req.Kind, req.Run = slot.Supervised, claim.NewID()
	for _, n := range also {
		req.Also = append(req.Also, ref(n))
	}
	return req
}

// P6: work that was put off because of a claim is due when that ends: a lead's, for
// what it covers; anybody's, for a lead that would cover the slot. Put off again
// while it is held, it stays so.
func TestP6_CoversWakeTheirItems(t *testing.T) {
	d := newDesk(t)
	held := slot.Decision{Path: "webhook", Verdict: slot.Defer, Reason: slot.ReasonHeld, Detail: "by a test"}
	hour := d.clock.Wall().Add(time.Hour)
	due := func(when string, of slot.Ref, want bool) {
		t.Helper()
		items, err := d.q.Items(d.ctx, queue.Filter{Ref: of})
		if err != nil || len(items) != 1 || items[0].Due.After(d.clock.Wall()) == want {
			t.Errorf("%s: %+v, %v; want it due: %v", when, items, err, want)
		}
	}
	lead := d.leading(1)
	_, err := d.s.Acquire(d.ctx, lead)
	d.must("acquire", err)
	d.must("defer", d.q.Defer(d.ctx, d.item().ID, "", hour, held))
	due("under the lead", ref(1), false)
	_, err = d.s.Release(d.ctx, lead.Key, slot.Outcome{Result: slot.Done})
	d.must("release", err)
	due("after the lead", ref(1), true)

	// The other way round: the issue is at work when the pull request is wanted.
	issue := detached(ref(1))
	_, err = d.s.Acquire(d.ctx, issue)
	d.must("acquire", err)
	_, err = d.q.Accept(d.ctx, arrivalOf(ref(33), 1))
	d.must("accept", err)
	items, err := d.q.Items(d.ctx, queue.Filter{Ref: ref(33)})
	d.must("items", err)
	lead = d.leading(1)
	begin := queue.Begin{Item: items[0].ID, Run: lead.Run, Policy: items[0].Policy}
	if _, _, err := d.q.AcquireFor(d.ctx, lead, begin); !slot.IsRefusal(err) {
		t.Fatalf("beside the issue: %v", err)
	}
	d.must("defer", d.q.Defer(d.ctx, items[0].ID, "", hour, held))
	due("beside the issue", ref(33), false)
	_, err = d.s.Release(d.ctx, issue.Key, slot.Outcome{Result: slot.Done})
	d.must("release", err)
	due("after the issue", ref(33), true)
	g, look, err := d.q.AcquireFor(d.ctx, lead, begin)
	if err != nil || len(g.Claim.Also) != 1 || look.Item.State != queue.Running {
		t.Fatalf("claimed for the item: %+v, %+v, %v", g, look.Item, err)
	}
}

// A program that knows of no covers does not get a covered slot: for it that is a
// fault, and not a free slot. The lead goes on.
func TestUpgrade_AnOlderProgramTakesNoCoveredSlot(t *testing.T) {
	d := newDesk(t)
	lead := d.leading(1)
	_, err := d.s.Acquire(d.ctx, lead)
	d.must("acquire", err)
	older := func() error { // what it does to take a slot that looks free to it
		return d.s.do(d.ctx, "claim", func(t *tx) error {
			return t.exec(`INSERT INTO slot (slug, ref, fence, live, claim) VALUES (?, ?, 1, 1, 'older')
				ON CONFLICT (slug) DO UPDATE SET live = 1, claim = excluded.claim WHERE slot.live = 0`, ref(1).Slug(), ref(1).String())
		})
	}
	if err := older(); !errors.Is(err, slot.ErrUnknown) {
		t.Errorf("an older program takes a covered slot: %v", err)
	}
	_, err = d.s.Renew(d.ctx, lead.Key)
	d.must("renew", err)
	_, err = d.s.Release(d.ctx, lead.Key, slot.Outcome{Result: slot.Done})
	d.must("release", err)
	d.must("an older program takes the free slot", older())
}

// A file of the program before is read as it is, and brought up to date by the first
// write.
func TestUpgrade_AStoreWithoutCovers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oneslot.db")
	db, err := sql.Open("sqlite", dsn(path, "rwc", syncsAll, "_pragma=journal_mode(wal)"))
	if err != nil {
		t.Fatal(err)
	}
	clk := clock.NewManual(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC))
	for _, q := range []string{
		schema1, schema2,
		"INSERT INTO meta (one, version, min_program, boot) VALUES (1, 2, 1, 'boot-1')",
		"INSERT INTO slot (slug, ref) VALUES ('" + ref(7).Slug() + "', '" + ref(7).String() + "')",
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(db.Close(), os.Chmod(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, Options{Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	read := func() {
		t.Helper()
		_, look := s.Look(ctx, ref(7))
		_, live := s.Live(ctx)
		_, open := s.OpenRuns(ctx, ref(7))
		_, items := s.Queue().Items(ctx, queue.Filter{})
		_, cursor := s.Cursor(ctx, "x")
		_, name := s.Canonical(ctx, "github.com/o/r")
		_, now := s.Current(ctx, "github.com/o/r")
		if err := errors.Join(look, live, open, items, cursor, name, now); err != nil {
			t.Error(err)
		}
	}
	read()
	if v, _, err := s.Schema(ctx); err != nil || v != 2 {
		t.Errorf("reading brought it to version %d, %v", v, err)
	}
	req := detached(ref(33))
	req.Also = []slot.Ref{ref(7)}
	if _, err := s.Acquire(ctx, req); err != nil {
		t.Fatal(err)
	}
	read()
	if l, err := s.Look(ctx, ref(7)); err != nil || l.Live() == nil || l.Live().ID != req.Key.Claim {
		t.Errorf("a look at what is covered: %+v, %v", l, err)
	}
}
