package cli

import (
	"context"
	"errors"
	"testing"

	"github.com/oneslot/oneslot/internal/app"
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
		w := &wishEnd{app: &app.App{Queue: books{list: []queue.Record{e}, work: c.work}, Store: named{}}, ids: []string{"e1"}}
		if over, err := w.over(t.Context()); err != nil || over != c.want {
			t.Errorf("%s: over is %v, %v; want %v", name, over, err, c.want)
		}
	}
}
