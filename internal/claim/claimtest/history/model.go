package history

import (
	"math"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
)

// op is one call with what came of it. It took effect, if it did, between from
// and to.
type op struct {
	Event // the call
	Ret   Event
	from  time.Duration
	to    time.Duration
	tick  time.Duration
}

// state is one slot: its newest record.
type state struct {
	claim string
	live  bool
	ends  bool // expiry alone frees it
	fence int64
	// guess: the grant's answer is not known, and fence is the least it can be.
	guess bool
	// The deadline lies between early and late.
	early, late time.Duration
}

const never = time.Duration(math.MaxInt64)

// mayBeOver and isOver judge the deadline by the whole time of the call.
func (o op) mayBeOver(s state) bool { return o.to >= s.early-o.tick }
func (o op) isOver(s state) bool    { return s.late < never-o.tick && o.from > s.late+o.tick }

// seen narrows the state by a fence that was read, if it can be that one.
func (s state) seen(fence int64) []state {
	if fence == s.fence || s.guess && fence > s.fence {
		s.fence, s.guess = fence, false
		return []state{s}
	}
	return nil
}

// next lists the states that the slot can be in after the call, none if the call
// cannot have ended so.
func (o op) next(s state) []state {
	switch o.Kind {
	case CallAcquire, CallTakeover:
		return o.acquire(s)
	case CallRenew:
		return o.renew(s)
	case CallCheck:
		return o.check(s)
	case CallRelease:
		return o.release(s)
	case CallLook:
		return o.look(s)
	}
	return nil
}

func (o op) acquire(s state) []state {
	own := s.live && s.claim == o.Claim
	free := !s.live || s.ends && o.mayBeOver(s) || o.displaces(s)
	got := state{claim: o.Claim, live: true, ends: o.Ends}
	switch o.Ret.Outcome {
	case OK:
		if own { // sent again
			return s.seen(o.Ret.Fence)
		}
		if !free || o.Ret.Fence <= s.fence || s.claim == o.Claim {
			return nil
		}
		got.fence, got.early, got.late = o.Ret.Fence, o.from+o.Ret.TTL, o.to+o.Ret.TTL
		return []state{got}
	case Busy:
		if s.live && !own && s.claim == o.Ret.Holder && !(s.ends && o.isOver(s)) {
			return []state{s}
		}
	case Lost:
		if !own {
			return []state{s}
		}
	case Refused:
		return []state{s}
	case Unknown:
		if !free || s.claim == o.Claim {
			return []state{s}
		}
		got.fence, got.guess, got.early, got.late = s.fence+1, true, o.from+o.TTL, never
		return []state{s, got}
	}
	return nil
}

func (o op) displaces(s state) bool {
	return o.Displace != "" && o.Displace == s.claim && (o.Why != claim.Overdue || o.mayBeOver(s))
}

func (o op) renew(s state) []state {
	own := s.live && s.claim == o.Claim
	switch o.Ret.Outcome {
	case OK:
		if own {
			s.early, s.late = o.from+o.Ret.TTL, o.to+o.Ret.TTL
			return []state{s}
		}
	case Lost:
		if !own {
			return []state{s}
		}
	case Refused:
		return []state{s}
	case Unknown:
		if !own {
			return []state{s}
		}
		moved := s
		moved.early, moved.late = min(s.early, o.from), never
		return []state{s, moved}
	}
	return nil
}

func (o op) check(s state) []state {
	own := s.live && s.claim == o.Claim
	switch o.Ret.Outcome {
	case OK:
		if own && !o.isOver(s) {
			return s.seen(o.Ret.Fence)
		}
	case Lost:
		if !own || o.mayBeOver(s) {
			return []state{s}
		}
	case Refused, Unknown:
		return []state{s}
	}
	return nil
}

func (o op) release(s state) []state {
	ended := s
	ended.live = false
	switch o.Ret.Outcome {
	case OK: // also a second time, while it is the newest record
		if s.claim == o.Claim {
			return []state{ended}
		}
	case Lost:
		if s.claim != o.Claim {
			return []state{s}
		}
	case Refused:
		return []state{s}
	case Unknown:
		if s.claim == o.Claim && s.live {
			return []state{s, ended}
		}
		return []state{s}
	}
	return nil
}

func (o op) look(s state) []state {
	switch {
	case o.Ret.Outcome != OK:
		return []state{s}
	case o.Ret.Holder != s.claim || s.claim != "" && o.Ret.Ended == s.live:
		return nil
	case s.claim == "":
		return []state{s}
	case s.live && (o.Ret.Expired && !o.mayBeOver(s) || !o.Ret.Expired && o.isOver(s)):
		return nil
	}
	return s.seen(o.Ret.Fence)
}
