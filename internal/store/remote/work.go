package remote

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

// Dispatch puts a wish for ref in the server's queue. With a key it may be sent
// again, and the second is a duplicate.
func (s *Store) Dispatch(ctx context.Context, ref slot.Ref, d wire.Dispatch) ([]queue.Accepted, error) {
	d.Ref = ref.String()
	q := post("dispatch", "/events", d)
	q.again = d.Key != ""
	a, err := ask(ctx, s, q, func(a wire.Accepted) bool { return len(a.Results) > 0 && a.Results[0].Result != "" })
	if err != nil {
		return nil, err
	}
	var out []queue.Accepted
	for _, r := range a.Results {
		out = append(out, r.Accepted(ref))
	}
	return out, nil
}

// Items lists work items, as queue.Store does.
func (s *Store) Items(ctx context.Context, f queue.Filter) ([]queue.Item, error) {
	return s.items(ctx, get("read the queue", "/work", filter(f)))
}

// Revive gives work a fresh budget, as queue.Store does; of all refs only for the
// server's admin.
func (s *Store) Revive(ctx context.Context, ref slot.Ref, rule *string) ([]queue.Item, error) {
	return s.items(ctx, post("retry", "/work/retry", wire.Retry{Ref: ref.String(), Rule: rule}))
}

// Drop ends work that waits or is dead, as queue.Store does. The server lets its admin
// alone do it.
func (s *Store) Drop(ctx context.Context, d queue.Drop) ([]queue.Dropped, error) {
	in := wire.Drop{Dead: d.Ref.IsZero(), Rule: d.Rule, Reason: d.Reason, By: d.By}
	if !in.Dead {
		in.Ref = d.Ref.String()
	}
	got, err := ask(ctx, s, post("drop", "/work/drop", in), func(w wire.Dropped) bool { return w.Dropped != nil })
	if err != nil {
		return nil, err
	}
	var out []queue.Dropped
	for _, w := range got.Dropped {
		out = append(out, queue.Dropped{Item: w.Item.Item(), Events: w.Events})
	}
	return out, nil
}

func (s *Store) items(ctx context.Context, q question) ([]queue.Item, error) {
	w, err := ask(ctx, s, q, func(w wire.Work) bool { return w.Work != nil })
	if err != nil {
		return nil, err
	}
	var out []queue.Item
	for _, i := range w.Work {
		out = append(out, i.Item())
	}
	return out, nil
}

// Events lists events, as queue.Store does.
func (s *Store) Events(ctx context.Context, f queue.Filter) ([]queue.Record, error) {
	l, err := ask(ctx, s, get("read events", "/events", filter(f)), func(l wire.Events) bool { return l.Events != nil })
	if err != nil {
		return nil, err
	}
	var out []queue.Record
	for _, e := range l.Events {
		out = append(out, e.Record())
	}
	return out, nil
}

func filter(f queue.Filter) url.Values {
	q := url.Values{}
	if !f.Ref.IsZero() {
		q = about(f.Ref)
	}
	if f.Rule != nil {
		q.Set("rule", *f.Rule)
	}
	for name, text := range map[string]string{"state": f.State, "run": f.Run} {
		if text != "" {
			q.Set(name, text)
		}
	}
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return q
}

// PID is the number of the server's process on its host.
func (s *Store) PID() (int, error) {
	ctx, cancel := context.WithTimeout(s.ctx, 5*time.Second)
	defer cancel()
	about, err := ask(ctx, s, get("ask who serves", "/server", nil), func(a wire.Server) bool { return a.PID > 0 })
	return about.PID, err
}
