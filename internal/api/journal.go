package api

import (
	"context"
	"fmt"

	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

func journalRoutes() []route {
	return []route{
		do("GET", "/api/v1/runs", Read, "Runs, the newest first", runs),
		do("GET", "/api/v1/runs/open", Read, "Runs of a slot on one host that may have left something there", openRuns),
		do("GET", "/api/v1/runs/{run}", Read, "One run", oneRun),
		do("POST", "/api/v1/runs/{run}/gone", Dispatch, "Nothing of the run is left on its host", treeGone),
		do("GET", "/api/v1/decisions", Read, "The decisions on a ref, oldest first", decisions),
		do("POST", "/api/v1/decisions", Dispatch, "Record a decision", note),
		do("POST", "/api/v1/decisions/prune", Admin, "Drop what is older", prune),
		do("GET", "/api/v1/holds", Read, "What a person paused", holds),
		do("POST", "/api/v1/holds", Admin, "Pause a ref, a repository or everything", hold),
		do("POST", "/api/v1/holds/end", Admin, "End a pause", unhold),
	}
}

type runsQuery struct {
	Ref   string `json:"ref"`
	Limit int    `json:"limit"` // the newest so many; 1000 if left out
}

func runs(c *call, in runsQuery) (wire.Runs, error) {
	var ref slot.Ref
	var err error
	if in.Ref != "" {
		if ref, err = c.ref(in.Ref); err != nil {
			return wire.Runs{}, err
		}
	}
	list, err := c.Claims.Runs(c.ctx(), ref, bounded(in.Limit))
	return c.outRuns(list), err
}

type openRunsQuery struct {
	Ref  string `json:"ref"`
	Boot string `json:"boot"` // the boot id of the host
}

func openRuns(c *call, in openRunsQuery) (wire.Runs, error) {
	ref, err := c.ref(in.Ref)
	if err != nil {
		return wire.Runs{}, err
	}
	boot := c.in(slot.Process{Boot: in.Boot}).Boot
	var list []slot.Run
	if far, ok := c.Claims.(farRuns); ok && boot != c.Boot {
		list, err = far.OpenRunsOf(c.ctx(), ref, boot)
	} else if boot == c.Boot {
		list, err = c.Claims.OpenRuns(c.ctx(), ref)
	} else {
		err = fmt.Errorf("%w: this server keeps no runs of other hosts", slot.ErrConfig)
	}
	return c.outRuns(list), err
}

// farRuns is what a store must have to be asked for the open runs of a host other
// than its own.
type farRuns interface {
	OpenRunsOf(ctx context.Context, ref slot.Ref, boot string) ([]slot.Run, error)
}

func oneRun(c *call, _ none) (wire.Run, error) {
	r, err := c.Claims.Run(c.ctx(), c.r.PathValue("run"))
	return c.outRun(r), err
}

func treeGone(c *call, in wire.Outcome) (wire.OK, error) {
	id := c.r.PathValue("run")
	r, err := c.Claims.Run(c.ctx(), id)
	if err != nil {
		return wire.OK{}, err
	}
	// Whoever is not of the run's host cannot know: the next run there would start
	// beside what is left of it.
	if !c.who.near && !r.Holder.Process.Far() && c.who.role < Admin {
		return wire.OK{}, fmt.Errorf("%w: run %s is one of the server's host, which looks for itself", slot.ErrNotAllowed, id)
	}
	return wire.OK{OK: true}, c.Claims.TreeGone(c.ctx(), id, in.Slot())
}

func decisions(c *call, in oneRef) (wire.Decisions, error) {
	out := wire.Decisions{Decisions: []wire.Decision{}}
	ref, err := c.ref(in.Ref)
	if err != nil {
		return out, err
	}
	list, err := c.Claims.Decisions(c.ctx(), ref)
	for _, d := range list {
		out.Decisions = append(out.Decisions, wire.FromDecision(d))
	}
	return out, err
}

func note(c *call, in wire.Decision) (wire.OK, error) {
	if in.Ref.IsZero() {
		return wire.OK{}, usage("a decision is about a ref")
	}
	d := in.Slot()
	if err := short(d.Path, d.Reason, d.Detail, d.Next); err != nil {
		return wire.OK{}, err
	}
	d.LastAt, d.Count = d.At, 0
	return wire.OK{OK: true}, c.Claims.Note(c.ctx(), d)
}

func prune(c *call, in wire.Prune) (wire.Number, error) {
	n, err := c.Claims.Prune(c.ctx(), in.Before)
	return wire.Number{Number: n}, err
}

func holds(c *call, _ none) (wire.Holds, error) {
	out := wire.Holds{Holds: []wire.Hold{}}
	list, err := c.Claims.Holds(c.ctx())
	for i := range list {
		out.Holds = append(out.Holds, *wire.FromHold(&list[i]))
	}
	return out, err
}

func hold(c *call, in wire.Hold) (wire.OK, error) {
	scope, err := c.scope(in.Scope)
	if err != nil {
		return wire.OK{}, err
	}
	if err := short(in.Reason, in.By); err != nil {
		return wire.OK{}, err
	}
	h := *in.Slot()
	h.Scope = scope
	if h.By == "" {
		h.By = c.who.name
	}
	if err := c.Claims.Hold(c.ctx(), h); err != nil {
		return wire.OK{}, err
	}
	c.Log.Info("put on hold", "scope", scope, "by", c.who.name)
	c.Feed.Tell("hold", scope)
	return wire.OK{OK: true}, nil
}

func unhold(c *call, in wire.Unhold) (wire.Was, error) {
	scope, err := c.scope(in.Scope)
	if err != nil {
		return wire.Was{}, err
	}
	was, err := c.Claims.Unhold(c.ctx(), scope)
	if err == nil && was {
		c.Log.Info("hold ended", "scope", scope, "by", c.who.name)
		c.Feed.Tell("hold", scope)
	}
	return wire.Was{Was: was}, err
}
