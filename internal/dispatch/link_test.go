package dispatch

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

// asked counts what gates and relations are asked.
type asked struct {
	*doors
	gates, closes int
	refs          []slot.Ref
	err           error
}

func (a *asked) Decide(ctx context.Context, ask gate.Ask) gate.Decision {
	a.gates++
	return a.doors.Decide(ctx, ask)
}

func (a *asked) Closes(context.Context, slot.Ref) ([]slot.Ref, error) {
	a.closes++
	return a.refs, a.err
}

// linking plans every item with link = true.
type linking struct{ Plans }

func (l linking) Plan(it queue.Item, sha string) (Plan, error) {
	p, err := l.Plans.Plan(it, sha)
	p.Link = true
	return p, err
}

func newLinked(t *testing.T) (*bench, *asked) {
	b := newBench(t)
	a := &asked{doors: b.gates}
	b.Gates, b.Relations, b.Plans = a, a, linking{b.Plans}
	return b, a
}

// C43: what waits for a busy slot asks no forge while it waits.
func TestC43_ABusySlotCostsNoQuestions(t *testing.T) {
	b, a := newLinked(t)
	b.occupy(ref(t, "7"))
	b.accept(ref(t, "7"))
	for range 60 {
		b.look()
		b.clock.Advance(10 * time.Second)
	}
	if a.gates > 1 || a.closes > 11 { // once a minute it is seen what belongs together
		t.Errorf("in ten minutes gates were asked %d times, relations %d times", a.gates, a.closes)
	}
	if it := b.item(ref(t, "7")); it.Reason != slot.ReasonHeld || it.Defers < 50 {
		t.Errorf("%s after %d looks", it.Reason, it.Defers)
	}
}

// What can never be claimed is a dead letter, and no loop.
func TestLink_TooMany(t *testing.T) {
	for name, set := range map[string]func(*asked){
		"refused by the relations": func(a *asked) { a.err = fmt.Errorf("%w: too many", slot.ErrUsage) },
		"refused by the claims": func(a *asked) {
			for n := range 300 {
				a.refs = append(a.refs, ref(t, fmt.Sprint(n+100)))
			}
		},
	} {
		b, a := newLinked(t)
		set(a)
		b.accept(ref(t, "7"))
		b.look()
		b.clock.Advance(time.Minute)
		b.look()
		if it := b.item(ref(t, "7")); it.State != queue.Dead || a.closes != 1 {
			t.Errorf("%s: %s (%s), asked %d times", name, it.State, it.Detail, a.closes)
		}
	}
}

// P8: as long as it is not known what belongs together nothing starts, and the forge
// is asked less and less often.
func TestP8_LinkUnknown(t *testing.T) {
	b, a := newLinked(t)
	a.err = errors.New("502")
	b.accept(ref(t, "7"))
	for range 360 {
		b.look()
		b.clock.Advance(10 * time.Second)
	}
	if it := b.item(ref(t, "7")); it.State != queue.Pending || it.Reason != "link: unknown" || a.closes > 20 || b.supervisors() > 1 {
		t.Errorf("in an hour: %s %s, asked %d times, %d supervisors", it.State, it.Reason, a.closes, b.supervisors())
	}
	a.err, a.refs = nil, []slot.Ref{ref(t, "8")}
	b.clock.Advance(laterMost)
	b.look()
	if it := b.item(ref(t, "7")); it.State != queue.Running {
		t.Errorf("it does not start: %s %s", it.State, it.Reason)
	}
	if s, err := b.claims.Look(b.ctx, ref(t, "8")); err != nil || s.Live() == nil || s.Live().Ref != ref(t, "7") {
		t.Errorf("the issue's slot is not covered: %+v, %v", s, err)
	}
}
