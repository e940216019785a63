package race

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// past is what there is to know of one work item when all is over: what the store
// says, and what the workers and the clients have seen for themselves.
type past struct {
	runs   []slot.Run // oldest first
	starts map[string]line
	events []queue.Record // oldest first
	acks   []ack
	// sober: nobody was killed between a worker's fork and its first line, so that
	// a run without one had no worker.
	sober bool
}

// past reads that of a ref which has one work item.
func (d *daemons) past(r slot.Ref, lines []line, acks []ack, sober bool) past {
	d.t.Helper()
	p := past{starts: map[string]line{}, sober: sober}
	var err error
	if p.runs, err = d.db.Runs(d.ctx, r, 0); err != nil {
		d.t.Error(err)
	}
	slices.Reverse(p.runs)
	p.runs = slices.DeleteFunc(p.runs, func(r slot.Run) bool { return r.Rule == "" }) // not the queue's
	if p.events, err = d.db.Queue().Events(d.ctx, queue.Filter{Ref: r}); err != nil {
		d.t.Error(err)
	}
	slices.SortFunc(p.events, func(a, b queue.Record) int { return int(a.N - b.N) })
	for _, l := range lines {
		if l.Event == "start" && l.Slot == r.Slug() {
			p.starts[l.Run] = l
		}
	}
	for _, a := range acks {
		if a.ref == r {
			p.acks = append(p.acks, a)
		}
	}
	return p
}

// judge says what is wrong with it.
func (p past) judge() (faults []string) {
	for _, a := range p.acks {
		if why := p.kept(a); why != "" {
			faults = append(faults, fmt.Sprintf("P4: %s (%s) for %s, acknowledged at %v: %s", a.name, a.id, a.ref, a.at, why))
		}
	}
	return append(faults, p.sequence()...)
}

// kept says why an acknowledged wish did not come to its end.
func (p past) kept(a ack) string {
	found := false
	for _, e := range p.events {
		if a.id == "" || e.ID != a.id && e.Delivery != a.id {
			continue
		}
		found = true
		switch e.State {
		case queue.EventSkipped, queue.EventDead:
			if e.Reason == "" {
				return "it ended as " + string(e.State) + " without a reason"
			}
		case queue.EventDone, queue.EventSuperseded:
			l, ok := p.starts[e.Run]
			switch {
			case !ok:
				return fmt.Sprintf("it is %s by run %q, which had no worker", e.State, e.Run)
			case !slices.Contains(l.Told, e.ID):
				return fmt.Sprintf("it is %s by run %s, which was told of %v", e.State, e.Run, l.Told)
			case l.At <= a.sent:
				return fmt.Sprintf("it was sent at %v, and run %s had started at %v", a.sent, e.Run, l.At)
			}
		default:
			return "it is " + string(e.State)
		}
	}
	if !found {
		return "it is not on record"
	}
	return ""
}

// sequence looks at the runs one after the other: each is told of all that has not
// ended, newest last, and of nothing that has (P5); and counts the tries that there
// were.
func (p past) sequence() (faults []string) {
	fault := func(format string, a ...any) { faults = append(faults, fmt.Sprintf(format, a...)) }
	over := map[string]string{} // events by the run that ended them
	spent := 0
	for _, r := range p.runs {
		l, worked := p.starts[r.ID]
		if worked {
			if len(l.Told) == 0 {
				fault("P5: run %s has no reason: it was told of nothing", r.ID)
				continue
			}
			if !slices.IsSorted(l.Told) {
				fault("P5: run %s was told of %v, which is not the newest last", r.ID, l.Told)
			}
			for _, id := range l.Told {
				if by := over[id]; by != "" {
					fault("P5: run %s was told of %s, which run %s had ended", r.ID, id, by)
				}
			}
			for _, e := range p.events {
				ended := over[e.ID] != "" || e.State == queue.EventDead || e.State == queue.EventSkipped
				if e.ID <= l.Told[len(l.Told)-1] && !slices.Contains(l.Told, e.ID) && !ended {
					fault("P5: run %s was not told of %s, but of later ones", r.ID, e.ID)
				}
			}
			if l.Attempt > 1+spent {
				fault("P6: run %s is try %d, after %d that can have failed", r.ID, l.Attempt, spent)
			}
		}
		switch r.Outcome.Result {
		case slot.Done:
			spent = 0
			for _, id := range l.Told {
				over[id] = r.ID
			}
		case slot.Failed, slot.Vanish, slot.TimedUp, slot.NoStart:
			if worked || !p.sober {
				spent++
			}
		}
		if r.State != slot.RunEnded || r.TreeGoneAt.IsZero() {
			fault("run %s is %s, its tree gone at %v", r.ID, r.State, r.TreeGoneAt)
		}
	}
	return faults
}

// The judge sees what it is there for, and nothing else.
func TestPast(t *testing.T) {
	event := func(n int64, s queue.EventState, run, reason string) queue.Record {
		return queue.Record{Event: slot.Event{ID: queue.EventID(n)}, N: n, State: s, Run: run, Reason: reason}
	}
	ran := func(id string, r slot.Result) slot.Run {
		return slot.Run{ID: id, State: slot.RunEnded, TreeGoneAt: time.Unix(1, 0), Outcome: slot.Outcome{Result: r}}
	}
	first := func(run string, at time.Duration, attempt int, told ...int64) line {
		l := line{Event: "start", Run: run, At: at, Attempt: attempt}
		for _, n := range told {
			l.Told = append(l.Told, queue.EventID(n))
		}
		return l
	}
	acked := func(n int64, sent time.Duration) ack { return ack{id: queue.EventID(n), sent: sent} }
	all := func(s ...line) map[string]line {
		m := map[string]line{}
		for _, l := range s {
			m[l.Run] = l
		}
		return m
	}
	for _, tt := range []struct {
		name string
		past past
		want string
	}{
		{"a run and its follow-up", past{
			runs:   []slot.Run{ran("a", slot.Done), ran("b", slot.Done)},
			starts: all(first("a", 5, 1, 1), first("b", 9, 1, 2, 3)),
			events: []queue.Record{event(1, queue.EventDone, "a", ""), event(2, queue.EventSuperseded, "b", "x"), event(3, queue.EventDone, "b", "")},
			acks:   []ack{acked(1, 1), acked(2, 6), acked(3, 7)},
		}, ""},
		{"a retry is told again", past{
			runs:   []slot.Run{ran("a", slot.Failed), ran("b", slot.Done)},
			starts: all(first("a", 5, 1, 1), first("b", 9, 2, 1, 2)),
			events: []queue.Record{event(1, queue.EventSuperseded, "b", "x"), event(2, queue.EventDone, "b", "")},
			acks:   []ack{acked(1, 1), acked(2, 6)},
		}, ""},
		{"a dead letter", past{
			runs: []slot.Run{ran("a", slot.Failed)}, starts: all(first("a", 5, 1, 1)),
			events: []queue.Record{event(1, queue.EventDead, "a", "unresolved")}, acks: []ack{acked(1, 1)},
		}, ""},
		{"a dead letter without a reason", past{
			runs: []slot.Run{ran("a", slot.Failed)}, starts: all(first("a", 5, 1, 1)),
			events: []queue.Record{event(1, queue.EventDead, "a", "")}, acks: []ack{acked(1, 1)},
		}, "P4"},
		{"lost", past{acks: []ack{acked(1, 1)}}, "P4"},
		{"waits for ever", past{events: []queue.Record{event(1, queue.EventWaiting, "", "")}, acks: []ack{acked(1, 1)}}, "P4"},
		{"the run was there before", past{
			runs: []slot.Run{ran("a", slot.Done)}, starts: all(first("a", 5, 1, 1)),
			events: []queue.Record{event(1, queue.EventDone, "a", "")}, acks: []ack{acked(1, 6)},
		}, "P4"},
		{"nobody was told", past{
			runs: []slot.Run{ran("a", slot.Done)}, starts: all(first("a", 5, 1, 2)),
			events: []queue.Record{event(1, queue.EventDone, "a", ""), event(2, queue.EventDone, "a", "")}, acks: []ack{acked(1, 1)},
		}, "P4"},
		{"a run too many", past{
			runs:   []slot.Run{ran("a", slot.Done), ran("b", slot.Done)},
			starts: all(first("a", 5, 1, 1), first("b", 9, 1, 1)), events: []queue.Record{event(1, queue.EventDone, "b", "")},
		}, "P5"},
		{"a run without a reason", past{runs: []slot.Run{ran("a", slot.Done)}, starts: all(first("a", 5, 1))}, "P5"},
		{"the newest is not last", past{
			runs: []slot.Run{ran("a", slot.Done)}, starts: all(first("a", 5, 1, 2, 1)),
			events: []queue.Record{event(1, queue.EventSuperseded, "a", "x"), event(2, queue.EventDone, "a", "")},
		}, "P5"},
		{"told of some", past{
			runs: []slot.Run{ran("a", slot.Done)}, starts: all(first("a", 5, 1, 2)),
			events: []queue.Record{event(1, queue.EventDone, "a", ""), event(2, queue.EventDone, "a", "")},
		}, "P5"},
		{"a try spent on nothing", past{
			runs: []slot.Run{ran("a", slot.Vanish), ran("b", slot.Done)}, starts: all(first("b", 9, 2, 1)), sober: true,
			events: []queue.Record{event(1, queue.EventDone, "b", "")},
		}, "P6"},
		{"a try that may have been one", past{
			runs: []slot.Run{ran("a", slot.Vanish), ran("b", slot.Done)}, starts: all(first("b", 9, 2, 1)),
			events: []queue.Record{event(1, queue.EventDone, "b", "")},
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(tt.past.judge(), "; ")
			if (got == "") != (tt.want == "") || !strings.HasPrefix(got, tt.want) {
				t.Errorf("judged %q, want %q", got, tt.want)
			}
		})
	}
}
