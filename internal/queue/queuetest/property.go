package queuetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Interleave checks P4, P5 and P6 over random orders of all that can happen to
// work items.
func Interleave(t *testing.T, open func(testing.TB) Harness) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{T: rt, Harness: open(t), ctx: context.Background(), live: map[int64][]string{}, told: map[string][]string{}}
		rt.Repeat(map[string]func(*rapid.T){
			"":        func(rt *rapid.T) { w.T = rt; w.check() },
			"accept":  func(rt *rapid.T) { w.T = rt; w.accept() },
			"begin":   func(rt *rapid.T) { w.T = rt; w.begin() },
			"settle":  func(rt *rapid.T) { w.T = rt; w.settle() },
			"put off": func(rt *rapid.T) { w.T = rt; w.putOff() },
			"skip":    func(rt *rapid.T) { w.T = rt; w.skip() },
			"kill":    func(rt *rapid.T) { w.T = rt; w.kill() },
			"revive":  func(rt *rapid.T) { w.T = rt; w.revive() },
			"drop":    func(rt *rapid.T) { w.T = rt; w.drop() },
			"later":   func(rt *rapid.T) { w.Clock.Advance(time.Duration(rapid.IntRange(1, 100).Draw(rt, "s")) * time.Second) },
		})
		w.T = rt
		w.finish()
	})
}

// world is what the test knows by itself: the events that have not ended, by item,
// and what each run was told of.
type world struct {
	*rapid.T
	Harness
	ctx  context.Context
	live map[int64][]string
	told map[string][]string
	n    int
}

func (w *world) fatal(what string, err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("%s: %v", what, err)
	}
}

func (w *world) items(s queue.State) []queue.Item {
	w.Helper()
	items, err := w.Store.Items(w.ctx, queue.Filter{State: string(s)})
	w.fatal("items", err)
	return items
}

// one draws an item that is in the state.
func (w *world) one(s queue.State) queue.Item {
	w.Helper()
	items := w.items(s)
	if len(items) == 0 {
		w.Skip("there is none")
	}
	return items[rapid.IntRange(0, len(items)-1).Draw(w.T, "item")]
}

func (w *world) accept() {
	w.n++
	e := slot.Event{Path: slot.PathWebhook, Kind: slot.CIFailed, Sha: rapid.SampledFrom([]string{"aaaa", "bbbb"}).Draw(w.T, "sha"), Fingerprint: fmt.Sprint(w.n)}
	if rapid.IntRange(0, 5).Draw(w.T, "person") == 0 {
		e.Path, e.Fingerprint = slot.PathManual, ""
	}
	var err error
	e.Ref, err = slot.ParseCanonical(rapid.SampledFrom([]string{"github.com/o/r#1", "github.com/o/r#2", "key:k"}).Draw(w.T, "ref"))
	w.fatal("ref", err)
	p := policy("fix")
	p.Quiet = time.Second
	done, err := w.Store.Accept(w.ctx, queue.Arrival{Wishes: []queue.Wish{{Event: e, Policies: []queue.Policy{p}}}})
	w.fatal("accept", err)
	if i := done[0].Intake; i != slot.Queued && i != slot.Coalesced {
		w.Fatalf("a new event is %s", i)
	}
	items, err := w.Store.Items(w.ctx, queue.Filter{Ref: e.Ref})
	w.fatal("items", err)
	w.live[items[0].ID] = append(w.live[items[0].ID], done[0].Event.ID)
}

// begin checks that a run is told of all that has not ended, the newest last: P4, P5.
func (w *world) begin() {
	it := w.one(queue.Pending)
	w.n++
	run := fmt.Sprintf("run-%d", w.n)
	l, err := w.Store.Begin(w.ctx, queue.Begin{Item: it.ID, Run: run, Policy: it.Policy})
	w.fatal("begin", err)
	for _, r := range l.Events {
		w.told[run] = append(w.told[run], r.ID)
	}
	if !slices.Equal(w.told[run], w.live[it.ID]) {
		w.Fatalf("the run is told of %v; want %v", w.told[run], w.live[it.ID])
	}
}

func (w *world) settle() {
	it := w.one(queue.Running)
	w.end(it, slot.Outcome{
		Result:  rapid.SampledFrom([]slot.Result{slot.Done, slot.Failed, slot.Later, slot.Waits, slot.Stopped, slot.Vanish, slot.Lost}).Draw(w.T, "result"),
		Unspent: rapid.IntRange(0, 9).Draw(w.T, "unspent") == 0,
	})
}

func (w *world) end(it queue.Item, out slot.Outcome) {
	told := w.told[it.Run]
	newer := !slices.Equal(w.left(it.ID, told), nil)
	was, err := w.Store.Settle(w.ctx, it.Run, out)
	if err != nil || !was {
		w.Fatalf("settle: %v, %v", was, err)
	}
	if !out.Unspent && (out.Result == slot.Done || out.Result == slot.Stopped) {
		w.live[it.ID] = w.left(it.ID, told)
	}
	now := w.read(it.ID)
	if newer && now.State != queue.Pending {
		w.Fatalf("P5: events came during the run, and then the item is %s", now.State)
	}
	if was, err := w.Store.Settle(w.ctx, it.Run, out); err != nil || was {
		w.Fatalf("settled twice: %v, %v", was, err)
	}
}

// left is what has not ended of an item but for some.
func (w *world) left(item int64, but []string) (left []string) {
	for _, id := range w.live[item] {
		if !slices.Contains(but, id) {
			left = append(left, id)
		}
	}
	return left
}

func (w *world) read(item int64) queue.Item {
	w.Helper()
	l, err := w.Store.Look(w.ctx, item)
	w.fatal("look", err)
	return l.Item
}

// inHand draws an item that is pending, or begun by a run.
func (w *world) inHand() queue.Item {
	w.Helper()
	return w.one(rapid.SampledFrom([]queue.State{queue.Pending, queue.Running}).Draw(w.T, "state"))
}

func (w *world) putOff() {
	it := w.inHand()
	w.fatal("defer", w.Store.Defer(w.ctx, it.ID, it.Run, w.Clock.Wall().Add(time.Minute), deferral("systemd: busy")))
	now := w.read(it.ID)
	if it.State == queue.Pending && (now.Attempts != it.Attempts || now.Laters != it.Laters) || now.Attempts > it.Attempts || now.State != queue.Pending {
		w.Fatalf("P6: %+v was deferred into %+v", it, now)
	}
}

func (w *world) skip() {
	it := w.inHand()
	l, err := w.Store.Look(w.ctx, it.ID)
	w.fatal("look", err)
	if it.State == queue.Running {
		l.Last = it.Told
	}
	var only, ended []string
	for _, r := range l.Events {
		if r.N <= l.Last {
			ended = append(ended, r.ID)
		}
	}
	if rapid.Bool().Draw(w.T, "some") {
		only = ended[:1]
		ended = only
	}
	w.fatal("skip", w.Store.Skip(w.ctx, it.ID, it.Run, l.Last, only, skipping("closed")))
	w.live[it.ID] = w.left(it.ID, ended)
}

func (w *world) kill() {
	it := w.one(queue.Pending)
	w.fatal("kill", w.Store.Kill(w.ctx, it.ID, "", skipping("rule")))
}

func (w *world) revive() {
	_, err := w.Store.Revive(w.ctx, slot.Ref{}, nil)
	w.fatal("revive", err)
	for _, it := range w.items(queue.Idle) {
		if it.Reason == queue.ReasonWaiting { // that is asked for by name only
			_, err := w.Store.Revive(w.ctx, it.Ref, nil)
			w.fatal("revive", err)
		}
	}
}

// drop checks that all is ended but what a run was told of: from then on begin and
// check find it nowhere, and the work of others as it was.
func (w *world) drop() {
	d := dropping(slot.Ref{}, nil)
	meant := w.items(queue.Dead)
	if rapid.Bool().Draw(w.T, "by name") {
		it := w.one("")
		d.Ref, meant = it.Ref, []queue.Item{it}
	}
	got, err := w.Store.Drop(w.ctx, d)
	w.fatal("drop", err)
	ended := map[int64]int{}
	for _, one := range got {
		ended[one.Item.ID] = one.Events
	}
	for _, it := range meant {
		left := []string(nil)
		for _, id := range w.live[it.ID] {
			if slices.Contains(w.told[it.Run], id) {
				left = append(left, id)
			}
		}
		if n := len(w.live[it.ID]) - len(left); n != ended[it.ID] {
			w.Fatalf("%d events of %+v were dropped; want %d", ended[it.ID], it, n)
		}
		w.live[it.ID] = left
		if now := w.read(it.ID); it.State == queue.Running && now.State != queue.Running || it.State != queue.Running && now.State != queue.Idle {
			w.Fatalf("%+v was dropped into %+v", it, now)
		}
		delete(ended, it.ID)
	}
	if len(ended) > 0 {
		w.Fatalf("others were dropped: %v", ended)
	}
}

// check is P4: what has not ended waits for an item that will see to it, or for a
// person who is told so.
func (w *world) check() {
	for item, ids := range w.live {
		l, err := w.Store.Look(w.ctx, item)
		w.fatal("look", err)
		var waiting []string
		for _, r := range l.Events {
			waiting = append(waiting, r.ID)
		}
		it := l.Item
		switch {
		case it.State == queue.Dead && len(waiting) == 0 && len(ids) > 0:
		case it.State != queue.Dead && slices.Equal(waiting, ids):
		default:
			w.Fatalf("P4: of item %+v %v wait; want %v", it, waiting, ids)
		}
		if idle := it.State == queue.Idle; idle && len(ids) > 0 && it.Reason != queue.ReasonWaiting || !idle && len(ids) == 0 {
			w.Fatalf("P4: the item is %s (%s), and %v have not ended", it.State, it.Reason, ids)
		}
		if len(ids) > 0 == it.Age.IsZero() {
			w.Fatalf("the age is %v, and %v have not ended", it.Age, ids)
		}
	}
	for _, r := range w.records() {
		told := slices.Contains(w.told[r.Run], r.ID)
		ended := r.State == queue.EventDone || r.State == queue.EventSuperseded
		if ended && !told || r.State == queue.EventSuperseded && !slices.Contains(w.told[r.Run], r.By) || r.State == queue.EventSkipped && r.Reason == "" {
			w.Fatalf("P4: %+v, and the run was told of %v", r, w.told[r.Run])
		}
	}
}

func (w *world) records() []queue.Record {
	w.Helper()
	list, err := w.Store.Events(w.ctx, queue.Filter{})
	w.fatal("events", err)
	return list
}

// finish lets everything run well, in due time: then all has ended.
func (w *world) finish() {
	w.revive()
	for range 3 {
		for _, it := range w.items(queue.Running) {
			w.end(it, slot.Outcome{Result: slot.Done})
		}
		w.Clock.Advance(2 * time.Hour)
		looks, err := w.Store.Pick(w.ctx, 10, nil, nil)
		w.fatal("pick", err)
		if pending := w.items(queue.Pending); len(looks) != len(pending) {
			w.Fatalf("P9: %d of %d are due", len(looks), len(pending))
		}
		for _, l := range looks {
			w.n++
			run := fmt.Sprintf("run-%d", w.n)
			begun, err := w.Store.Begin(w.ctx, queue.Begin{Item: l.Item.ID, Run: run, Policy: l.Item.Policy})
			w.fatal("begin", err)
			for _, r := range begun.Events {
				w.told[run] = append(w.told[run], r.ID)
			}
		}
		w.revive() // those that waited for a person
	}
	w.check()
	for _, r := range w.records() {
		if r.State != queue.EventDone && r.State != queue.EventSuperseded && r.State != queue.EventSkipped {
			w.Fatalf("P4: in the end %+v", r)
		}
	}
}
