package claimtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
)

// bench is what one test works with: a fresh store, its clock, and the words to
// ask and to judge in.
type bench struct {
	runner
	ctx  context.Context
	h    Harness
	caps claim.Capabilities
	opt  Options // all filled

	ttl, grace time.Duration // of the claims that the tests take
	procs      int
	opened     []Store
}

// open gives a new handle; the end of the test closes it.
func (b *bench) open() Store { return b.opens(b.h.Open) }

func (b *bench) opens(open func() (Store, error)) Store {
	b.Helper()
	s, err := open()
	if err != nil {
		b.Fatalf("open: %v", err)
	}
	b.opened = append(b.opened, s)
	b.Cleanup(func() { s.Close() })
	return s
}

// closeAll closes every handle, as when all processes end.
func (b *bench) closeAll() {
	b.Helper()
	for _, s := range b.opened {
		if err := s.Close(); err != nil {
			b.Fatalf("close: %v", err)
		}
	}
	b.opened = nil
}

// pass lets time go by.
func (b *bench) pass(d time.Duration) {
	if b.h.Clock != nil {
		b.h.Clock.Advance(d)
		return
	}
	time.Sleep(d) // the backend's clock is nobody's to move
}

// past lets time go by until a deadline d away has surely passed.
func (b *bench) past(d time.Duration) { b.pass(d + 2*b.caps.Tick) }

func (b *bench) wall() time.Time {
	if b.h.Clock != nil {
		return b.h.Clock.Wall()
	}
	return time.Now()
}

func (b *bench) bootID() string {
	if b.h.Clock != nil {
		return b.h.Clock.BootID()
	}
	return b.h.BootID
}

func (b *bench) ref(n int) slot.Ref {
	return b.parse(fmt.Sprintf("github.com/octo-org/octo-repo#%d", n))
}

func (b *bench) parse(s string) slot.Ref {
	b.Helper()
	r, err := slot.ParseCanonical(s)
	if err != nil {
		b.Fatalf("ref %s: %v", s, err)
	}
	return r
}

// process makes up a process of this host and boot.
func (b *bench) process() slot.Process {
	b.procs++
	return slot.Process{Boot: b.bootID(), NS: 4026531836, PID: 1000 + b.procs, Ticks: uint64(b.procs)}
}

func (b *bench) detached(ref slot.Ref) claim.Request {
	return claim.Request{
		Ref: ref, Key: claim.NewKey(ref), Kind: slot.Detached, TTL: b.ttl, Grace: b.grace,
		Holder: slot.Holder{Host: "host-a", Process: b.process(), UID: 1000, Path: "manual", Command: "claimtest"},
	}
}

func (b *bench) supervised(ref slot.Ref) claim.Request {
	r := b.detached(ref)
	r.Kind, r.Run = slot.Supervised, claim.NewID()
	r.Dir, r.Rule = "/state/runs/"+r.Run, "fix-ci"
	return r
}

func (b *bench) ticket() *claim.Ticket {
	return &claim.Ticket{ID: claim.NewID(), Process: b.process()}
}

// over is the request again, with the ground to set a claim aside.
func over(req claim.Request, id string, why claim.Why) claim.Request {
	req.Displace = &claim.Displace{Claim: id, Why: why, Detail: "the suite says so"}
	return req
}

func (b *bench) take(s Store, req claim.Request) claim.Grant {
	b.Helper()
	g, err := s.Acquire(b.ctx, req)
	if err != nil {
		b.Fatalf("acquire %s: %v; want a grant", req.Ref, err)
	}
	if g.Claim.ID != req.Key.Claim || g.Claim.Ref != req.Ref || g.Claim.Ended {
		b.Fatalf("acquire %s: granted %+v; want the live claim %s", req.Ref, g.Claim, req.Key.Claim)
	}
	return g
}

// begin takes a supervised claim through to running.
func (b *bench) begin(s Store, req claim.Request) claim.Grant {
	b.Helper()
	g := b.take(s, req)
	b.start(s, req.Key)
	return g
}

func (b *bench) start(s Store, key claim.Key) {
	b.Helper()
	l, err := s.Start(b.ctx, key)
	if err != nil {
		b.Fatalf("start: %v", err)
	}
	if l.Phase != slot.Running || l.TTL <= 0 {
		b.Fatalf("start: lease %+v; want running with time left", l)
	}
}

func (b *bench) gone(s Store, run string) {
	b.Helper()
	if err := s.TreeGone(b.ctx, run, slot.Outcome{Result: slot.Vanish}); err != nil {
		b.Fatalf("tree gone: %v", err)
	}
}

func (b *bench) release(s Store, key claim.Key) slot.Claim {
	b.Helper()
	c, err := s.Release(b.ctx, key, slot.Outcome{Result: slot.Done})
	if err != nil {
		b.Fatalf("release: %v", err)
	}
	if !c.Ended {
		b.Fatalf("release answered a claim that is not ended: %+v", c)
	}
	return c
}

func (b *bench) renew(s Store, key claim.Key) claim.Lease {
	b.Helper()
	l, err := s.Renew(b.ctx, key)
	if err != nil {
		b.Fatalf("renew: %v", err)
	}
	return l
}

func (b *bench) look(s Store, ref slot.Ref) claim.Slot {
	b.Helper()
	l, err := s.Look(b.ctx, ref)
	if err != nil {
		b.Fatalf("look: %v", err)
	}
	return l
}

// newest is the slot's newest record, which must be there.
func (b *bench) newest(s Store, ref slot.Ref) slot.Claim {
	b.Helper()
	l := b.look(s, ref)
	if l.Newest == nil {
		b.Fatalf("%s has no record", ref)
	}
	return *l.Newest
}

// busy asks and must be refused because of the holder or the line.
func (b *bench) busy(s Store, req claim.Request, reason string) *slot.BusyError {
	b.Helper()
	g, err := s.Acquire(b.ctx, req)
	e, ok := errors.AsType[*slot.BusyError](err)
	if !ok {
		b.Fatalf("acquire %s: granted fence %d, error %v; want busy (%s)", req.Ref, g.Claim.Fence, err, reason)
	}
	if e.Reason != reason || e.Ref != req.Ref {
		b.Fatalf("acquire %s: refused for %s with reason %q; want %q", req.Ref, e.Ref, e.Reason, reason)
	}
	if (reason == slot.ReasonHeld) != (e.Claim.ID != "") {
		b.Errorf("a refusal with reason %q names claim %q", reason, e.Claim.ID)
	}
	return e
}

func (b *bench) wantLost(what string, err error) {
	b.Helper()
	if !errors.Is(err, slot.ErrLost) {
		b.Errorf("%s: %v; want lost", what, err)
	}
}

func (b *bench) wantUsage(what string, err error) {
	b.Helper()
	if !errors.Is(err, slot.ErrUsage) {
		b.Errorf("%s: %v; want a usage error", what, err)
	}
}

// unchanged runs f and asserts that the slot's record is as it was.
func (b *bench) unchanged(s Store, ref slot.Ref, f func()) {
	b.Helper()
	before := b.newest(s, ref)
	f()
	after := b.newest(s, ref)
	if b.h.Clock == nil {
		before.Left, after.Left = 0, 0
		before.ExpiresAt, after.ExpiresAt = time.Time{}, time.Time{}
	}
	if !reflect.DeepEqual(before, after) {
		b.Errorf("the slot's record changed\nfrom %+v\nto   %+v", before, after)
	}
}
