package claimtest

import (
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// coverLineTests: who waits for a slot that is covered, and a lead that waits.
func coverLineTests() []test {
	return []test{
		{"P6/TheLineOfACoveredSlotIsWoken", covers(func(b *bench, s Store) {
			lead := b.lead(b.detached(b.ref(33)), 10, 11)
			b.take(s, lead)
			w := b.waits(b.detached(b.ref(10)))
			b.release(s, lead.Key)
			b.poked("who waits for the issue", w.wake)
			b.busy(s, b.detached(b.ref(10)), slot.ReasonLine)
			b.take(w.s, w.Request)
		})},
		{"P6/TheLineIsWokenWhenTheLeadIsSetAside", covers(func(b *bench, s Store) {
			lead := b.lead(b.detached(b.ref(33)), 10, 11)
			b.take(s, lead)
			w := b.waits(b.detached(b.ref(11)))
			own := b.waits(b.detached(b.ref(33)))
			b.take(s, over(b.detached(b.ref(10)), lead.Key.Claim, claim.Dead))
			b.poked("who waits for another issue", w.wake)
			b.poked("who waits for the lead's own", own.wake)
			b.take(w.s, w.Request)
			b.take(own.s, own.Request)
		})},
		{"P6/AWaitingLeadIsWoken", covers(func(b *bench, s Store) {
			first, second := b.detached(b.ref(10)), b.detached(b.ref(11))
			b.take(s, first)
			b.take(s, second)
			w := b.waits(b.lead(b.detached(b.ref(33)), 10, 11))
			b.release(s, first.Key)
			b.poked("the lead, after the first", w.wake)
			b.busy(w.s, w.Request, slot.ReasonHeld)
			b.release(s, second.Key)
			b.poked("the lead, after the second", w.wake)
			b.take(w.s, w.Request)
			if n := b.look(s, w.Ref).Waiting; n != 0 {
				b.Errorf("%d wait; want none", n)
			}
		})},
		{"P6/AWaitingLeadIsWokenByALead", covers(func(b *bench, s Store) {
			first := b.lead(b.detached(b.ref(33)), 10)
			b.take(s, first)
			w := b.waits(b.lead(b.detached(b.ref(34)), 10))
			b.release(s, first.Key)
			b.poked("the second lead", w.wake)
			b.take(w.s, w.Request)
		})},
		{"P6/TheEndOfAHoldWakesALead", covers(func(b *bench, s Store) {
			b.hold(s, b.ref(10).String(), "x")
			w := b.waits(b.lead(b.detached(b.ref(33)), 10))
			b.unhold(s, b.ref(10).String(), true)
			b.poked("the lead", w.wake)
			b.take(w.s, w.Request)
		})},
		{"P9/ALeadDoesNotOvertake", covers(func(b *bench, s Store) {
			holder := b.detached(b.ref(10))
			b.take(s, holder)
			w := b.waits(b.detached(b.ref(10)))
			lead := b.waits(b.lead(b.detached(b.ref(33)), 10))
			b.release(s, holder.Key)
			b.busy(lead.s, lead.Request, slot.ReasonLine)
			b.take(w.s, w.Request)
			b.busy(lead.s, lead.Request, slot.ReasonHeld)
			b.drain(lead.wake)
			b.release(w.s, w.Key)
			b.poked("the lead", lead.wake)
			b.take(lead.s, lead.Request)
		})},
		{"P9/ASilentLineKeepsNoLeadOut", covers(func(b *bench, s Store) {
			holder := b.detached(b.ref(10))
			b.take(s, holder)
			b.waits(b.detached(b.ref(10)))
			b.release(s, holder.Key)
			b.past(b.opt.Turn)
			b.take(s, b.lead(b.detached(b.ref(33)), 10))
		})},
		{"C09/TwoThatWaitForEachOtherGetOn", covers(func(b *bench, s Store) {
			// Each is the head of a line that the other would cover.
			holder := b.lead(b.detached(b.ref(1)), 33, 34)
			b.take(s, holder)
			x, y := b.waits(b.lead(b.detached(b.ref(33)), 34)), b.waits(b.lead(b.detached(b.ref(34)), 33))
			b.release(s, holder.Key)
			b.busy(x.s, x.Request, slot.ReasonLine)
			b.busy(y.s, y.Request, slot.ReasonLine)
			b.past(b.opt.Turn)
			b.take(x.s, x.Request)
			b.busy(y.s, y.Request, slot.ReasonHeld)
			b.release(x.s, x.Key)
			b.take(y.s, y.Request)
		})},
	}
}

// waits puts a request in line, in a process of its own.
func (b *bench) waits(req claim.Request) waiter {
	b.Helper()
	w := waiter{Request: req, s: b.open()}
	w.Ticket = b.ticket()
	ch, err := w.s.Wake(b.ctx, req.Ref, *w.Ticket)
	if err != nil || ch == nil {
		b.Fatalf("wake: %v, %v", ch, err)
	}
	w.wake = ch
	if _, err := w.s.Acquire(b.ctx, w.Request); !slot.IsRefusal(err) {
		b.Fatalf("acquire %s: %v; want to wait", req.Ref, err)
	}
	return w
}

// drain forgets a poke that may have come.
func (b *bench) drain(ch <-chan struct{}) {
	select {
	case <-ch:
	default:
	}
}
