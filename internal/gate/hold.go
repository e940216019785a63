package gate

import (
	"context"
	"slices"

	"github.com/oneslot/oneslot/internal/slot"
)

// Hold lets each gate that is a Holder keep others out while the run lives. Call it
// under the claim, after the last Decide and before the start.
//
// undo lets go of all at once, for a start that did not happen; it is never nil.
// With any verdict but Proceed nothing is held.
func (s *Set) Hold(ctx context.Context, a Ask, run Run) (d Decision, undo func(context.Context)) {
	d = Decision{Verdict: slot.Proceed, Skipped: map[string]Answer{}}
	run.Slug = a.Ref.Slug()
	var held []func(context.Context)
	undo = func(ctx context.Context) {
		for _, letGo := range slices.Backward(held) {
			letGo(ctx)
		}
	}
	for _, e := range s.entries {
		h, ok := e.Gate.(Holder)
		if !ok {
			continue
		}
		ans, letGo := e.hold(ctx, h, a, run)
		if letGo != nil {
			held = append(held, letGo)
		}
		on := ctx.Err() == nil
		if on {
			on = s.weigh(ctx, &d, e, &a, ans)
		} else {
			d = s.cutOff(d, e)
		}
		if !on {
			undo(context.WithoutCancel(ctx))
			return d, func(context.Context) {}
		}
	}
	return d, undo
}

type holding struct {
	ans   Answer
	letGo func(context.Context)
}

// hold asks one Holder within its time limit. What it takes later it gives back.
func (e *entry) hold(ctx context.Context, h Holder, a Ask, run Run) (Answer, func(context.Context)) {
	got, in := within(ctx, e, func(ctx context.Context) holding {
		ans, letGo := h.Hold(ctx, a, run)
		return holding{ans, letGo}
	}, func(late holding) {
		if late.letGo != nil {
			late.letGo(context.WithoutCancel(ctx))
		}
	})
	if !in {
		return e.silent(), nil
	}
	return got.ans, got.letGo
}
