package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// desk is a store with its clock, and one ref with a pending item.
type desk struct {
	*testing.T
	ctx   context.Context
	clock *clock.Manual
	s     *Store
	q     *Queue
	n     int
}

func newDesk(t *testing.T) *desk {
	clk := clock.NewManual(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC))
	s, err := Open(filepath.Join(t.TempDir(), "state", "oneslot.db"), Options{Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // the test is over
	d := &desk{T: t, ctx: context.Background(), clock: clk, s: s, q: s.Queue()}
	d.accept()
	return d
}

func (d *desk) accept() {
	d.Helper()
	d.n++
	_, err := d.q.Accept(d.ctx, arrivalOf(ref(1), d.n))
	d.must("accept", err)
}

func (d *desk) must(what string, err error) {
	d.Helper()
	if err != nil {
		d.Fatalf("%s: %v", what, err)
	}
}

func (d *desk) item() queue.Item {
	d.Helper()
	items, err := d.q.Items(d.ctx, queue.Filter{Ref: ref(1)})
	if err != nil || len(items) != 1 {
		d.Fatalf("items: %+v, %v", items, err)
	}
	return items[0]
}

// claimed takes the slot for a run of the item, which begins it and, if that is
// wanted, starts.
func (d *desk) claimed(start bool) claim.Request {
	d.Helper()
	req := detached(ref(1))
	req.Kind, req.Run, req.Rule = slot.Supervised, claim.NewID(), "fix"
	_, err := d.s.Acquire(d.ctx, req)
	d.must("acquire", err)
	_, err = d.q.Begin(d.ctx, queue.Begin{Item: d.item().ID, Run: req.Run, Policy: d.item().Policy})
	d.must("begin", err)
	if start {
		_, err = d.s.Start(d.ctx, req.Key)
		d.must("start", err)
	}
	return req
}

// That an item was given up is on record, after the end of the run that did it: with
// its reason, how many runs there were, and what a person can do.
func TestP10_GivingUpIsOnRecord(t *testing.T) {
	exit := 3
	ends := map[string]func(d *desk, req claim.Request, out slot.Outcome) error{
		"by its supervisor": func(d *desk, req claim.Request, out slot.Outcome) error {
			_, err := d.s.Release(d.ctx, req.Key, out)
			return err
		},
		"by whoever cleared it": func(d *desk, req claim.Request, out slot.Outcome) error {
			return d.s.TreeGone(d.ctx, req.Run, out)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.must("no budget", d.s.do(d.ctx, "test", func(t *tx) error {
				return t.exec("UPDATE item SET policy = json_set(policy, '$.attempts', 1)")
			}))
			req := d.claimed(true)
			d.must("end", end(d, req, slot.Outcome{Result: slot.Failed, Exit: &exit}))
			if it := d.item(); it.State != queue.Dead {
				t.Fatalf("%+v; want it dead", it)
			}
			list, err := d.s.Decisions(d.ctx, ref(1))
			d.must("decisions", err)
			if len(list) < 2 {
				t.Fatalf("on record: %+v", list)
			}
			last, before := list[len(list)-1], list[len(list)-2]
			if last.Verdict != slot.Skip || last.Reason != queue.ReasonUnresolved || last.Run != req.Run || last.Path != req.Holder.Path ||
				last.Detail != "exit 3" || !strings.Contains(last.Next, "after a run") || !strings.Contains(last.Next, "oneslot retry") {
				t.Errorf("on record last: %+v", last)
			}
			if before.Verdict != slot.Ended || before.Run != req.Run {
				t.Errorf("on record before it: %+v; want the end of the run", before)
			}
		})
	}
}

// The end of a run and what it means for its item are one transaction, whichever
// way the run ends; and it is settled once.
func TestP4_TheEndOfARunSettlesItsItem(t *testing.T) {
	for _, tt := range []struct {
		name  string
		start bool
		end   func(d *desk, req claim.Request) error
		state queue.State
		spent int
	}{
		{"release", true, func(d *desk, req claim.Request) error {
			_, err := d.s.Release(d.ctx, req.Key, slot.Outcome{Result: slot.Done})
			return err
		}, queue.Idle, 0},
		{"release of a failure", true, func(d *desk, req claim.Request) error {
			_, err := d.s.Release(d.ctx, req.Key, slot.Outcome{Result: slot.Failed})
			return err
		}, queue.Pending, 1},
		{"park", true, func(d *desk, req claim.Request) error {
			_, err := d.s.Park(d.ctx, req.Key, slot.Outcome{Result: slot.Waits})
			return err
		}, queue.Idle, 0},
		{"its tree is gone", true, func(d *desk, req claim.Request) error {
			return d.s.TreeGone(d.ctx, req.Run, slot.Outcome{Result: slot.Vanish})
		}, queue.Pending, 1},
		{"gone before its start", false, func(d *desk, req claim.Request) error {
			return d.s.TreeGone(d.ctx, req.Run, slot.Outcome{Result: slot.Vanish})
		}, queue.Pending, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			req := d.claimed(tt.start)
			d.must("end", tt.end(d, req))
			it := d.item()
			if it.State != tt.state || it.Attempts != tt.spent || it.Run != "" {
				t.Errorf("%+v; want %s with %d attempts", it, tt.state, tt.spent)
			}
			d.must("the tree again", d.s.TreeGone(d.ctx, req.Run, slot.Outcome{Result: slot.Failed}))
			if was, err := d.q.Settle(d.ctx, req.Run, slot.Outcome{Result: slot.Failed}); was || err != nil {
				t.Errorf("settled again: %v, %v", was, err)
			}
			if again := d.item(); again.State != it.State || again.Attempts != it.Attempts {
				t.Errorf("settled twice: %+v", again)
			}
			_, err := d.q.Begin(d.ctx, queue.Begin{Item: it.ID, Run: req.Run, Policy: it.Policy})
			if err == nil {
				t.Error("a run that is over begins an item that nobody would settle")
			}
		})
	}
}

// P6: what was put off because of somebody's claim is due when that ends, also if it
// ended between the refusal and the deferral.
func TestP6_AFreedSlotWakesItsItems(t *testing.T) {
	d := newDesk(t)
	holder := detached(ref(1))
	_, err := d.s.Acquire(d.ctx, holder)
	d.must("acquire", err)
	held := slot.Decision{Path: "webhook", Verdict: slot.Defer, Reason: slot.ReasonHeld, Detail: "by a test"}
	hour := d.clock.Wall().Add(time.Hour)
	d.must("defer", d.q.Defer(d.ctx, d.item().ID, "", hour, held))
	if it := d.item(); !it.Due.Equal(hour) {
		t.Errorf("deferred until %v; want %v", it.Due, hour)
	}
	_, err = d.s.Release(d.ctx, holder.Key, slot.Outcome{Result: slot.Done})
	d.must("release", err)
	due := func(when string) {
		t.Helper()
		if it := d.item(); it.Due.After(d.clock.Wall()) || it.Defers == 0 {
			t.Errorf("%s: %+v; want it due", when, it)
		}
	}
	due("after the release")
	d.must("defer", d.q.Defer(d.ctx, d.item().ID, "", hour, held))
	due("deferred for a claim that has ended")
	hours := held
	hours.Reason = "hours"
	d.must("defer", d.q.Defer(d.ctx, d.item().ID, "", hour, hours))
	if it := d.item(); !it.Due.Equal(hour) {
		t.Error("what a gate put off does not wait for the slot")
	}
}

// The end of a person's pause wakes what it put off, of the ref or its repository.
func TestP6_TheEndOfAPauseWakesItsItems(t *testing.T) {
	for _, scope := range []string{ref(1).String(), ref(1).Repo()} {
		d := newDesk(t)
		d.must("hold", d.s.Hold(d.ctx, slot.Hold{Scope: scope}))
		d.must("defer", d.q.Defer(d.ctx, d.item().ID, "", d.clock.Wall().Add(time.Hour), slot.Decision{Verdict: slot.Defer, Reason: "hold: by a test"}))
		_, err := d.s.Unhold(d.ctx, scope)
		d.must("unhold", err)
		if it := d.item(); it.Due.After(d.clock.Wall()) {
			t.Errorf("%s: due %v", scope, it.Due)
		}
	}
}

// P10: a deferral every ten seconds is one record with a count.
func TestP10_EqualDeferralsAreOneRecord(t *testing.T) {
	d := newDesk(t)
	for range 20 {
		d.must("defer", d.q.Defer(d.ctx, d.item().ID, "", d.clock.Wall().Add(10*time.Second),
			slot.Decision{Path: "webhook", Verdict: slot.Defer, Reason: "systemd: busy", Detail: "by a test"}))
		d.clock.Advance(10 * time.Second)
	}
	ds, err := d.s.Decisions(d.ctx, ref(1))
	if err != nil || len(ds) != 1 || ds[0].Count != 20 || ds[0].Reason != "systemd: busy" {
		t.Errorf("decisions: %+v, %v", ds, err)
	}
}

// P10: what nobody wants is told by `why`.
func TestP10_IgnoredIsOnRecord(t *testing.T) {
	d := newDesk(t)
	a := arrivalOf(ref(2), 1000)
	a.Wishes[0].Policies, a.Wishes[0].Ignored = nil, "no rule wants it"
	for range 2 {
		_, err := d.q.Accept(d.ctx, a)
		d.must("accept", err)
	}
	ds, err := d.s.Decisions(d.ctx, ref(2))
	if err != nil || len(ds) != 1 || ds[0].Count != 2 || ds[0].Verdict != slot.Skip || ds[0].Reason != "ignored" || ds[0].Detail != "ci_failed: no rule wants it" {
		t.Errorf("decisions: %+v, %v", ds, err)
	}
}

// P6: the end of any claim makes room, and another process's is told as well.
func TestP6_AReleaseWakesWhoWorksTheQueue(t *testing.T) {
	d := newDesk(t)
	woken, _, err := d.q.Woken(d.ctx)
	d.must("woken", err)
	other, err := Open(d.s.Path(), Options{Clock: d.clock})
	d.must("open", err)
	defer other.Close()
	req := detached(ref(2))
	_, err = other.Acquire(d.ctx, req)
	d.must("acquire", err)
	_, err = other.Release(d.ctx, req.Key, slot.Outcome{Result: slot.Done})
	d.must("release", err)
	select {
	case <-woken:
	case <-time.After(10 * time.Second):
		t.Error("nobody was woken")
	}
	// One that was killed is in nobody's way.
	d.must("close", d.s.Close())
	d.must("remove", os.RemoveAll(filepath.Join(d.s.Dir(), "wait")))
	_, err = other.Queue().Accept(d.ctx, arrivalOf(ref(3), 99))
	d.must("accept without a listener", err)
}

// A file of the program before the queue is brought up to date by the first write,
// under the claims that it holds.
func TestUpgrade_AStoreWithoutAQueue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oneslot.db")
	db, err := sql.Open("sqlite", dsn(path, "rwc", syncsAll, "_pragma=journal_mode(wal)"))
	if err != nil {
		t.Fatal(err)
	}
	clk := clock.NewManual(time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC))
	for _, q := range []string{
		schema1,
		"INSERT INTO meta (one, version, min_program, boot) VALUES (1, 1, 1, 'boot-1')",
		"INSERT INTO slot (slug, ref, live, claim, kind, phase, boot, deadline, ttl, program) VALUES ('" +
			ref(7).Slug() + "', '" + ref(7).String() + "', 1, 'x', 'supervised', 'running', 'boot-1', 9e18, 9e18, 1)",
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, Options{Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Queue().Accept(context.Background(), arrivalOf(ref(1), 1)); err != nil {
		t.Fatal(err)
	}
	if live, err := s.Live(context.Background()); err != nil || len(live) != 1 {
		t.Errorf("live: %+v, %v; want the older program's", live, err)
	}
}

// A gate's unbroken row of failures is remembered across handles, per ref.
func TestGateMemory(t *testing.T) {
	d := newDesk(t)
	m, at := d.s.GateMemory(), d.clock.Wall()
	failed := func(r slot.Ref, at, want time.Time) {
		t.Helper()
		since, err := m.Failed(d.ctx, "http", r, at)
		if err != nil || !since.Equal(want) {
			t.Errorf("failing since %v, %v; want %v", since, err, want)
		}
	}
	failed(ref(1), at, at)
	failed(ref(1), at.Add(time.Minute), at)
	failed(ref(2), at.Add(time.Minute), at.Add(time.Minute))
	d.must("answered", m.Answered(d.ctx, "http", ref(1)))
	d.must("answered", m.Answered(d.ctx, "docker", ref(2)))
	failed(ref(1), at.Add(2*time.Minute), at.Add(2*time.Minute))
	failed(ref(2), at.Add(2*time.Minute), at.Add(time.Minute))
}

// An item that nothing waits for is put to rest: it would be picked for ever.
func TestAnItemWithoutEventsComesToRest(t *testing.T) {
	for name, take := range map[string]func(d *desk) error{
		"begin": func(d *desk) error {
			_, err := d.q.Begin(d.ctx, queue.Begin{Item: d.item().ID, Run: "run-x", Policy: d.item().Policy})
			return err
		},
		"claim": func(d *desk) error {
			req := detached(ref(1))
			_, _, err := d.q.AcquireFor(d.ctx, req, queue.Begin{Item: d.item().ID, Run: "run-x", Policy: d.item().Policy})
			return err
		},
		"drop": func(d *desk) error {
			list, err := d.q.Drop(d.ctx, queue.Drop{Ref: ref(1)})
			if err == nil && len(list) == 0 {
				err = queue.ErrStale
			}
			return err
		},
		"revive": func(d *desk) error {
			list, err := d.q.Revive(d.ctx, ref(1), nil)
			if err == nil && len(list) == 0 {
				err = queue.ErrStale
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.must("drop", d.s.do(d.ctx, "drop", func(t *tx) error { return t.exec("DELETE FROM event") }))
			if err := take(d); !errors.Is(err, queue.ErrStale) {
				t.Errorf("%v; want stale", err)
			}
			if it := d.item(); it.State != queue.Idle {
				t.Errorf("%+v; want it idle", it)
			}
			if looks, err := d.q.Pick(d.ctx, 1, nil, nil); err != nil || len(looks) != 0 {
				t.Errorf("picked %+v, %v", looks, err)
			}
		})
	}
}

// P10: all that is dropped of a ref is one decision, and who works the queue hears of
// it; where nothing was to be dropped there is none.
func TestP10_ADropIsOneDecision(t *testing.T) {
	d := newDesk(t)
	more := arrivalOf(ref(1), 2)
	more.Wishes[0].Policies[0].Rule = "other"
	_, err := d.q.Accept(d.ctx, more)
	d.must("accept", err)
	woken, _, err := d.q.Woken(d.ctx)
	d.must("woken", err)
	for again := range 2 {
		list, err := d.q.Drop(d.ctx, queue.Drop{Ref: ref(1), Path: slot.PathManual, By: "ann@desk", Reason: "done by hand"})
		d.must("drop", err)
		if len(list) != 2*(1-again) {
			t.Errorf("dropped %+v", list)
		}
		ds, err := d.s.Decisions(d.ctx, ref(1))
		d.must("decisions", err)
		if len(ds) != 1 || ds[0].Count != 1 || ds[0].Verdict != slot.Skip || ds[0].Reason != queue.ReasonDropped ||
			ds[0].Path != slot.PathManual || ds[0].Detail != "by ann@desk: done by hand" || ds[0].Next == "" {
			t.Errorf("on record: %+v", ds)
		}
	}
	select {
	case <-woken:
	case <-time.After(5 * time.Second):
		t.Error("nobody was woken")
	}
	if due, err := d.q.NextDue(d.ctx, nil, nil); err != nil || !due.IsZero() {
		t.Errorf("something is due at %v, %v", due, err)
	}
}

// P6: who works the queue hears what its own process accepts, whoever else is told.
func TestP6_OnesOwnAcceptsAreHeard(t *testing.T) {
	d := newDesk(t)
	woken, renew, err := d.q.Woken(d.ctx)
	d.must("woken", err)
	other, err := Open(d.s.Path(), Options{Clock: d.clock})
	d.must("open", err)
	defer other.Close()
	_, _, err = other.Queue().Woken(d.ctx)
	d.must("woken, elsewhere", err)
	heard := func(what string) {
		t.Helper()
		select {
		case <-woken:
		case <-time.After(10 * time.Second):
			t.Errorf("nobody heard %s", what)
		}
	}
	heard("that another is told instead")
	_, err = d.q.Accept(d.ctx, arrivalOf(ref(2), 98))
	d.must("accept here", err)
	heard("what was accepted here")
	d.must("renew", renew(d.ctx))
	_, err = other.Queue().Accept(d.ctx, arrivalOf(ref(3), 99))
	d.must("accept elsewhere", err)
	heard("what was accepted elsewhere, after renew")
}

// P10: a deferral for a refusal that is on record adds nothing to it.
func TestP10_ARefusalIsRecordedOnce(t *testing.T) {
	d := newDesk(t)
	holder := detached(ref(1))
	_, err := d.s.Acquire(d.ctx, holder)
	d.must("acquire", err)
	for range 3 {
		_, err := d.s.Acquire(d.ctx, detached(ref(1)))
		var busy *slot.BusyError
		if !errors.As(err, &busy) {
			t.Fatal(err)
		}
		d.must("defer", d.q.Defer(d.ctx, d.item().ID, "", d.clock.Wall().Add(time.Second), slot.Decision{Reason: busy.Reason}))
	}
	ds, err := d.s.Decisions(d.ctx, ref(1))
	if err != nil || len(ds) != 2 || ds[1].Count != 3 || d.item().Reason != slot.ReasonHeld {
		t.Errorf("%+v, %v; want the grant and one refusal", ds, err)
	}
}
