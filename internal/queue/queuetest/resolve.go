package queuetest

import (
	"errors"
	"slices"
	"strings"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// resolveTests: an event whose ref comes to light later.
func resolveTests() []test {
	return []test{
		{"C28/AnUnresolvedEventFindsItsRef", func(b *bench) {
			e := b.unresolved("g1")
			found := e.Event
			found.Ref = b.ref(12)
			done := b.resolve(e, b.wish(found))
			if len(done) != 1 || done[0].Intake != slot.Queued || done[0].Rule != "fix" || done[0].Event.ID == "" || done[0].Event.ID == e.ID {
				b.Fatalf("resolved into %+v", done)
			}
			l := b.due()
			b.wantTold(l, done[0])
			if r := l.Events[0]; r.Delivery != e.Delivery || r.Delivery == "" || r.Sha != e.Sha || r.Facts.Check != e.Facts.Check {
				b.Errorf("on record is %+v; want it of the same delivery as %+v", r, e)
			}
			d, err := b.Store.Delivery(b.ctx, e.Delivery)
			if err != nil || string(d.Body) != "{}" {
				b.Errorf("its delivery: %+v, %v", d, err)
			}
			r := b.record(e.N)
			if r.State != queue.EventResolved || r.By != done[0].Event.ID || r.Reason != "it is about "+found.Ref.String() {
				b.Errorf("it became %+v; want resolved, by %s", r, done[0].Event.ID)
			}
			b.noneUnresolved()
			_, err = b.Store.Resolve(b.ctx, e.N, []queue.Wish{b.wish(found)}, "")
			b.wantStale("resolve again", err)
			_, err = b.Store.Resolve(b.ctx, e.N+1000, nil, "x")
			b.wantStale("resolve nothing", err)
		}},
		{"C29/OneHeadOfTwo", func(b *bench) {
			e := b.unresolved("")
			var wishes []queue.Wish
			for _, n := range []int{12, 15} {
				found := e.Event
				found.Ref = b.ref(n)
				wishes = append(wishes, b.wish(found))
			}
			if done := b.resolve(e, wishes...); len(done) != 2 || done[0].Intake != slot.Queued || done[1].Intake != slot.Queued {
				b.Fatalf("resolved into %+v", done)
			}
			b.wantEvents(b.ref(12), queue.EventWaiting)
			b.wantEvents(b.ref(15), queue.EventWaiting)
		}},
		{"C28/NoPullRequestHasTheHead", func(b *bench) {
			e := b.unresolved("")
			done, err := b.Store.Resolve(b.ctx, e.N, nil, "no pull request has this head")
			if err != nil || len(done) != 0 {
				b.Fatalf("resolved into %+v, %v", done, err)
			}
			if r := b.record(e.N); r.State != queue.EventSkipped || r.Reason != "no pull request has this head" {
				b.Errorf("it became %+v; want it skipped", r)
			}
			b.noneUnresolved()
			b.noneDue()
		}},
		{"Resolve/JudgedLikeAnyArrival", func(b *bench) {
			e := b.unresolved("")
			known := e.Event
			known.Ref = b.ref(12)
			first := b.accept(known, slot.Queued)
			other := known
			other.Ref = b.ref(15)
			ignored := queue.Wish{Event: other, Ignored: "no rule wants ci_failed"}
			done := b.resolve(e, b.wish(known), ignored)
			if len(done) != 2 || done[0].Intake != slot.Duplicate || done[0].Of != first.Event.ID || done[1].Intake != slot.Ignored {
				b.Fatalf("resolved into %+v", done)
			}
			if r := b.record(e.N); r.State != queue.EventResolved || r.By != first.Event.ID {
				b.Errorf("it became %+v; want resolved, by %s", r, first.Event.ID)
			}
			b.wantEvents(b.ref(12), queue.EventWaiting)
			b.wantEvents(b.ref(15))
		}},
		{"Resolve/ARedeliveryIsADuplicate", func(b *bench) {
			e := b.unresolved("g1")
			found := e.Event
			found.Ref = b.ref(12)
			b.resolve(e, b.wish(found))
			again := e.Event
			again.Ref = slot.Ref{}
			a := b.arrive(queue.Arrival{Delivery: b.delivery("g1"), Wishes: []queue.Wish{b.wish(again)}})[0]
			if a.Intake != slot.Duplicate || a.Of != e.Delivery {
				b.Errorf("%s of %q; want a duplicate of %q", a.Intake, a.Of, e.Delivery)
			}
		}},
		{"Resolve/TheOldestFirst", func(b *bench) {
			var want []int64
			for range 3 {
				want = append(want, b.unresolved("").N)
			}
			list, err := b.Store.Events(b.ctx, queue.Filter{State: string(queue.EventUnresolved), Oldest: true, Limit: 2})
			var got []int64
			for _, r := range list {
				got = append(got, r.N)
			}
			if err != nil || !slices.Equal(got, want[:2]) {
				b.Errorf("unresolved: %v, %v; want the oldest two of %v", got, err, want)
			}
			host, _, _ := strings.Cut(list[0].Event.Repo, "/")
			for after, of := range map[int64][]string{want[1]: {"elsewhere.example.com", host}, want[2]: nil, 0: {"elsewhere.example.com"}} {
				rest, err := b.Store.Events(b.ctx, queue.Filter{State: string(queue.EventUnresolved), Oldest: true, Hosts: of, After: after})
				if err != nil || len(rest) > 1 || (len(rest) == 1) != (after == want[1]) || len(rest) == 1 && rest[0].N != want[2] {
					b.Errorf("after %d, at %q: %v, %v", after, of, rest, err)
				}
			}
		}},
		{"Resolve/ARefIsNeeded", func(b *bench) {
			e := b.unresolved("")
			_, err := b.Store.Resolve(b.ctx, e.N, []queue.Wish{b.wish(e.Event)}, "")
			if !errors.Is(err, slot.ErrUsage) {
				b.Errorf("resolve without a ref: %v; want a usage error", err)
			}
			if r := b.record(e.N); r.State != queue.EventUnresolved {
				b.Errorf("it became %+v; want it as it was", r)
			}
		}},
	}
}

// unresolved takes in an event whose ref is not known.
func (b *bench) unresolved(guid string) queue.Record {
	b.Helper()
	e := b.event(b.ref(1))
	e.Ref = slot.Ref{}
	a := queue.Arrival{Wishes: []queue.Wish{b.wish(e)}}
	if guid != "" {
		a.Delivery = b.delivery(guid)
	}
	return b.record(queue.Number(b.arrive(a)[0].Event.ID))
}

func (b *bench) resolve(e queue.Record, wishes ...queue.Wish) []queue.Accepted {
	b.Helper()
	done, err := b.Store.Resolve(b.ctx, e.N, wishes, "")
	if err != nil {
		b.Fatalf("resolve: %v", err)
	}
	return done
}

func (b *bench) record(n int64) queue.Record {
	b.Helper()
	list, err := b.Store.Events(b.ctx, queue.Filter{})
	if err != nil {
		b.Fatalf("events: %v", err)
	}
	i := slices.IndexFunc(list, func(r queue.Record) bool { return r.N == n })
	if i < 0 {
		b.Fatalf("event %d is not on record", n)
	}
	return list[i]
}

func (b *bench) noneUnresolved() {
	b.Helper()
	if g, err := b.Store.Gauge(b.ctx); err != nil || g.Unresolved != 0 {
		b.Errorf("%d are unresolved, %v; want none", g.Unresolved, err)
	}
}
