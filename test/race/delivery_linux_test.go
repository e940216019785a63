package race

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

func issue(t testing.TB, n int) slot.Ref {
	t.Helper()
	r, err := slot.ParseCanonical(fmt.Sprintf("github.com/octo-org/octo-repo#%d", n))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// set changes a setting of the rule before the first daemon starts.
func (d *daemons) set(from, to string) {
	d.t.Helper()
	data, err := os.ReadFile(d.path("oneslot.toml"))
	if err != nil || !bytes.Contains(data, []byte(from)) {
		d.t.Fatalf("no %s in the configuration (%v)", from, err)
	}
	if err := os.WriteFile(d.path("oneslot.toml"), bytes.ReplaceAll(data, []byte(from), []byte(to)), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// done ends the daemon when nothing is left to do, and tells what became of a ref.
func (d *daemons) done(r slot.Ref, acks []ack) past {
	d.t.Helper()
	d.drained(r)
	d.end()
	d.gone()
	p := d.past(r, d.fresh(), acks, true)
	for _, f := range p.judge() {
		d.t.Error(f)
	}
	return p
}

// C24: the same delivery twice in a row, 50 times at once, and after a restart: one
// event, one run.
func TestC24_TheSameAgain(t *testing.T) {
	t.Parallel()
	d := newDaemons(t, plainProgram, endVar+"=1")
	r := issue(t, 24)
	d.serve()
	var mu sync.Mutex
	var acks []ack
	again := func() {
		a := d.wish((*daemons).byWebhook, r, "one")
		mu.Lock()
		defer mu.Unlock()
		acks = append(acks, a)
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(again)
	}
	all.Wait()
	again()
	d.drained(r)
	again() // now that it was handled
	d.kill()
	d.serve()
	again()
	for _, a := range acks {
		if a.id != queue.EventID(1) && a.id != queue.DeliveryID(1) {
			t.Errorf("one of them was taken for %s", a.id)
		}
	}
	if p := d.done(r, nil); len(p.events) != 1 || len(p.runs) != 1 {
		t.Errorf("%d events, %d runs", len(p.events), len(p.runs))
	}
}

// C33: a burst is one start, after a quiet time.
func TestC33_Burst(t *testing.T) {
	t.Parallel()
	d := newDaemons(t, plainProgram, endVar+"=1")
	d.set(`quiet     = "20ms"`, `quiet     = "4s"`) // longer than the burst takes
	d.set(`max_quiet = "100ms"`, `max_quiet = "30s"`)
	r := issue(t, 33)
	d.serve()
	var acks []ack
	for i := range 5 {
		acks = append(acks, d.wish((*daemons).byWebhook, r, fmt.Sprintf("burst-%d", i)))
	}
	p := d.done(r, acks)
	if len(p.runs) != 1 || len(p.starts[p.runs[0].ID].Told) != 5 {
		t.Errorf("%d runs, %+v", len(p.runs), p.starts)
	}
}

// C33: a stream that never pauses cannot put the start off for ever.
func TestC33_Stream(t *testing.T) {
	t.Parallel()
	d := newDaemons(t, plainProgram, endVar+"=1", nameVar+"=stream")
	d.set(`quiet     = "20ms"`, `quiet     = "1s"`) // for which it never pauses
	d.set(`max_quiet = "100ms"`, `max_quiet = "1200ms"`)
	r := issue(t, 33)
	d.serve()
	over := make(chan struct{})
	var acks []ack
	var stream sync.WaitGroup
	stream.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-over:
				return
			case <-time.After(20 * time.Millisecond):
				acks = append(acks, d.wish((*daemons).byWebhook, r, fmt.Sprintf("stream-%d", i)))
			}
		}
	})
	first := d.started("stream")
	close(over)
	stream.Wait()
	if waited := first.At - acks[0].at; waited < 900*time.Millisecond {
		t.Errorf("it started after %v", waited)
	}
	d.done(r, acks)
}

// C43: 50 triggers while somebody else holds the slot, and a restart in between: all
// are put off without a try being spent, and one run follows, which ends them all.
func TestC43_WhileTheSlotIsBusy(t *testing.T) {
	t.Parallel()
	d := newDaemons(t, plainProgram, endVar+"=1", nameVar+"=queue")
	r := issue(t, 43)
	d.serve()
	held := d.start(run(r, []string{nameVar + "=foreign", untilVar + "=" + d.path("go")}))
	d.started("foreign")
	var acks []ack
	for i := range 50 {
		if i == 25 {
			d.kill()
			d.serve()
		}
		acks = append(acks, d.wish(paths[i%len(paths)], r, fmt.Sprintf("trigger-%d", i)))
	}
	poll(t, patience, "it is put off", func() bool {
		items, err := d.db.Queue().Items(d.ctx, queue.Filter{Ref: r})
		if err != nil {
			t.Fatal(err)
		}
		return len(items) == 1 && items[0].Defers > 0 && items[0].Reason == slot.ReasonHeld && items[0].Attempts == 0
	})
	touch(t, d.path("go"))
	freed := boot()
	if code := d.code(held); code != 0 {
		t.Errorf("the foreign run: exit %d\n%s", code, held.err.String())
	}
	p := d.done(r, acks)
	if len(p.runs) != 1 || len(p.events) != 50 {
		t.Fatalf("%d runs, %d events", len(p.runs), len(p.events))
	}
	last := p.starts[p.runs[0].ID]
	if last.Attempt != 1 || len(last.Told) != 50 {
		t.Errorf("the run after it is try %d, told of %d", last.Attempt, len(last.Told))
	}
	t.Logf("it started %v after the holder was told to end", last.At-freed)
	newest := p.events[49]
	for _, e := range p.events[:49] {
		if e.State != queue.EventSuperseded || e.By != newest.ID {
			t.Errorf("%s is %s by %q", e.ID, e.State, e.By)
		}
	}
	if newest.State != queue.EventDone {
		t.Errorf("the newest is %s", newest.State)
	}
}
