package queuetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Memory is the reference store. One mutex makes every step atomic. It keeps no
// claims and no decisions.
type Memory struct {
	clock clock.Clock

	mu         sync.Mutex
	items      []*queue.Item   // by id, from 1; nil if forgotten
	events     []*queue.Record // by number, oldest first
	keys       map[int64]string
	ended      map[int64]time.Time
	deliveries map[string]*slot.Delivery
	given      int64 // the last event's number
	delivered  int64 // the last delivery's
	lanes      map[lane]int64
	turn       int64
	woken      chan struct{} // who is told
}

// lane is what takes turns: a repository's items of equal rank.
type lane struct {
	person   bool
	priority int
	repo     string
}

var _ queue.Store = (*Memory)(nil)

// NewMemory makes an empty store.
func NewMemory(c clock.Clock) *Memory {
	return &Memory{
		clock: c, keys: map[int64]string{}, ended: map[int64]time.Time{},
		deliveries: map[string]*slot.Delivery{}, lanes: map[lane]int64{},
	}
}

// step locks the store for one step.
func (m *Memory) step(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, &slot.UnknownError{Op: "queue", Store: "memory", Err: err}
	}
	m.mu.Lock()
	return m.mu.Unlock, nil
}

func (m *Memory) now() time.Time { return m.clock.Wall().UTC().Truncate(time.Millisecond) }

// save is called after each change of an item: lanes come and go with what waits
// in them, and a lane that was served goes to the end of the line.
func (m *Memory) save(it *queue.Item, served bool, was lane) {
	held := map[lane]bool{}
	for _, it := range m.items {
		if it != nil && it.State == queue.Pending {
			held[laneOf(it)] = true
		}
	}
	for l := range m.lanes {
		if !held[l] {
			delete(m.lanes, l)
		}
	}
	if _, ok := m.lanes[was]; ok && served {
		m.turn++
		m.lanes[was] = m.turn
	}
	if _, ok := m.lanes[laneOf(it)]; !ok && it.State == queue.Pending {
		m.turn++
		m.lanes[laneOf(it)] = m.turn
	}
	m.wake()
}

func laneOf(it *queue.Item) lane { return lane{it.Person, it.Policy.Priority, it.Ref.Repo()} }

func (m *Memory) wake() {
	select {
	case m.woken <- struct{}{}:
	default:
	}
}

func (m *Memory) item(id int64) *queue.Item {
	if id < 1 || id > int64(len(m.items)) {
		return nil
	}
	return m.items[id-1]
}

// waiting lists the events that wait for an item, up to the number last.
func (m *Memory) waiting(item, last int64) (some []*queue.Record) {
	for _, e := range m.events {
		if e.Item == item && e.State == queue.EventWaiting && e.N <= last {
			some = append(some, e)
		}
	}
	return some
}

const all = int64(1) << 62

func (m *Memory) end(e *queue.Record, s queue.EventState, reason string) {
	e.State, e.Reason = s, reason
	m.ended[e.N] = m.now()
}

func (m *Memory) look(it *queue.Item) queue.Look {
	l := queue.Look{Item: *it}
	for _, e := range m.waiting(it.ID, all) {
		l.Events, l.Last = append(l.Events, *e), e.N
	}
	return l
}

// Look reads one item.
func (m *Memory) Look(ctx context.Context, item int64) (queue.Look, error) {
	unlock, err := m.step(ctx)
	if err != nil {
		return queue.Look{}, err
	}
	defer unlock()
	it := m.item(item)
	if it == nil {
		return queue.Look{}, fmt.Errorf("%w: there is no such work item", slot.ErrUsage)
	}
	return m.look(it), nil
}

// Pick lists what is due.
func (m *Memory) Pick(ctx context.Context, n int, busy []int64, full []string) ([]queue.Look, error) {
	unlock, err := m.step(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	due := map[lane][]*queue.Item{}
	for _, it := range m.items {
		if it != nil && it.State == queue.Pending && !it.Due.After(m.now()) && !slices.Contains(busy, it.ID) && !slices.Contains(full, it.Ref.Repo()) {
			due[laneOf(it)] = append(due[laneOf(it)], it)
		}
	}
	type ranked struct {
		lane
		place int
		*queue.Item
	}
	var order []ranked
	for l, items := range due {
		slices.SortFunc(items, func(a, b *queue.Item) int { return byAge(a, b) })
		for i, it := range items {
			order = append(order, ranked{l, i, it})
		}
	}
	slices.SortFunc(order, func(a, b ranked) int {
		switch {
		case a.person != b.person:
			return map[bool]int{true: -1, false: 1}[a.person]
		case a.priority != b.priority:
			return b.priority - a.priority
		case a.place != b.place:
			return a.place - b.place
		}
		return int(m.lanes[a.lane] - m.lanes[b.lane])
	})
	var looks []queue.Look
	for _, r := range order[:min(n, len(order))] {
		looks = append(looks, m.look(r.Item))
	}
	return looks, nil
}

func byAge(a, b *queue.Item) int {
	if c := a.Age.Compare(b.Age); c != 0 {
		return c
	}
	return int(a.ID - b.ID)
}

// NextDue is when the next item becomes due.
func (m *Memory) NextDue(ctx context.Context, busy []int64, full []string) (due time.Time, err error) {
	unlock, err := m.step(ctx)
	if err != nil {
		return due, err
	}
	defer unlock()
	for _, it := range m.items {
		if it == nil || it.State != queue.Pending || slices.Contains(busy, it.ID) || slices.Contains(full, it.Ref.Repo()) {
			continue
		}
		if due.IsZero() || it.Due.Before(due) {
			due = it.Due
		}
	}
	return due, nil
}

func because(reason, detail string) string {
	return strings.TrimSuffix(reason+": "+detail, ": ")
}
