package cli

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// books is a queue that lists these events.
type books struct {
	queue.Store
	list []queue.Record
	work []queue.Item
}

func (b books) Events(context.Context, queue.Filter) ([]queue.Record, error) { return b.list, nil }
func (b books) Items(context.Context, queue.Filter) ([]queue.Item, error)    { return b.work, nil }

// named is a store that has a name.
type named struct{ app.Store }

func (named) Address() string { return "sqlite:x" }

// P8: an event that is not on record any more, or not among those listed, is no
// success: what became of it is not known.
func TestDispatchWait_NotFoundIsUnknown(t *testing.T) {
	done := queue.Record{Event: slot.Event{ID: "e1"}, State: queue.EventDone}
	for _, c := range []struct {
		ids  []string
		list []queue.Record
		want error
	}{
		{[]string{"e1"}, []queue.Record{done}, nil},
		{[]string{"e1", "e2"}, []queue.Record{done}, slot.ErrUnknown},
		{[]string{"e2"}, nil, slot.ErrUnknown},
	} {
		w := &wishEnd{app: &app.App{Queue: books{list: c.list}, Store: named{}}, ids: c.ids}
		if err := (&cli{}).verdict(t.Context(), w); !errors.Is(err, c.want) {
			t.Errorf("%v of %v: %v, want %v", c.ids, c.list, err, c.want)
		}
	}
}

// What waits for a person waits for no run: --wait is over, whether the store tells
// which work an event is of, or (a server) only its rule.
func TestDispatchWait_OverWhenAPersonIsAsked(t *testing.T) {
	asks := queue.Item{ID: 1, State: queue.Idle, Reason: queue.ReasonWaiting}
	later := queue.Item{ID: 2, State: queue.Pending}
	for name, c := range map[string]struct {
		item int64
		work []queue.Item
		want bool
	}{
		"asks":                       {1, []queue.Item{asks}, true},
		"asks, other work goes on":   {1, []queue.Item{asks, later}, true},
		"goes on, other work asks":   {2, []queue.Item{asks, later}, false},
		"a server's, asks":           {0, []queue.Item{asks}, true},
		"a server's, one of them so": {0, []queue.Item{asks, later}, false},
		"none":                       {1, nil, false},
	} {
		e := queue.Record{Event: slot.Event{ID: "e1"}, Item: c.item, State: queue.EventWaiting}
		w := &wishEnd{app: &app.App{Queue: books{list: []queue.Record{e}, work: c.work}, Store: named{}}, ids: []string{"e1"}, seen: map[int64]string{}}
		if over, err := w.over(t.Context()); err != nil || over != c.want {
			t.Errorf("%s: over is %v, %v; want %v", name, over, err, c.want)
		}
	}
}

// --wait says what the wish waits for, once for each thing, and nothing of what is over
// at the next look.
func TestDispatchWait_TellsWhatItWaitsFor(t *testing.T) {
	clk := clock.NewManual(time.Unix(1e9, 0))
	ref, err := slot.ParseCanonical("key:a")
	if err != nil {
		t.Fatal(err)
	}
	now := clk.Wall()
	rule := queue.Policy{Rule: "fix"}
	due := queue.Item{ID: 1, Policy: rule, State: queue.Pending, Reason: queue.ReasonQuiet, Due: now}
	held := queue.Item{ID: 1, Policy: rule, State: queue.Pending, Reason: slot.ReasonHeld, Detail: "sh (pid 7) on here", Deferred: now, Due: now.Add(9 * time.Second)}
	full := queue.Item{ID: 1, Policy: rule, State: queue.Pending, Reason: slot.ReasonCapacity, Deferred: now, Due: now}
	other := queue.Item{ID: 1, Policy: rule, State: queue.Running, Run: "other"}
	ours := queue.Item{ID: 1, Policy: rule, State: queue.Running, Run: "ours"}
	failed := queue.Item{ID: 1, Policy: rule, State: queue.Pending, Reason: queue.ReasonRetry, Detail: "exit 3", Attempts: 1, Due: now.Add(time.Minute)}
	var got []string
	w := &wishEnd{ref: ref, ids: []string{"e1"}, seen: map[int64]string{}, said: map[int64]string{}, say: func(s string) { got = append(got, s) }}
	for _, it := range []queue.Item{due, due, held, due, held, held, held, full, full, held, other, other, ours, ours, other, failed, failed} {
		e := queue.Record{Event: slot.Event{ID: "e1"}, Item: 1, State: queue.EventWaiting}
		if it.Run == "ours" {
			e.Run = "ours"
		}
		w.app = &app.App{Clock: clk, Queue: books{list: []queue.Record{e}, work: []queue.Item{it}}}
		if over, err := w.over(t.Context()); over || err != nil {
			t.Fatalf("over: %v, %v", over, err)
		}
	}
	want := []string{
		"key:a: its work by rule fix waits (held: sh (pid 7) on here); next look in 9s",
		"key:a: its work by rule fix waits (capacity)",
		"key:a: its work by rule fix waits (run other, which is not told of this wish, has to end)",
		"key:a: its work by rule fix waits (retry: exit 3, after 1 attempt); next look in 1m",
	}
	if !slices.Equal(got, want) {
		t.Errorf("said %q\nwant %q", got, want)
	}
}
