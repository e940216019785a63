package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/app"
	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/ending"
	"github.com/oneslot/oneslot/internal/slot"
)

// taking is how a slot is asked for.
type taking struct {
	any     bool // the first free one of several refs
	wait    bool
	longest time.Duration // of waiting; 0 no bound
	force   bool
	reason  string // of the force
	now     bool   // force does not wait for another host
	uid     int    // who asks: force ends only what that user can
	// request describes the claim of one ref.
	request func(slot.Ref) claim.Request
	gates   *app.Admission
}

// take gets one of the refs, or a refusal.
func (c *cli) take(ctx context.Context, a *app.App, refs []slot.Ref, t taking) (claim.Grant, claim.Request, error) {
	refs, err := a.Slots(ctx, refs)
	if err == nil {
		refs, err = c.outside(ctx, a, refs)
	}
	if err != nil {
		return claim.Grant{}, claim.Request{}, err
	}
	if t.any {
		return takeAny(ctx, a, refs, t)
	}
	req := t.request(refs[0])
	switch {
	case t.force: // it passes the gates
		g, told, err := c.takeByForce(ctx, a, req, t)
		if err == nil && !told {
			err = a.Store.Note(ctx, slot.Decision{
				Ref: req.Ref, Path: req.Holder.Path, Verdict: slot.Proceed, Reason: slot.ReasonForced, Detail: t.reason,
				Next: "no gate but hold was asked", Fence: g.Claim.Fence, Run: req.Run,
			})
		}
		if err == nil {
			err = under(ctx, a, g, req, t.gates) // asks none of them, and tells others
		}
		return g, req, err
	case t.wait:
		return waitForGates(ctx, a, t, refs[0])
	}
	g, err := takeOne(ctx, a, req, t.gates, a.Taker().Take)
	return g, req, err
}

// takeOne asks the gates, takes the slot, and asks them again.
func takeOne(ctx context.Context, a *app.App, req claim.Request, gates *app.Admission,
	take func(context.Context, claim.Request) (claim.Grant, error)) (claim.Grant, error) {
	if err := gates.Ask(ctx, req); err != nil {
		return claim.Grant{}, err
	}
	g, err := take(ctx, req)
	if err != nil {
		return g, err
	}
	return g, under(ctx, a, g, req, gates)
}

// under asks the gates again, and tells others. A signal ends that: what they were
// told is taken back, and the claim given back.
func under(ctx context.Context, a *app.App, g claim.Grant, req claim.Request, gates *app.Admission) error {
	if gates == nil {
		return nil
	}
	ctx, stop := interruptible(ctx)
	err := gates.Under(ctx, g, req)
	code := stop()
	if code == nil {
		return err
	}
	if err != nil {
		return code
	}
	after := context.WithoutCancel(ctx) // it came with the last answer
	out := slot.Outcome{Result: slot.NoStart, Reason: "interrupted before the start", Unspent: true}
	if _, err := a.Store.Release(after, req.Key, out); err != nil {
		return fmt.Errorf("interrupted, and the claim just granted could not be given back: %w", err)
	}
	return code
}

// waitForGates waits in line, and until the gates let pass. Each try is a claim of
// its own.
func waitForGates(ctx context.Context, a *app.App, t taking, ref slot.Ref) (g claim.Grant, req claim.Request, err error) {
	err = t.gates.Persist(ctx, t.longest, func(left time.Duration) (err error) {
		req = t.request(ref)
		g, err = takeOne(ctx, a, req, t.gates, func(ctx context.Context, req claim.Request) (claim.Grant, error) {
			return wait(ctx, a, req, left)
		})
		return err
	}, interruptible)
	return g, req, err
}

// wait stands in line. A signal leaves the line.
func wait(ctx context.Context, a *app.App, req claim.Request, longest time.Duration) (claim.Grant, error) {
	ctx, stop := interruptible(ctx)
	g, err := a.Taker().Wait(ctx, req, longest)
	if code := stop(); code != nil {
		if err == nil { // it came with the grant
			out := slot.Outcome{Result: slot.NoStart, Reason: "interrupted before the start"}
			if _, err := a.Store.Release(context.WithoutCancel(ctx), req.Key, out); err != nil {
				return claim.Grant{}, fmt.Errorf("interrupted, and the claim just granted could not be given back: %w", err)
			}
		}
		return claim.Grant{}, code
	}
	return g, err
}

// takeAny takes the first free one. It looks first, since a look is cheap and a
// refusal is written down; what is then left is asked for in order. So with as
// many refs as callers nobody goes away with nothing: whoever was refused
// everywhere saw every ref in somebody else's hands.
func takeAny(ctx context.Context, a *app.App, refs []slot.Ref, t taking) (g claim.Grant, req claim.Request, err error) {
	for _, ref := range refs {
		s, err := a.Store.Look(ctx, ref)
		if err != nil {
			return g, req, err
		}
		if viewOf(a, s).State != stateFree {
			continue
		}
		req = t.request(ref)
		if g, err = takeOne(ctx, a, req, t.gates, a.Taker().Take); err == nil || !slot.IsRefusal(err) {
			return g, req, err
		}
	}
	none := &noneFree{}
	for _, ref := range refs {
		req = t.request(ref)
		if g, err = takeOne(ctx, a, req, t.gates, a.Taker().Take); err == nil || !slot.IsRefusal(err) {
			return g, req, err
		}
		none.refusals = append(none.refusals, err)
	}
	if len(none.refusals) == 1 {
		return g, req, none.refusals[0]
	}
	return g, req, none
}

// takeByForce passes the line and takes a live holder's slot, but not one that is
// on hold. Whom it sees is whom it displaces: nobody else who came meanwhile. told is
// whether the reason for that is on record with the claim.
func (c *cli) takeByForce(ctx context.Context, a *app.App, req claim.Request, t taking) (g claim.Grant, told bool, err error) {
	s, err := a.Store.Look(ctx, req.Ref)
	if err != nil {
		return g, false, err
	}
	req.Head = true
	live := s.Live()
	if live == nil || s.Hold != nil || a.Ender().Overtaken(*live) {
		g, err = a.Taker().Take(ctx, req)
		return g, false, err
	}
	if live.Run != "" && slices.Contains(a.Inside, live.Run) {
		return g, false, &slot.BusyError{Ref: req.Ref, Reason: slot.ReasonInside, Claim: *live, Store: a.Store.Address()}
	}
	if d, _, _ := claim.Judge(app.Sight{}, *live); d != nil {
		g, err = a.Taker().Take(ctx, req)
		return g, false, err
	}
	if away(a, *live) && !t.now {
		c.printf(c.Err, "oneslot: %s is held by %s, out of sight from here: waiting until it is released or expires (--now does not wait)\n",
			req.Ref, clean(live.Who()))
		g, err = wait(ctx, a, req, t.longest)
		return g, false, err
	}
	if err := ending.MayEnd(t.uid, *live); err != nil {
		return g, false, err
	}
	refusal := &slot.BusyError{Ref: req.Ref, Reason: slot.ReasonHeld, Claim: *live, Store: a.Store.Address()}
	yes, err := c.confirm(fmt.Sprintf("%s\nend that and take the slot?", busyLine(refusal)))
	if err != nil {
		return g, false, err
	}
	if !yes {
		return g, false, refusal
	}
	req.Displace = &claim.Displace{Claim: live.ID, Why: claim.Forced, Detail: t.reason}
	g, err = a.Taker().Take(ctx, req)
	return g, true, err
}

// away reports that the work under a claim may go on where it cannot be stopped
// from here.
func away(a *app.App, c slot.Claim) bool {
	switch {
	case c.Kind == slot.Waiting:
		return false
	case c.Holder.Process.IsZero():
		return a.Store.Capabilities().CrossHost
	}
	life, _ := app.Sight{}.Life(c.Holder.Process)
	return life == claim.Unseen
}

// confirm asks a person at a terminal; anywhere else the answer is yes, since
// what the question is about was given as a flag.
func (c *cli) confirm(question string) (bool, error) {
	if !onTerminal(c.In) || !onTerminal(c.Err) {
		return true, nil
	}
	c.printf(c.Err, "%s [y/N] ", question)
	// One read is one line. Nothing that comes after it is taken from the worker.
	line := make([]byte, 256)
	n, err := c.In.Read(line)
	if err != nil && n == 0 {
		return false, errors.Join(slot.ErrUsage, errors.New("no answer"))
	}
	switch strings.ToLower(strings.TrimSpace(string(line[:n]))) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}
