package queue_test

import (
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/slot"
)

var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

func rules() queue.Policy {
	return queue.Policy{Attempts: 2, BackoffMin: time.Minute, BackoffMax: time.Hour, Quiet: 2 * time.Second, MaxQuiet: 10 * time.Second}
}

func failure(sha string, kind slot.EventKind) slot.Event {
	return slot.Event{Path: slot.PathWebhook, Kind: kind, Sha: sha}
}

// begun is an item whose first run began at noon, told of one failing check.
func begun(t *testing.T) *queue.Item {
	t.Helper()
	it := &queue.Item{State: queue.Idle}
	if got := it.Accept(failure("a", slot.CIFailed), rules(), noon); got != slot.Queued {
		t.Fatalf("accepted as %s", got)
	}
	it.Begin("run-1", rules(), 1)
	return it
}

// What each end of a run means, without and with an event that came during it.
func TestSettle(t *testing.T) {
	later := noon.Add(time.Hour)
	for _, tt := range []struct {
		name    string
		out     slot.Outcome
		started bool

		mark     queue.Mark
		state    queue.State
		attempts int
		due      time.Duration // if pending

		thenMark     queue.Mark // with a newer event at the same head
		thenAttempts int
	}{
		{"done", slot.Outcome{Result: slot.Done}, true, queue.MarkDone, queue.Idle, 0, 0, queue.MarkDone, 0},
		{"failed", slot.Outcome{Result: slot.Failed}, true, queue.MarkKeep, queue.Pending, 1, time.Minute, queue.MarkKeep, 1},
		{"timeout", slot.Outcome{Result: slot.TimedUp}, true, queue.MarkKeep, queue.Pending, 1, time.Minute, queue.MarkKeep, 1},
		{"no start", slot.Outcome{Result: slot.NoStart}, false, queue.MarkKeep, queue.Pending, 1, time.Minute, queue.MarkKeep, 1},
		{"vanished at work", slot.Outcome{Result: slot.Vanish}, true, queue.MarkKeep, queue.Pending, 1, time.Minute, queue.MarkKeep, 1},
		{"vanished before", slot.Outcome{Result: slot.Vanish}, false, queue.MarkKeep, queue.Pending, 0, queue.UnspentWait, queue.MarkKeep, 0},
		{"unspent", slot.Outcome{Result: slot.NoStart, Unspent: true}, false, queue.MarkKeep, queue.Pending, 0, queue.UnspentWait, queue.MarkKeep, 0},
		{"lost", slot.Outcome{Result: slot.Lost}, true, queue.MarkKeep, queue.Pending, 0, -time.Hour + 2*time.Second, queue.MarkKeep, 0},
		{"stopped", slot.Outcome{Result: slot.Stopped}, true, queue.MarkSkip, queue.Idle, 0, 0, queue.MarkSkip, 0},
		{"later", slot.Outcome{Result: slot.Later}, true, queue.MarkKeep, queue.Pending, 0, queue.LaterMin, queue.MarkKeep, 0},
		{"later, with a time", slot.Outcome{Result: slot.Later, RetryAfter: time.Second}, true, queue.MarkKeep, queue.Pending, 0, time.Second, queue.MarkKeep, 0},
		{"waits", slot.Outcome{Result: slot.Waits}, true, queue.MarkKeep, queue.Idle, 0, 0, queue.MarkKeep, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			it := begun(t)
			if mark := it.Settle(tt.out, tt.started, later); mark != tt.mark || it.State != tt.state || it.Attempts != tt.attempts || it.Run != "" {
				t.Errorf("%s, %s, %d attempts; want %s, %s, %d", mark, it.State, it.Attempts, tt.mark, tt.state, tt.attempts)
			}
			if due := it.Due.Sub(later); it.State == queue.Pending && due != tt.due {
				t.Errorf("due in %v; want %v", due, tt.due)
			}
			// P5: whatever the end, what came meanwhile is one more run, soon.
			it = begun(t)
			it.Accept(failure("a", slot.CIFailed), rules(), later)
			if mark := it.Settle(tt.out, tt.started, later); mark != tt.thenMark || it.State != queue.Pending || it.Attempts != tt.thenAttempts {
				t.Errorf("with a newer event: %s, %s, %d attempts; want %s, pending, %d", mark, it.State, it.Attempts, tt.thenMark, tt.thenAttempts)
			}
			if due := it.Due.Sub(later); due > queue.UnspentWait {
				t.Errorf("the follow-up is due in %v", due)
			}
		})
	}
}

// Attempts count failures on unchanged facts, and end in dead letters.
func TestAttemptsCountOnUnchangedFacts(t *testing.T) {
	fail := func(it *queue.Item) queue.Mark { return it.Settle(slot.Outcome{Result: slot.Failed}, true, noon) }
	for _, tt := range []struct {
		name  string
		event slot.Event
		fresh bool
	}{
		{"the same again", failure("a", slot.CIFailed), false},
		{"no head named", failure("", slot.CIFailed), false},
		{"a new head", failure("b", slot.CIFailed), true},
		{"another kind", failure("a", slot.Conflict), true},
		{"a person", slot.Event{Path: slot.PathManual, Kind: slot.Manual}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			it := begun(t)
			fail(it)
			it.Begin("run-2", rules(), 1)
			if mark := fail(it); mark != queue.MarkDead || it.State != queue.Dead || it.Reason != queue.ReasonUnresolved || it.Age.IsZero() {
				t.Fatalf("%s, %+v", mark, it)
			}
			got := it.Accept(tt.event, rules(), noon)
			if revived := it.State == queue.Pending; revived != tt.fresh || revived && (it.Attempts != 0 || got != slot.Queued) {
				t.Errorf("%s, %s with %d attempts; fresh is %v", got, it.State, it.Attempts, tt.fresh)
			}
			// During a run it gives back what was spent, whatever ends the run.
			for _, end := range []func(it *queue.Item){
				func(it *queue.Item) { fail(it) },
				func(it *queue.Item) { it.PutBack(noon) },
				func(it *queue.Item) { it.Settle(slot.Outcome{Result: slot.Lost}, true, noon) },
			} {
				it = begun(t)
				fail(it)
				it.Begin("run-2", rules(), 1)
				it.Accept(tt.event, rules(), noon)
				if end(it); it.State != queue.Pending || (it.Attempts == 0) != tt.fresh {
					t.Errorf("%s with %d attempts; fresh is %v", it.State, it.Attempts, tt.fresh)
				}
			}
		})
	}
}

// P6: deferring changes nothing but its own counters.
func TestP6_DeferringIsFree(t *testing.T) {
	it := begun(t)
	it.Settle(slot.Outcome{Result: slot.Failed}, true, noon)
	before := *it
	for i := range 3 {
		it.Defer("held", "by somebody", noon.Add(time.Hour), noon.Add(time.Duration(i)*time.Minute))
	}
	if it.Attempts != before.Attempts || it.Laters != before.Laters || !it.Age.Equal(before.Age) || it.Sha != before.Sha {
		t.Errorf("%+v; was %+v", it, before)
	}
	if it.Defers != 3 || !it.Deferred.Equal(noon) {
		t.Errorf("%d deferrals since %v", it.Defers, it.Deferred)
	}
	// An event does not call off the wait for what is in the way, but a person's does.
	it.Accept(failure("a", slot.CIFailed), rules(), noon)
	if !it.Due.Equal(noon.Add(time.Hour)) || it.Defers != 3 {
		t.Errorf("due %v after an event", it.Due)
	}
	it.Accept(slot.Event{Path: slot.PathAPI, Kind: slot.Manual}, rules(), noon)
	if !it.Due.Equal(noon) {
		t.Errorf("due %v after a person's wish", it.Due)
	}
}

func TestReviveNeedsSomethingToRevive(t *testing.T) {
	it := begun(t)
	if it.Revive(noon) {
		t.Error("it runs")
	}
	it.Settle(slot.Outcome{Result: slot.Waits}, true, noon)
	if !it.Revive(noon) || it.State != queue.Pending || !it.Person || !it.Due.Equal(noon) {
		t.Errorf("one that waited for a person: %+v", it)
	}
	it.Skip("closed", "", time.Time{}, noon)
	if it.Revive(noon) || it.State != queue.Idle {
		t.Errorf("nothing waits: %+v", it)
	}
}

func TestIDs(t *testing.T) {
	for id, want := range map[string]int64{queue.EventID(1): 1, queue.DeliveryID(99): 99, "": 0, "e": 0, "x000000000001": 0, "e-1": 0, "ex": 0} {
		if got := queue.Number(id); got != want {
			t.Errorf("%q is %d; want %d", id, got, want)
		}
	}
	if queue.EventID(9) >= queue.EventID(10) {
		t.Error("ids do not sort")
	}
}

// What is still true is seen to again when the time has come, and only while nobody
// has it in hand.
func TestStillTrue(t *testing.T) {
	ended := time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)
	for _, tt := range []struct {
		name  string
		item  queue.Item
		again time.Duration
		after time.Duration
		want  bool
	}{
		{"in time", queue.Item{State: queue.Idle}, time.Hour, time.Hour, true},
		{"too early", queue.Item{State: queue.Idle}, time.Hour, time.Hour - 1, false},
		{"never", queue.Item{State: queue.Idle}, 0, 24 * time.Hour, false},
		{"the clock was set back", queue.Item{State: queue.Idle}, time.Hour, -time.Hour, false},
		{"it waits for a person", queue.Item{State: queue.Idle, Age: ended}, time.Hour, time.Hour, false},
		{"it waits for a run", queue.Item{State: queue.Pending, Age: ended}, time.Hour, time.Hour, false},
		{"a run has it", queue.Item{State: queue.Running}, time.Hour, time.Hour, false},
		{"it is dead", queue.Item{State: queue.Dead}, time.Hour, time.Hour, false},
	} {
		if got := tt.item.StillTrue(queue.Policy{Again: tt.again}, ended, ended.Add(tt.after)); got != tt.want {
			t.Errorf("%s: %v; want %v", tt.name, got, tt.want)
		}
	}
}
