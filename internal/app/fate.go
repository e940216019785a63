package app

import (
	"context"
	"slices"
	"strings"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/reserve"
	"github.com/oneslot/oneslot/internal/slot"
)

// refsOf reads the name of a reservation: its claim, its thread, and the ref that the
// claim's run is about.
func refsOf(record string) (id string, thread, lead slot.Ref, ok bool) {
	words := strings.Fields(record)
	if len(words) != 3 {
		return "", thread, lead, false // none of ours
	}
	thread, err := slot.ParseCanonical(words[1])
	if err == nil {
		lead, err = slot.ParseCanonical(words[2])
	}
	return words[0], thread, lead, err == nil
}

// fate tells what became of the claim that a reservation lives with. It lives for as
// long as a process of its run may, or it can be renewed. There is no end to tell of one
// under which nothing started, or that is not known any more: its comment is deleted.
func (r *Reservations) fate(ctx context.Context, record string) (lives bool, end *reserve.End, err error) {
	id, thread, lead, ok := refsOf(record)
	if !ok {
		return false, nil, nil
	}
	s, err := r.app.Store.Look(ctx, thread)
	if err != nil {
		return false, nil, err
	}
	if live := s.Live(); live != nil && live.ID == id {
		return !counts{r.app}.ended(ctx, *live), nil, nil
	}
	if last := s.Newest; last != nil && last.ID == id && last.Run == "" { // detached: no run tells
		return false, endOf(last.Outcome), nil
	}
	runs, err := r.app.Store.Runs(ctx, lead, 0)
	for _, run := range runs {
		switch {
		case run.Claim != id:
		case run.State == slot.RunEnded:
			return false, endOf(run.Outcome), nil
		case run.TreeGoneAt.IsZero() && run.Holder.Process.Boot == r.app.Clock.BootID():
			return true, nil, nil // somebody has the slot by now, who is about to end it
		}
	}
	return false, nil, err
}

// forsaken reports that a reservation's holder is dead or late, or was before the slot
// got free or its next holder died, and that no process of their runs is left: nobody
// may ever come for that slot, and the claim is to be ended before others are told.
func (r *Reservations) forsaken(ctx context.Context, record string) (slot.Ref, bool) {
	id, thread, lead, _ := refsOf(record)
	s, err := r.app.Store.Look(ctx, thread)
	if err != nil {
		return thread, false
	}
	run, err := r.runOf(ctx, lead, id)
	runs := []string{run}
	if c := s.Live(); c != nil {
		if d, _, _ := claim.Judge(Sight{}, *c); d == nil || d.Why != claim.Dead && !claim.Late(*c) {
			return thread, false
		}
		runs, lead = append(runs, c.Run), c.Ref
	}
	for _, run := range runs {
		if run != "" && err == nil {
			var left []proc.Member
			left, err = proc.Tree{Run: run}.Members()
			if len(left) > 0 {
				return thread, false
			}
		}
	}
	return lead, err == nil
}

// runOf is the id of the run of a claim, if it had one.
func (r *Reservations) runOf(ctx context.Context, lead slot.Ref, claim string) (string, error) {
	runs, err := r.app.Store.Runs(ctx, lead, 0)
	i := slices.IndexFunc(runs, func(run slot.Run) bool { return run.Claim == claim })
	if i < 0 {
		return "", err
	}
	return runs[i].ID, err
}

// endOf is what a thread is told of an outcome; nil: nothing started.
func endOf(o slot.Outcome) *reserve.End {
	if o.Result == slot.NoStart || o.Result == "" {
		return nil
	}
	e := &reserve.End{Outcome: string(o.Result), Summary: o.Summary, Link: o.PR}
	if e.Summary == "" {
		e.Summary = o.Reason
	}
	return e
}
