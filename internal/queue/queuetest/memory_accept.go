package queuetest

import (
	"context"
	"slices"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Accept records an arrival.
func (m *Memory) Accept(ctx context.Context, a queue.Arrival) ([]queue.Accepted, error) {
	unlock, err := m.step(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	d, again := m.deliver(a.Delivery)
	wishes := slices.Clone(a.Wishes)
	for i := range wishes {
		if d != nil {
			wishes[i].Event.Delivery = d.ID
		}
	}
	done, kept := m.accept(wishes, a.AnyNew, again)
	if d != nil && kept > 0 {
		d.Body, d.File, d.Size = slices.Clone(a.Delivery.Body), a.Delivery.File, a.Delivery.Size
	}
	return done, nil
}

func (m *Memory) accept(wishes []queue.Wish, anyNew, again bool) (done []queue.Accepted, kept int) {
	for _, w := range wishes {
		w.Event.ID, w.Event.At = "", m.now()
		rules := w.Policies
		switch {
		case len(rules) == 0:
			done = append(done, queue.Accepted{Event: w.Event, Intake: slot.Ignored, Reason: w.Ignored})
		case w.Event.Ref.IsZero():
			rules = []queue.Policy{{}}
		}
		for _, p := range rules {
			one := m.wish(w, p, anyNew, again)
			if one.Intake != slot.Duplicate {
				kept++
			}
			done = append(done, one)
		}
	}
	return done, kept
}

// deliver puts a delivery on record, without its body, or finds what it repeats.
func (m *Memory) deliver(d *slot.Delivery) (kept *slot.Delivery, again bool) {
	if d == nil {
		return nil, false
	}
	for _, k := range m.deliveries {
		if k.Hook == d.Hook && k.GUID == d.GUID && d.GUID != "" {
			return k, true
		}
	}
	c := *d
	m.delivered++
	c.ID, c.At, c.Body, c.File = queue.DeliveryID(m.delivered), m.now(), nil, ""
	m.deliveries[c.ID] = &c
	return &c, false
}

func (m *Memory) wish(w queue.Wish, p queue.Policy, anyNew, again bool) queue.Accepted {
	e := w.Event
	answer := queue.Accepted{Event: e, Rule: p.Rule}
	var it *queue.Item
	item := int64(0)
	if !e.Ref.IsZero() {
		i := slices.IndexFunc(m.items, func(it *queue.Item) bool { return it != nil && it.Ref == e.Ref && it.Policy.Rule == p.Rule })
		if i < 0 {
			i = len(m.items)
			m.items = append(m.items, &queue.Item{ID: int64(i + 1), Ref: e.Ref, State: queue.Idle})
		}
		it = m.items[i]
		item = it.ID
	}
	of, ended := m.repeats(w, item, anyNew, again)
	still := !ended.IsZero() && it.StillTrue(p, ended, m.now())
	if of != "" && !still {
		answer.Intake, answer.Of = slot.Duplicate, of
		return answer
	}
	m.given++
	r := &queue.Record{Event: e, N: m.given, Item: item, Rule: p.Rule, State: queue.EventUnresolved}
	r.ID = queue.EventID(r.N)
	answer.Event.ID, answer.Intake = r.ID, slot.Queued
	m.events = append(m.events, r)
	m.keys[r.N] = w.Key
	if it == nil {
		return answer
	}
	was, l := it.State, laneOf(it)
	accept := it.Accept
	if still {
		accept = it.Remind
	}
	answer.Intake = accept(e, p, m.now())
	r.State = queue.EventWaiting
	switch {
	case it.State == queue.Dead:
		answer.Reason = it.Reason
		m.end(r, queue.EventDead, it.Reason)
	case was == queue.Dead:
		m.revive(it.ID)
	}
	m.save(it, false, l)
	return answer
}

func (m *Memory) revive(item int64) {
	for _, e := range m.events {
		if e.Item == item && e.State == queue.EventDead {
			e.State, e.Reason = queue.EventWaiting, ""
			delete(m.ended, e.N)
		}
	}
}

// repeats names what a wish repeats; empty if it is new. A condition that was handled
// comes with the time when that was.
func (m *Memory) repeats(w queue.Wish, item int64, anyNew, again bool) (of string, ended time.Time) {
	e := w.Event
	for _, o := range slices.Backward(m.events) {
		same := o.Fingerprint == e.Fingerprint && o.Repo == e.Repo
		handled := o.State == queue.EventDone || o.State == queue.EventSuperseded
		switch {
		case o.Item != item:
		case again && o.Delivery == e.Delivery && o.Kind == e.Kind && same && o.State != queue.EventSkipped:
			return e.Delivery, ended
		case item == 0 && o.State != queue.EventUnresolved:
		case w.Key != "" && m.keys[o.N] == w.Key:
			return o.ID, ended
		case e.Fingerprint != "" && same && handled && w.Condition:
			return o.ID, m.ended[o.N]
		case e.Fingerprint != "" && same && o.State != queue.EventSkipped && !(handled && anyNew):
			return o.ID, ended
		}
	}
	return "", ended
}

// Resolve puts wishes in the place of an unresolved event.
func (m *Memory) Resolve(ctx context.Context, n int64, wishes []queue.Wish, reason string) (done []queue.Accepted, err error) {
	if err := queue.Resolvable(wishes); err != nil {
		return nil, err
	}
	unlock, err := m.step(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	i := slices.IndexFunc(m.events, func(e *queue.Record) bool { return e.N == n && e.State == queue.EventUnresolved })
	if i < 0 {
		return nil, queue.ErrStale
	}
	e := m.events[i]
	wishes = slices.Clone(wishes)
	for i := range wishes {
		wishes[i].Event.Delivery = e.Delivery
	}
	done, _ = m.accept(wishes, false, false)
	state := queue.EventSkipped
	if len(wishes) > 0 {
		state, e.By, reason = queue.EventResolved, queue.First(done), queue.About(wishes)
	}
	m.end(e, state, reason)
	return done, nil
}
