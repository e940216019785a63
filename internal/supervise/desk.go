package supervise

import (
	"context"

	"github.com/oneslot/oneslot/internal/slot"
)

// runDesk answers the run's socket. It talks to the loop, never to the loop's
// fields.
type runDesk run

// reasonReleased is why the claim of a worker that released it is not its own.
const reasonReleased = "released"

func (d *runDesk) check(ctx context.Context) Answer {
	if d.done.Load() { // the slot is still held for what is left of the run
		return Answer{State: Gone, Reason: reasonReleased}
	}
	c, err := d.Store.Check(ctx, d.Key)
	a := answerTo(err)
	if err == nil {
		a.Ref, a.Fence, a.Left = c.Ref.String(), c.Fence, c.Left.Milliseconds()
	}
	return a
}

func (d *runDesk) renew(ctx context.Context) Answer { return d.wish(ctx, "") }

func (d *runDesk) release(ctx context.Context, said slot.Result) Answer {
	switch said {
	case "":
		said = slot.Done
	case slot.Done, slot.Failed, slot.Later, slot.Waits:
	default:
		return Answer{State: Unclear, Reason: "no such outcome"}
	}
	return d.wish(ctx, said)
}

func (d *runDesk) wish(ctx context.Context, release slot.Result) Answer {
	reply := make(chan Answer, 1)
	select {
	case d.wishes <- wish{release, reply}:
	case <-ctx.Done():
		return Answer{State: Unclear, Reason: "the supervisor does not answer"}
	}
	select {
	case a := <-reply:
		return a
	case <-ctx.Done():
		return Answer{State: Unclear, Reason: "the supervisor does not answer"}
	}
}
