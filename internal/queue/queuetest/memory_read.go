package queuetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Items lists items, the newest first.
func (m *Memory) Items(ctx context.Context, f queue.Filter) (list []queue.Item, err error) {
	unlock, err := m.step(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, it := range slices.Backward(m.items) {
		switch {
		case it == nil, !f.PutOff.IsZero() && (it.State != queue.Pending || it.Deferred.IsZero() || !it.Deferred.Before(f.PutOff)):
			continue
		case !f.Ref.IsZero() && it.Ref != f.Ref, f.Rule != nil && it.Policy.Rule != *f.Rule,
			f.State != "" && string(it.State) != f.State, f.Run != "" && it.Run != f.Run:
			continue
		}
		c := *it
		for _, e := range m.events {
			if e.Item == it.ID && (e.State == queue.EventWaiting || e.State == queue.EventDead) {
				c.Waiting++
			}
		}
		list = append(list, c)
	}
	if !f.PutOff.IsZero() {
		slices.SortStableFunc(list, func(a, b queue.Item) int { return a.Deferred.Compare(b.Deferred) })
	}
	if f.Limit > 0 && len(list) > f.Limit {
		list = list[:f.Limit]
	}
	return list, nil
}

// Events lists events, the newest first.
func (m *Memory) Events(ctx context.Context, f queue.Filter) (list []queue.Record, err error) {
	unlock, err := m.step(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	order := slices.Clone(m.events)
	if !f.Oldest {
		slices.Reverse(order)
	}
	for _, e := range order {
		switch {
		case !f.Ref.IsZero() && e.Ref != f.Ref, f.Rule != nil && e.Rule != *f.Rule, f.State != "" && string(e.State) != f.State,
			f.Run != "" && e.Run != f.Run, e.N <= f.After, len(f.Hosts) > 0 && !slices.Contains(f.Hosts, hostOf(e.Repo)), f.Limit > 0 && len(list) == f.Limit:
			continue
		}
		list = append(list, *e)
	}
	return list, nil
}

func hostOf(repo string) string {
	host, _, _ := strings.Cut(repo, "/")
	return host
}

// Delivery reads a delivery.
func (m *Memory) Delivery(ctx context.Context, id string) (slot.Delivery, error) {
	unlock, err := m.step(ctx)
	if err != nil {
		return slot.Delivery{}, err
	}
	defer unlock()
	d := m.deliveries[id]
	if d == nil {
		return slot.Delivery{}, fmt.Errorf("%w: no delivery %q is on record", slot.ErrNoRecord, id)
	}
	return *d, nil
}

// Gauge counts.
func (m *Memory) Gauge(ctx context.Context) (g queue.Gauge, err error) {
	unlock, err := m.step(ctx)
	if err != nil {
		return g, err
	}
	defer unlock()
	g.Items = map[queue.State]int{}
	for _, it := range m.items {
		if it == nil {
			continue
		}
		if g.Items[it.State]++; it.State != queue.Pending {
			continue
		}
		if g.Oldest.IsZero() || it.Age.Before(g.Oldest) {
			g.Oldest = it.Age
		}
		if !it.Due.After(m.now()) {
			g.Due++
		}
		if !it.Deferred.IsZero() {
			g.Deferred++
		}
	}
	for _, e := range m.events {
		if e.State == queue.EventUnresolved {
			g.Unresolved++
		}
	}
	return g, nil
}

// Names implements queue.Store.
func (m *Memory) Names(ctx context.Context, file string) (bool, error) {
	unlock, err := m.step(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	for _, d := range m.deliveries {
		if d.File == file && file != "" {
			return true, nil
		}
	}
	return false, nil
}

// Forget drops what is old.
func (m *Memory) Forget(ctx context.Context, before time.Time) (files []string, err error) {
	unlock, err := m.step(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	m.events = slices.DeleteFunc(m.events, func(e *queue.Record) bool {
		at, ended := m.ended[e.N]
		return ended && at.Before(before) && e.State != queue.EventDead
	})
	for id, d := range m.deliveries {
		named := slices.ContainsFunc(m.events, func(e *queue.Record) bool { return e.Delivery == id })
		if !named && d.At.Before(before) {
			delete(m.deliveries, id)
			if d.File != "" {
				files = append(files, d.File)
			}
		}
	}
	for i, it := range m.items {
		if it != nil && it.Last.Before(before) && it.State != queue.Pending && it.State != queue.Running &&
			!slices.ContainsFunc(m.events, func(e *queue.Record) bool { return e.Item == it.ID }) {
			m.items[i] = nil
		}
	}
	slices.Sort(files)
	return files, nil
}

// Woken is poked whenever something may have become due.
func (m *Memory) Woken(ctx context.Context) (<-chan struct{}, func(context.Context) error, error) {
	me := make(chan struct{}, 1)
	listen := func(ctx context.Context) error {
		unlock, err := m.step(ctx)
		if err != nil {
			return err
		}
		defer unlock()
		if m.woken != me {
			m.wake()
			m.woken = me
		}
		return nil
	}
	return me, listen, listen(ctx)
}
