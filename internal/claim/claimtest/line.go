package claimtest

import (
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

func (b *bench) inLine(s Store, ref slot.Ref) []slot.Process {
	b.Helper()
	look, err := s.Look(b.ctx, ref)
	if err != nil {
		b.Fatalf("look: %v", err)
	}
	return look.Line
}

func lineTests() []test {
	return []test{
		{"P9/TicketsAreServedInOrder", inOrder},
		{"P9/NewcomersDoNotOvertake", func(b *bench) {
			s, holder, line := b.line(2)
			b.release(s, holder.Key)
			b.busy(s, b.detached(holder.Ref), slot.ReasonLine)
			late := b.detached(holder.Ref)
			late.Ticket = b.ticket()
			b.place(b.busy(s, late, slot.ReasonLine), 2, line[1].Ticket)
			b.place(b.busy(s, line[1].Request, slot.ReasonLine), 1, line[0].Ticket)
			// No proof of death helps past those who wait.
			b.take(s, line[0].Request)
			b.refused(s, over(b.detached(holder.Ref), line[0].Key.Claim, claim.Dead))
			b.take(s, over(line[1].Request, line[0].Key.Claim, claim.Dead))
		}},
		{"P9/AForcedClaimPassesTheLine", func(b *bench) {
			s, holder, line := b.line(1)
			req := over(b.detached(holder.Ref), holder.Key.Claim, claim.Forced)
			req.Head = true
			b.take(s, req)
			b.place(b.busy(s, line[0].Request, slot.ReasonHeld), 0, nil)
			b.release(s, req.Key)
			req = b.detached(holder.Ref)
			req.Head = true
			b.take(s, req)
			b.release(s, req.Key)
			b.take(s, line[0].Request)
		}},
		{"P9/AForcedClaimThatWaitsIsTheHead", func(b *bench) {
			s, holder, line := b.line(2)
			req := b.detached(holder.Ref)
			req.Head, req.Ticket = true, b.ticket()
			b.place(b.busy(s, req, slot.ReasonHeld), 0, nil)
			b.place(b.busy(s, line[0].Request, slot.ReasonHeld), 1, req.Ticket)
			b.release(s, holder.Key)
			b.busy(s, line[0].Request, slot.ReasonLine)
			b.take(s, req)
		}},
		{"P9/ALookTellsWhoIsInLine", func(b *bench) {
			s, holder, line := b.line(2)
			b.release(s, holder.Key)
			if got := b.inLine(s, holder.Ref); len(got) != 2 || got[0] != line[0].Ticket.Process {
				b.Errorf("in line: %+v; want two, %+v first", got, line[0].Ticket.Process)
			}
			b.pass(b.opt.Turn + b.caps.Tick)
			if got := b.inLine(s, holder.Ref); len(got) != 1 {
				b.Errorf("in line after the head let its turn pass: %+v; want one", got)
			}
		}},
		{"P6/TheHeadIsWokenByARelease", func(b *bench) {
			s, holder, line := b.line(2)
			b.release(s, holder.Key)
			b.poked("the head, after the release", line[0].wake)
			b.take(line[0].s, line[0].Request)
			b.poked("the new head", line[1].wake)
			b.busy(line[1].s, line[1].Request, slot.ReasonHeld)
		}},
		{"P6/TheNextIsWokenWhenTheHeadLeaves", func(b *bench) {
			s, holder, line := b.line(2)
			b.release(s, holder.Key)
			if err := line[0].s.Leave(b.ctx, holder.Ref, *line[0].Ticket); err != nil {
				b.Fatalf("leave: %v", err)
			}
			b.poked("the second, after the head left", line[1].wake)
			b.take(line[1].s, line[1].Request)
			if n := b.look(s, holder.Ref).Waiting; n != 0 {
				b.Errorf("%d wait; want none", n)
			}
		}},
		{"P6/LeavingTwiceOrFromNowhereIsHarmless", func(b *bench) {
			s, holder, line := b.line(1)
			for _, t := range []*claim.Ticket{line[0].Ticket, line[0].Ticket, b.ticket()} {
				if err := s.Leave(b.ctx, holder.Ref, *t); err != nil {
					b.Errorf("leave: %v", err)
				}
			}
			b.release(s, holder.Key)
			b.take(s, b.detached(holder.Ref))
		}},
		{"P6/TheHeadGetsAnExpiredSlot", func(b *bench) {
			// The head knows the deadline from its refusal and looks by then.
			s, holder, line := b.line(2)
			b.pass(b.ttl + b.caps.Tick)
			b.busy(s, line[1].Request, slot.ReasonLine)
			if g := b.take(s, line[0].Request); g.Displaced == nil || g.Displaced.ID != holder.Key.Claim {
				b.Errorf("displaced %+v; want the expired %s", g.Displaced, holder.Key.Claim)
			}
		}},
		{"P9/ASilentHeadLosesItsTurn", func(b *bench) {
			s, holder, line := b.line(2)
			b.release(s, holder.Key)
			b.pass(b.opt.Turn - 4*b.caps.Tick)
			if b.h.Clock != nil { // real time is not that exact
				b.busy(s, line[1].Request, slot.ReasonLine)
			}
			b.past(4 * b.caps.Tick)
			b.take(s, line[1].Request)
			// It is not shut out; it stands at the end again.
			b.place(b.busy(s, line[0].Request, slot.ReasonHeld), 0, nil)
		}},
		{"P9/ASilentLineKeepsNobodyOut", func(b *bench) {
			s, holder, _ := b.line(1)
			b.release(s, holder.Key)
			b.past(b.opt.Turn)
			b.take(s, b.detached(holder.Ref))
		}},
		{"P6/WaitingIsNotSilence", func(b *bench) {
			// A head that waits for a held slot has no turn to lose.
			s, holder, line := b.line(2)
			for range 8 {
				b.pass(max(b.ttl/2, b.opt.Turn/4))
				b.renew(s, holder.Key)
				b.busy(s, b.detached(holder.Ref), slot.ReasonHeld)
			}
			b.release(s, holder.Key)
			b.busy(s, line[1].Request, slot.ReasonLine)
			b.take(s, line[0].Request)
		}},
		{"P9/ADeadWaiterIsDroppedByTheNext", func(b *bench) {
			// The one behind it watches the process, and gives up its place for it.
			s, holder, line := b.line(3)
			dead := b.busy(line[1].s, line[1].Request, slot.ReasonHeld).Place.BeforeTicket
			if err := line[1].s.Leave(b.ctx, holder.Ref, claim.Ticket{ID: dead}); err != nil {
				b.Fatalf("leave for a dead one: %v", err)
			}
			b.place(b.busy(line[2].s, line[2].Request, slot.ReasonHeld), 1, line[1].Ticket)
			b.release(s, holder.Key)
			b.poked("the next", line[1].wake)
			b.take(s, line[1].Request)
		}},
		{"P6/AskingAgainKeepsThePlace", func(b *bench) {
			s, holder, line := b.line(3)
			for range 3 {
				for i := len(line) - 1; i >= 0; i-- {
					b.busy(s, line[i].Request, slot.ReasonHeld)
				}
			}
			for i, w := range line {
				var before *claim.Ticket
				if i > 0 {
					before = line[i-1].Ticket
				}
				b.place(b.busy(b.open(), w.Request, slot.ReasonHeld), i, before)
			}
			if l := b.look(s, holder.Ref); l.Waiting != 3 {
				b.Errorf("%d wait; want 3", l.Waiting)
			}
		}},
		{"P9/TheLineOutlivesItsHandles", func(b *bench) {
			if !b.caps.CrossProcess {
				return // Declared/CrossProcess asserts that nothing is left
			}
			_, holder, line := b.line(2)
			b.closeAll()
			s := b.open()
			b.release(s, holder.Key)
			b.busy(s, line[1].Request, slot.ReasonLine)
			b.take(s, line[0].Request)
		}},
	}
}

func inOrder(b *bench) {
	s, holder, line := b.line(4)
	b.release(s, holder.Key)
	for i, w := range line {
		for _, behind := range line[i+1:] {
			b.busy(behind.s, behind.Request, slot.ReasonLine)
		}
		b.take(w.s, w.Request)
		b.release(s, w.Key)
	}
}

// waiter is one who waits in its own process, and had its channel before its
// place.
type waiter struct {
	claim.Request
	s    Store
	wake <-chan struct{}
}

// line makes a held slot with n waiters, and returns the holder's request and
// theirs.
func (b *bench) line(n int) (s Store, holder claim.Request, line []waiter) {
	b.Helper()
	s, holder = b.open(), b.detached(b.ref(1))
	b.take(s, holder)
	for i := range n {
		req := b.detached(holder.Ref)
		req.Ticket = b.ticket()
		var before *claim.Ticket
		if i > 0 {
			before = line[i-1].Ticket
		}
		w := waiter{Request: req, s: b.open()}
		ch, err := w.s.Wake(b.ctx, req.Ref, *req.Ticket)
		if err != nil || ch == nil {
			b.Fatalf("wake: %v, %v", ch, err)
		}
		w.wake = ch
		b.place(b.busy(w.s, req, slot.ReasonHeld), i, before)
		line = append(line, w)
	}
	return s, holder, line
}

func (b *bench) place(e *slot.BusyError, ahead int, before *claim.Ticket) {
	b.Helper()
	var want claim.Ticket
	if before != nil {
		want = *before
	}
	if p := e.Place; p == nil || p.Ahead != ahead || p.Before != want.Process || p.BeforeTicket != want.ID {
		b.Errorf("place %+v; want %d ahead, behind %+v", p, ahead, want)
	}
}

// poked waits for the store to wake a ticket. Without the capability nothing is
// promised, and the waiter asks by itself.
func (b *bench) poked(who string, ch <-chan struct{}) {
	b.Helper()
	if !b.caps.Notifies {
		b.quiet(who, ch)
		return
	}
	select {
	case <-ch:
	case <-time.After(10 * time.Second):
		b.Errorf("%s was not woken", who)
	}
}

func (b *bench) quiet(who string, ch <-chan struct{}) {
	b.Helper()
	select {
	case <-ch:
		b.Errorf("%s was woken", who)
	default:
	}
}
