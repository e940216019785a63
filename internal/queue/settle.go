package queue

import (
	"strconv"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// Mark says what the end of a run means for the events that it was told of.
type Mark string

const (
	// MarkDone: the newest was handled, and superseded the others.
	MarkDone Mark = "done"
	// MarkKeep: the next run is told of them again.
	MarkKeep Mark = "keep"
	// MarkSkip: they are over, with the reason.
	MarkSkip Mark = "skipped"
	// MarkDead: they are dead letters.
	MarkDead Mark = "dead"
)

// Settle is what the end of the present run does. started says whether the claim
// got to its running phase, without which there was no worker. Retry and follow-up
// are one: whatever came during the run wakes the item once.
func (it *Item) Settle(out slot.Outcome, started bool, now time.Time) Mark {
	newer := !it.Burst.IsZero()
	fresh := it.Fresh
	it.refresh()
	it.Run, it.Told = "", 0
	asked := it.Asked
	it.Asked = false

	switch {
	case out.Unspent, out.Result == slot.Lost, out.Result == slot.Vanish && !started:
		it.State, it.Person = Pending, it.Person || asked
		if !newer {
			it.Burst = it.Age
		}
		since, looks := it.Deferred, it.Defers
		it.wake(string(out.Result), now)
		it.Detail = out.Reason
		if out.Result != slot.Lost { // it was not the claim: what it was may still be there
			it.Deferred, it.Defers = since, looks
			it.Defer(it.Reason, it.Detail, now.Add(UnspentWait), now)
		}
		return MarkKeep
	case out.Result == slot.Done:
		it.Spent = max(it.Spent, it.Attempts)
		it.Attempts, it.Laters = 0, 0
		it.end(newer, "", "", now)
		return MarkDone
	case out.Result == slot.Stopped:
		it.end(newer, string(slot.Stopped), out.Reason, now)
		return MarkSkip
	case out.Result == slot.Waits:
		it.Laters = 0
		if newer {
			it.follow(now)
		} else {
			it.State, it.Reason, it.Detail, it.Due = Idle, ReasonWaiting, out.Summary, time.Time{}
			it.Deferred, it.Defers = time.Time{}, 0
		}
		return MarkKeep
	case out.Result == slot.Later:
		it.Laters++
		it.again(ReasonLater, out.Reason, it.later(out), newer, now)
		return MarkKeep
	}

	if !fresh { // what failed is not what is there now
		it.Attempts++
	}
	if it.Attempts >= it.Policy.Attempts && !newer {
		it.die(Failure(out))
		return MarkDead
	}
	it.again(ReasonRetry, Failure(out), backoff(max(it.Attempts, 1), it.Policy.BackoffMin, it.Policy.BackoffMax), newer, now)
	return MarkKeep
}

// end is for events that are over: what came since follows.
func (it *Item) end(newer bool, reason, detail string, now time.Time) {
	if !newer {
		it.rest(Idle, reason, detail)
		return
	}
	it.Age = it.Burst
	it.follow(now)
}

// again is for events that are not over: what came since does not wait for the
// back-off.
func (it *Item) again(reason, detail string, wait time.Duration, newer bool, now time.Time) {
	if newer {
		it.follow(now)
		return
	}
	it.State, it.Reason, it.Detail, it.Due = Pending, reason, detail, now.Add(wait)
	it.Deferred, it.Defers = time.Time{}, 0
}

// follow has the events that came during a run start the next one.
func (it *Item) follow(now time.Time) {
	it.State = Pending
	it.wake(ReasonFollowUp, now)
}

// later is how long the worker's "later" waits.
func (it *Item) later(out slot.Outcome) time.Duration {
	if out.RetryAfter > 0 {
		return out.RetryAfter
	}
	return backoff(it.Laters, LaterMin, LaterMax)
}

// GivenUp is the decision that goes with the death of an item: by the end of a run, or
// by an event that came by a path.
func (it *Item) GivenUp(path, run string) slot.Decision {
	return slot.Decision{Ref: it.Ref, Path: path, Verdict: slot.Skip, Reason: it.Reason, Detail: it.Detail, Run: run,
		Next: "after " + runs(it.Attempts) + " its events are dead letters; `oneslot retry` gives them a fresh budget"}
}

func runs(n int) string {
	if n == 1 {
		return "a run"
	}
	return strconv.Itoa(n) + " runs"
}

// Failure says in a few words how a run failed.
func Failure(out slot.Outcome) string {
	text := out.Reason
	if text == "" {
		text = out.Summary
	}
	how := string(out.Result)
	switch {
	case out.Signal != "":
		how = out.Signal
	case out.Exit != nil:
		how = "exit " + strconv.Itoa(*out.Exit)
	}
	if text == "" {
		return how
	}
	return how + ": " + text
}
