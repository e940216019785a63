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
}

func (b books) Events(context.Context, queue.Filter) ([]queue.Record, error) { return b.list, nil }

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
