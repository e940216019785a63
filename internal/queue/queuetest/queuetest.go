package queuetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// Clock moves a store's wall clock.
type Clock interface {
	Wall() time.Time
	Advance(d time.Duration)
	StepWall(d time.Duration)
}

// Harness is one empty store, as seen by a test.
type Harness struct {
	Store queue.Store
	Clock Clock
	// Other is another process's handle on the same store; nil if there is none.
	Other queue.Store
}

// Run holds a store to the contract. It calls open once for each test.
func Run(t *testing.T, open func(t testing.TB) Harness) { run(direct{t}, open) }

type opener func(t testing.TB) Harness

// runner is a testing.TB with subtests; the suite's own tests put a recorder in
// the place of *testing.T to see it fail.
type runner interface {
	testing.TB
	sub(name string, f func(runner))
}

type direct struct{ *testing.T }

func (d direct) sub(name string, f func(runner)) {
	d.Run(name, func(t *testing.T) { f(direct{t}) })
}

type test struct {
	name string
	f    func(*bench)
}

func run(t runner, open opener) {
	t.Helper()
	for _, tests := range [][]test{intakeTests(), repeatTests(), orderTests(), runTests(), gateTests(), keepTests(), conditionTests(), resolveTests()} {
		for _, tt := range tests {
			t.sub(tt.name, func(t runner) {
				tt.f(&bench{runner: t, ctx: context.Background(), Harness: open(t), policy: policy("fix")})
			})
		}
	}
}

// policy is a rule's with easy numbers: three attempts, back-off 10 s to 20 s.
func policy(rule string) queue.Policy {
	return queue.Policy{Rule: rule, Attempts: 3, BackoffMin: 10 * time.Second, BackoffMax: 20 * time.Second}
}

// bench is what one test works with: a fresh store, its clock, and the words to
// ask and to judge in.
type bench struct {
	runner
	Harness
	ctx    context.Context
	policy queue.Policy
	n      int // events, deliveries and runs made so far
}

func (b *bench) ref(n int) slot.Ref { return b.parse(fmt.Sprintf("github.com/octo/hello#%d", n)) }

func (b *bench) parse(s string) slot.Ref {
	b.Helper()
	r, err := slot.ParseCanonical(s)
	if err != nil {
		b.Fatalf("ref %s: %v", s, err)
	}
	return r
}

// event is a new occurrence on a ref, at an unchanged head.
func (b *bench) event(ref slot.Ref) slot.Event {
	b.n++
	return slot.Event{
		Path: slot.PathWebhook, Repo: ref.Repo(), Ref: ref, Kind: slot.CIFailed, Sha: "aaaa",
		Fingerprint: fmt.Sprintf("ci_failed/aaaa/%d", b.n), Facts: slot.Facts{Check: "unit", Result: "failure"},
	}
}

func (b *bench) person(ref slot.Ref) slot.Event {
	return slot.Event{Path: slot.PathManual, Repo: ref.Repo(), Ref: ref, Kind: slot.Manual}
}

func (b *bench) wish(e slot.Event) queue.Wish {
	return queue.Wish{Event: e, Policies: []queue.Policy{b.policy}}
}

func (b *bench) delivery(guid string) *slot.Delivery {
	return &slot.Delivery{Hook: "forge", GUID: guid, Event: "check_run", Action: "completed", Size: 2, Body: []byte("{}")}
}

func (b *bench) arrive(a queue.Arrival) []queue.Accepted {
	b.Helper()
	done, err := b.Store.Accept(b.ctx, a)
	if err != nil {
		b.Fatalf("accept: %v", err)
	}
	return done
}

// accept takes in one event, and wants it to be that.
func (b *bench) accept(e slot.Event, want slot.Intake) queue.Accepted {
	b.Helper()
	done := b.arrive(queue.Arrival{Wishes: []queue.Wish{b.wish(e)}})
	if len(done) != 1 || done[0].Intake != want {
		b.Fatalf("accepted as %+v; want one, %s", done, want)
	}
	return done[0]
}

func (b *bench) pick(n int) []queue.Look {
	b.Helper()
	looks, err := b.Store.Pick(b.ctx, n, nil, nil)
	if err != nil {
		b.Fatalf("pick: %v", err)
	}
	return looks
}

// due is the one item that is due.
func (b *bench) due() queue.Look {
	b.Helper()
	looks := b.pick(10)
	if len(looks) != 1 {
		b.Fatalf("%d items are due; want 1", len(looks))
	}
	return looks[0]
}

func (b *bench) noneDue() {
	b.Helper()
	if looks := b.pick(10); len(looks) != 0 {
		b.Fatalf("%d items are due, the first %+v; want none", len(looks), looks[0].Item)
	}
}

// begin has a new run take the one item that is due.
func (b *bench) begin() (string, queue.Look) {
	b.Helper()
	b.n++
	run := fmt.Sprintf("run-%d", b.n)
	l, err := b.Store.Begin(b.ctx, queue.Begin{Item: b.due().Item.ID, Run: run, Policy: b.policy})
	if err != nil {
		b.Fatalf("begin: %v", err)
	}
	return run, l
}

func (b *bench) settle(run string, out slot.Outcome) {
	b.Helper()
	if was, err := b.Store.Settle(b.ctx, run, out); err != nil || !was {
		b.Fatalf("settle: %v, %v; want true", was, err)
	}
}

// drop drops what a ref has; of all refs, what is dead.
func (b *bench) drop(ref slot.Ref, rule *string) []queue.Dropped {
	b.Helper()
	list, err := b.Store.Drop(b.ctx, dropping(ref, rule))
	if err != nil {
		b.Fatalf("drop: %v", err)
	}
	return list
}

func dropping(ref slot.Ref, rule *string) queue.Drop {
	return queue.Drop{Ref: ref, Rule: rule, Path: slot.PathManual, By: "root@suite", Reason: "not wanted"}
}

// item reads the only item of a ref.
func (b *bench) item(ref slot.Ref) queue.Item {
	b.Helper()
	items, err := b.Store.Items(b.ctx, queue.Filter{Ref: ref})
	if err != nil || len(items) != 1 {
		b.Fatalf("items of %s: %+v, %v; want one", ref, items, err)
	}
	return items[0]
}

func (b *bench) wantState(ref slot.Ref, s queue.State, reason string) queue.Item {
	b.Helper()
	it := b.item(ref)
	if it.State != s || it.Reason != reason {
		b.Errorf("the item is %s (%s); want %s (%s)", it.State, it.Reason, s, reason)
	}
	return it
}

// event states of a ref, oldest first.
func (b *bench) wantEvents(ref slot.Ref, want ...queue.EventState) []queue.Record {
	b.Helper()
	list, err := b.Store.Events(b.ctx, queue.Filter{Ref: ref})
	if err != nil {
		b.Fatalf("events: %v", err)
	}
	got := make([]queue.EventState, len(list))
	old := make([]queue.Record, len(list))
	for i, r := range list {
		got[len(list)-1-i], old[len(list)-1-i] = r.State, r
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.Errorf("the events are %v; want %v", got, want)
		if len(got) != len(want) {
			b.FailNow()
		}
	}
	return old
}

// wantTold compares the events of a look with accepted ones.
func (b *bench) wantTold(l queue.Look, want ...queue.Accepted) {
	b.Helper()
	var got, ids []string
	for _, r := range l.Events {
		got = append(got, r.ID)
	}
	for _, a := range want {
		ids = append(ids, a.Event.ID)
	}
	if fmt.Sprint(got) != fmt.Sprint(ids) {
		b.Errorf("told of %v; want %v", got, ids)
	}
	if n := len(l.Events); n > 0 && l.Last != l.Events[n-1].N {
		b.Errorf("last is %d; want %d", l.Last, l.Events[n-1].N)
	}
}

func (b *bench) wantDue(ref slot.Ref, in time.Duration) {
	b.Helper()
	want := b.Clock.Wall().UTC().Truncate(time.Millisecond).Add(in)
	if it := b.item(ref); !it.Due.Equal(want) {
		b.Errorf("due in %v; want in %v", it.Due.Sub(b.Clock.Wall()), in)
	}
}

func (b *bench) wantStale(what string, err error) {
	b.Helper()
	if !errors.Is(err, queue.ErrStale) {
		b.Errorf("%s: %v; want stale", what, err)
	}
}

func (b *bench) must(what string, err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

func deferral(reason string) slot.Decision {
	return slot.Decision{Path: slot.PathWebhook, Verdict: slot.Defer, Reason: reason, Detail: "the suite says so"}
}

func skipping(reason string) slot.Decision {
	return slot.Decision{Path: slot.PathWebhook, Verdict: slot.Skip, Reason: reason, Detail: "the suite says so"}
}
