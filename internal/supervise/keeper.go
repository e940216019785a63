package supervise

import (
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

// press is how hard the worker's tree is pressed.
type press int

const (
	atWork press = iota // it may run
	frozen              // it is stopped until the claim is known to be ours
	termed              // it is asked to end
	killed              // it is ended
)

// ending says why a tree has to end.
type ending struct {
	result slot.Result
	code   int // what oneslot exits with; 0: the command's own code
	reason string
	term   time.Duration // boot time of the TERM
	kill   time.Duration // boot time of the KILL
}

// order is what is to be done now, and when to ask again.
type order struct {
	renew bool
	press press
	wake  time.Duration // boot time
}

// keeper makes every decision about time for one run: when to renew, when to
// give up, when to press the tree. It has no clock, no timer and no lock: it is
// told what happened and at which boot time.
//
//	sent ──────── renew at ttl/3 ────── TERM ──── grace ──── KILL ─ margin ─ deadline
//
// TERM and KILL before the deadline are for runs with a warden, whose claim may
// be taken by somebody who cannot see this host, and for those whose store is not
// at its address any more: who asks there now sees no claim at all. Otherwise
// nobody takes it while we live, so a store that cannot be written ends no work.
type keeper struct {
	grace   time.Duration
	warden  bool
	timeout time.Duration // boot time; 0 never

	ttl      time.Duration // of the last lease
	deadline time.Duration // boot time
	renewAt  time.Duration // boot time
	asking   bool          // a renewal is on its way
	again    bool          // and the next one is due when it is answered
	failing  bool          // the last renewal could not be made
	moved    bool          // the store is not at its address any more
	lost     bool          // the claim is somebody else's
	slept    time.Duration // boot − awake, as last seen
	patience time.Duration // boot time until which a frozen tree waits; 0: not frozen
	end      *ending
}

// idle is when to look again if nothing is due: the shell's timer runs in boot
// time, so that nobody has to look for a suspend.
const idle = time.Hour

// suspended is the least time asleep that counts: clocks are read one by one.
const suspended = 100 * time.Millisecond

// margin is the time between the KILL and the deadline: for the kernel to end
// the tree, and for late timers.
func (k *keeper) margin() time.Duration {
	return min(max(k.ttl/10, 50*time.Millisecond), time.Second)
}

// asked notes that a renewal was sent.
func (k *keeper) asked() { k.asking = true }

// granted notes a lease that was asked for at sent.
func (k *keeper) granted(sent time.Duration, lease time.Duration) {
	k.asking, k.failing, k.moved, k.patience = false, false, false, 0
	k.ttl, k.deadline = lease, sent+lease
	k.renewIn(sent, lease/3)
}

// failed notes a renewal whose end is not known. It reports whether it is the
// first in a row.
func (k *keeper) failed(now time.Duration) (first bool) {
	first = !k.failing
	k.asking, k.failing = false, true
	if !k.warden {
		k.patience = 0
	}
	k.renewIn(now, min(max(k.ttl/10, 50*time.Millisecond), 5*time.Second))
	return first
}

// renewIn plans the next renewal, unless somebody wanted one meanwhile.
func (k *keeper) renewIn(from, pause time.Duration) {
	if k.again {
		pause = 0
	}
	k.again, k.renewAt = false, from+pause
}

// hurry makes the next renewal due. One that is on its way may have looked at
// the store already, so it does not count.
func (k *keeper) hurry(now time.Duration) {
	k.again = k.asking
	k.renewAt = min(k.renewAt, now)
}

// clocks compares boot time with the time awake. After a suspend the tree is
// frozen until the claim is known to be still ours.
func (k *keeper) clocks(boot, awake time.Duration) {
	asleep := boot - awake
	if asleep-k.slept > suspended && k.deadline > 0 {
		k.patience = boot + max(k.ttl/3, time.Second)
		k.hurry(boot)
	}
	k.slept = asleep
}

// stop asks the tree to end: TERM now, KILL when the grace is over. The first
// reason stays.
func (k *keeper) stop(now time.Duration, e ending) {
	e.term, e.kill = now, now+k.grace
	if k.end == nil {
		k.end = &e
	}
}

// stopNow ends the tree at once. A reason given before stays.
func (k *keeper) stopNow(now time.Duration, e ending) {
	if k.end == nil {
		k.end = &e
	}
	k.end.term, k.end.kill = min(k.end.term, now), now
}

// lose notes that the claim went to somebody else: nothing is left to renew, the
// tree is ended at once, and whatever else was the reason does not matter.
func (k *keeper) lose(now time.Duration, reason string) {
	k.lost, k.asking = true, false
	k.end = &ending{result: slot.Lost, code: exitLost, reason: reason, term: now, kill: now}
}

// termAt and killAt are the last moments to press a tree that must be gone before
// the deadline.
func (k *keeper) termAt() time.Duration { return k.killAt() - k.grace }

func (k *keeper) killAt() time.Duration { return k.deadline - k.margin() }

// next is what to do now.
func (k *keeper) next(now time.Duration) order {
	if k.timeout > 0 && now >= k.timeout && k.end == nil {
		k.stop(now, ending{result: slot.TimedUp, code: exitTimeout, reason: "its time was up"})
	}
	o := order{wake: now + idle}
	due := func(at time.Duration) {
		if at > now {
			o.wake = min(o.wake, at)
		}
	}
	if !k.lost && !k.asking {
		o.renew = now >= k.renewAt
		due(k.renewAt)
	}
	if k.timeout > 0 {
		due(k.timeout)
	}
	press := func(termAt, killAt time.Duration) {
		switch {
		case now >= killAt:
			o.press = killed
		case now >= termAt:
			o.press = max(o.press, termed)
		}
		due(termAt)
		due(killAt)
	}
	if k.end != nil {
		press(k.end.term, k.end.kill)
	}
	late := (k.warden || k.moved) && !k.lost
	switch {
	case k.patience > 0:
		o.press = max(o.press, frozen)
		due(k.patience)
		if now < k.patience {
			break // frozen is as good as gone, for as long as the answer takes
		}
		k.patience = 0
		return k.next(now)
	case late:
		press(k.termAt(), k.killAt())
		if o.press >= termed && k.end == nil {
			reason := "the claim could not be renewed in time"
			if k.moved {
				reason += ": " + slot.ErrMoved.Error()
			}
			k.end = &ending{result: slot.Lost, code: exitLost, reason: reason, term: now, kill: k.killAt()}
		}
	}
	return o
}
