package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/failpoint"
	"github.com/oneslot/oneslot/internal/intake/hook"
	"github.com/oneslot/oneslot/internal/names"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/rule"
	"github.com/oneslot/oneslot/internal/slot"
)

// desk takes wishes: it asks the rules who wants an event, and puts all of it into
// the queue in one step.
type desk struct {
	queue  queue.Store
	names  *names.Names
	slot   func(context.Context, slot.Ref) (slot.Ref, error) // of a ref that somebody wrote
	config func() *config.Config
	last   *atomic.Pointer[terms]
}

func newDesk(q queue.Store, n *names.Names, slot func(context.Context, slot.Ref) (slot.Ref, error), cfg func() *config.Config) desk {
	return desk{q, n, slot, cfg, &atomic.Pointer[terms]{}}
}

// terms is what a configuration says of wishes: made once, for they come in storms.
type terms struct {
	of     *config.Config
	rules  rule.Set
	anyNew bool
}

// terms are those in force.
func (d desk) terms() *terms {
	cfg := d.config()
	t := d.last.Load()
	if t == nil || t.of != cfg {
		t = &terms{cfg, rule.New(cfg), anyNew(cfg)}
		d.last.Store(t)
	}
	return t
}

// Accept implements hook.Sink.
func (d desk) Accept(ctx context.Context, p hook.Parsed) ([]hook.Result, error) {
	if err := d.rename(ctx, p); err != nil {
		return nil, err
	}
	now := d.terms()
	arrival := queue.Arrival{Delivery: &p.Delivery, AnyNew: now.anyNew}
	for _, e := range p.Events {
		arrival.Wishes = append(arrival.Wishes, wanted(now.rules, e))
	}
	failpoint.Hit(failpoint.AfterAccept)
	accepted, err := d.queue.Accept(ctx, arrival)
	failpoint.Hit(failpoint.AfterCommit)
	if err != nil {
		return nil, err
	}
	results, kept := inOrder(arrival.Wishes, accepted)
	if p.Delivery.File != "" && !kept {
		os.Remove(p.Delivery.File) //nolint:errcheck // the sweep removes what is old
	}
	return results, nil
}

// rename notes what a delivery says of its repository's name, and gives its events the
// refs of the slots.
func (d desk) rename(ctx context.Context, p hook.Parsed) error {
	if m := p.Moved; m != nil {
		return d.names.Moved(ctx, m.ID, m.From, m.To)
	}
	host, _, _ := strings.Cut(p.Repo.Name, "/")
	slots, err := d.names.Alias(ctx, host, p.Repo.ID, p.Repo.Name)
	if err != nil {
		return err
	}
	for i := range p.Events {
		e := &p.Events[i]
		repo := slots
		if p.Repo.ID == "" || e.Repo != p.Repo.Name {
			if repo, err = d.names.CanonicalRepo(ctx, e.Repo); err != nil {
				return err
			}
		}
		if repo == e.Repo {
			continue
		}
		if e.Repo = repo; !e.Ref.IsZero() { // it is of that repository
			if e.Ref, err = e.Ref.In(repo); err != nil {
				return err
			}
		}
	}
	return nil
}

// inOrder gives one result for each wish: what became of it under the rule that
// made the most of it. kept says whether anything of it needs the delivery's body.
func inOrder(wishes []queue.Wish, accepted []queue.Accepted) (results []hook.Result, kept bool) {
	for _, w := range wishes {
		n := max(len(w.Policies), 1)
		if w.Event.Ref.IsZero() { // its rules are asked when its ref is found
			n = 1
		}
		best := accepted[0]
		for _, a := range accepted[:n] {
			if weight(a.Intake) > weight(best.Intake) {
				best = a
			}
		}
		accepted = accepted[n:]
		kept = kept || best.Event.ID != ""
		if w.Event.Ref.IsZero() && best.Intake == slot.Queued {
			best.Reason = "it names no pull request; kept until one with its head is looked up"
		}
		results = append(results, hook.Result{ID: best.Event.ID, Intake: best.Intake, Of: best.Of, Reason: best.Reason})
	}
	return results, kept
}

func weight(i slot.Intake) int {
	return slices.Index([]slot.Intake{slot.Ignored, slot.Duplicate, slot.Coalesced, slot.Queued}, i)
}

// wanted finds the rules that want an event. One whose ref is not known yet may be
// wanted by any of them.
func wanted(rules rule.Set, e slot.Event) queue.Wish {
	w := queue.Wish{Event: e}
	for _, r := range rules.Wanting(e) {
		w.Policies = append(w.Policies, r.Policy())
	}
	if len(w.Policies) == 0 {
		w.Ignored = fmt.Sprintf("no rule wants %s here", e.Kind)
	}
	return w
}

// anyNew reports whether the gate already_handled is off.
func anyNew(cfg *config.Config) bool {
	for _, g := range cfg.GatesInForce() {
		if g.Type.V == "already_handled" {
			return false
		}
	}
	return true
}

// Wish is what a person or a program asks for.
type Wish struct {
	Ref  slot.Ref
	Kind slot.EventKind // empty: manual
	// Rule names one; "" is [worker]. nil: every rule that wants the event, or
	// [worker] if none does.
	Rule *string
	Path string // slot.PathManual or slot.PathAPI
	Key  string // of idempotency; empty: it is always new
	Note string
	// Run is a command given with the wish. Only whoever may start programs as
	// this user anyway may give one.
	Run []string
	Dir string // its working folder
}

// Dispatch puts a wish into the queue.
func (d desk) Dispatch(ctx context.Context, w Wish) ([]queue.Accepted, error) {
	if w.Kind == "" {
		w.Kind = slot.Manual
	}
	var err error
	if w.Ref, err = d.slot(ctx, w.Ref); err != nil {
		return nil, err
	}
	e := slot.Event{Path: w.Path, Repo: w.Ref.Repo(), Ref: w.Ref, Kind: w.Kind, Facts: slot.Facts{Note: w.Note}}
	policies, err := d.policies(w, e)
	if err != nil {
		return nil, err
	}
	return d.queue.Accept(ctx, queue.Arrival{
		Wishes: []queue.Wish{{Event: e, Policies: policies, Key: w.Key}}, AnyNew: true,
	})
}

// policies are those of the rules that a wish is for.
func (d desk) policies(w Wish, e slot.Event) (list []queue.Policy, err error) {
	rules := d.terms().rules
	if w.Rule == nil && len(w.Run) == 0 {
		for _, r := range rules.Wanting(e) {
			list = append(list, r.Policy())
		}
		if len(list) > 0 {
			return list, nil
		}
	}
	name := ""
	if w.Rule != nil {
		name = *w.Rule
	}
	r, ok := rules.Named(name)
	if !ok {
		return nil, fmt.Errorf("%w: no rule has the name %q", slot.ErrUsage, name)
	}
	if _, has := rules.Worker(); name == "" && !has && len(w.Run) == 0 {
		return nil, fmt.Errorf("%w: there is nothing to run for it: set [worker] run, name a --rule, or give a command after --", slot.ErrConfig)
	}
	p := r.Policy()
	p.Run, p.Dir = w.Run, w.Dir
	return []queue.Policy{p}, nil
}
