package queuetest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// change has fn change an item that run (or nobody, if it is empty) has in hand.
func (m *Memory) change(ctx context.Context, item int64, run string, fn func(*queue.Item)) error {
	unlock, err := m.step(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	it := m.item(item)
	if it == nil || run == "" && it.State != queue.Pending || run != "" && (it.State != queue.Running || it.Run != run) {
		return queue.ErrStale
	}
	was := laneOf(it)
	fn(it)
	m.save(it, it.State == queue.Running && run == "", was)
	return nil
}

// Begin gives an item to a run.
func (m *Memory) Begin(ctx context.Context, b queue.Begin) (l queue.Look, err error) {
	stale := false
	err = m.change(ctx, b.Item, "", func(it *queue.Item) {
		told := m.waiting(it.ID, all)
		if stale = len(told) == 0; stale {
			it.Skip("", "", time.Time{}, m.now())
			return
		}
		for _, e := range told {
			e.Run = b.Run
		}
		it.Begin(b.Run, b.Policy, told[len(told)-1].N)
		l = m.look(it)
	})
	if stale {
		err = queue.ErrStale
	}
	return l, err
}

// Defer puts an item off.
func (m *Memory) Defer(ctx context.Context, item int64, run string, until time.Time, d slot.Decision) error {
	return m.change(ctx, item, run, func(it *queue.Item) {
		if it.State == queue.Running {
			it.PutBack(m.now())
		}
		it.Defer(d.Reason, d.Detail, until.UTC().Truncate(time.Millisecond), m.now())
	})
}

// Skip ends events.
func (m *Memory) Skip(ctx context.Context, item int64, run string, last int64, only []string, d slot.Decision) error {
	return m.change(ctx, item, run, func(it *queue.Item) {
		for _, e := range m.waiting(item, last) {
			if len(only) == 0 || slices.Contains(only, e.ID) {
				m.end(e, queue.EventSkipped, because(d.Reason, d.Detail))
			}
		}
		if left := m.waiting(item, last); len(left) > 0 {
			it.Thin(left[0].At)
			return
		}
		oldest := time.Time{}
		if since := m.waiting(item, all); len(since) > 0 {
			oldest = since[0].At
		}
		it.Skip(d.Reason, d.Detail, oldest, m.now())
	})
}

// Kill makes dead letters.
func (m *Memory) Kill(ctx context.Context, item int64, run string, d slot.Decision) error {
	return m.change(ctx, item, run, func(it *queue.Item) {
		for _, e := range m.waiting(item, all) {
			m.end(e, queue.EventDead, because(d.Reason, d.Detail))
		}
		it.Kill(d.Reason, d.Detail)
	})
}

// Settle ends a run.
func (m *Memory) Settle(ctx context.Context, run string, out slot.Outcome) (bool, error) {
	unlock, err := m.step(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	i := slices.IndexFunc(m.items, func(it *queue.Item) bool { return it != nil && it.Run == run && run != "" })
	if i < 0 {
		return false, nil
	}
	it := m.items[i]
	told, was := m.waiting(it.ID, it.Told), laneOf(it)
	mark := it.Settle(out, true, m.now())
	for i, e := range told {
		switch newest := told[len(told)-1]; {
		case mark == queue.MarkSkip:
			m.end(e, queue.EventSkipped, because(string(out.Result), out.Reason))
		case mark == queue.MarkDead:
			m.end(e, queue.EventDead, because(it.Reason, it.Detail))
		case mark == queue.MarkDone && i == len(told)-1:
			m.end(e, queue.EventDone, "")
		case mark == queue.MarkDone:
			m.end(e, queue.EventSuperseded, "superseded by "+newest.ID)
			e.By = newest.ID
		}
	}
	m.save(it, false, was)
	return true, nil
}

// Revive gives a fresh budget.
func (m *Memory) Revive(ctx context.Context, ref slot.Ref, rule *string) (revived []queue.Item, err error) {
	unlock, err := m.step(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, it := range m.meant(ref, rule) {
		if was := laneOf(it); it.Revive(m.now()) {
			m.revive(it.ID)
			m.save(it, false, was)
			revived = append(revived, *it)
		}
	}
	return revived, nil
}

// meant are the items of a ref and a rule; of all refs, the dead ones.
func (m *Memory) meant(ref slot.Ref, rule *string) (items []*queue.Item) {
	for _, it := range m.items {
		switch {
		case it == nil, !ref.IsZero() && it.Ref != ref, rule != nil && it.Policy.Rule != *rule:
		case ref.IsZero() && it.State != queue.Dead:
		default:
			items = append(items, it)
		}
	}
	return items
}

// Drop ends what waits or is dead.
func (m *Memory) Drop(ctx context.Context, d queue.Drop) (dropped []queue.Dropped, err error) {
	unlock, err := m.step(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, it := range m.meant(d.Ref, d.Rule) {
		one, was, dec := queue.Dropped{}, laneOf(it), d.Decision(it.Ref)
		if it.Drop(dec.Detail, m.now()) {
			for _, e := range m.events {
				if e.Item == it.ID && e.N > it.Told && (e.State == queue.EventWaiting || e.State == queue.EventDead) {
					m.end(e, queue.EventSkipped, because(dec.Reason, dec.Detail))
					one.Events++
				}
			}
			m.save(it, false, was)
		}
		if one.Events > 0 || it.State == queue.Running {
			one.Item = *it
			one.Item.Waiting = len(m.waiting(it.ID, all))
			dropped = append(dropped, one)
		}
	}
	return dropped, nil
}

// Wake has deferred items looked at.
func (m *Memory) Wake(ctx context.Context, ref slot.Ref, reason string) (n int, err error) {
	unlock, err := m.step(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	for _, it := range m.items {
		if it != nil && it.State == queue.Pending && !it.Deferred.IsZero() && it.Due.After(m.now()) &&
			(ref.IsZero() || it.Ref == ref) && strings.HasPrefix(it.Reason, reason) {
			it.Due = m.now()
			n++
		}
	}
	if n > 0 {
		m.wake()
	}
	return n, nil
}

// Shift follows a step back of the wall clock.
func (m *Memory) Shift(ctx context.Context, d time.Duration) error {
	unlock, err := m.step(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for _, it := range m.items {
		if d < 0 && it != nil && it.State == queue.Pending && it.Due.After(m.now()) {
			it.Due, it.Burst = it.Due.Add(d), it.Burst.Add(d)
		}
	}
	m.wake()
	return nil
}

// Rewound finds times that cannot be.
func (m *Memory) Rewound(ctx context.Context) (n int, err error) {
	unlock, err := m.step(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	now := m.now()
	for _, it := range m.items {
		if it != nil && it.State == queue.Pending && it.Due.After(now) && (it.Last.After(now) || it.Deferred.After(now) ||
			it.Reason == queue.ReasonRetry && it.Due.After(now.Add(it.Policy.BackoffMax))) {
			it.Due = now
			n++
		}
	}
	if n > 0 {
		m.wake()
	}
	return n, nil
}
