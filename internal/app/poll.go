package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/oneslot/oneslot/internal/api"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/dispatch"
	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/intake/poll"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/rule"
	"github.com/oneslot/oneslot/internal/slot"
)

// pollerOf makes the timer path of a configuration.
func (a *App) pollerOf(cfg *config.Config, all forges, d desk, feed *api.Feed, log *slog.Logger) *poll.Poller {
	o := poll.Options{
		Sink: found{d, feed, log}, Unresolved: orphans{a.Queue, d}, Own: ownOf(cfg), Labels: ticketLabels(cfg), Log: log,
		Commands: commandsOf(cfg), Every: everyOf(cfg), Wants: wantsOf(cfg),
		Known: func(ctx context.Context, host string, r forge.Repo) {
			if _, err := a.Names.Alias(ctx, host, r.ID, r.Name); err != nil {
				log.Error("a repository's name could not be noted", "repo", r.Name, "err", err)
			}
		},
	}
	o.Cursors, _ = a.Store.(poll.Cursors)
	for _, f := range cfg.Forges {
		c := all.at[f.Host.V]
		o.Sources = append(o.Sources, poll.Source{
			Host: f.Host.V, Type: f.Type.V, Client: c, Repos: f.Repos.V, Poll: f.Poll.V, Lags: c.Capabilities().Lags,
			Look: lookCost(f.Type.V), Redeliver: func(string) bool { return c.Capabilities().Redelivers && hooksOn(cfg, f) },
		})
	}
	return poll.New(o)
}

// lookCost is how many requests a look at one pull request takes.
func lookCost(forgeType string) int {
	if forgeType == "gitlab" { // the merge request, its pipeline, its jobs
		return 3
	}
	return 2
}

// hooksOn reports whether a hook of ours takes what the forge sends.
func hooksOn(cfg *config.Config, f config.Forge) bool {
	return slices.ContainsFunc(cfg.Hooks, func(h config.Hook) bool {
		return h.Forge.V == f.Type.V && (h.Host.V == "" || h.Host.V == f.Host.V)
	})
}

func ownOf(cfg *config.Config) mark.Own {
	return mark.Own{Logins: cfg.Trust.Own.V, Apps: cfg.Trust.Own.V}
}

// commandsOf are the commands of comments, whatever path they come by.
func commandsOf(cfg *config.Config) []string {
	var list []string
	for _, h := range cfg.Hooks {
		list = append(list, h.Commands.V...)
	}
	if len(list) == 0 {
		list = config.DefaultCommands()
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func everyOf(cfg *config.Config) []poll.Every {
	var list []poll.Every
	for _, r := range cfg.Rules {
		if r.Every.V > 0 {
			list = append(list, poll.Every{Rule: r.Name.V, Each: r.Every.V})
		}
	}
	return list
}

// wantsOf reports which kinds any rule wants.
func wantsOf(cfg *config.Config) func(slot.EventKind) bool {
	return func(k slot.EventKind) bool {
		return slices.ContainsFunc(cfg.Rules, func(r config.Rule) bool { return slices.Contains(r.On.V, k) })
	}
}

// orphans are the queue's events without a ref.
type orphans struct {
	queue queue.Store
	desk  desk
}

// atOnceOrphans bounds one look at them.
const atOnceOrphans = 200

// Orphans implements poll.Unresolved.
func (o orphans) Orphans(ctx context.Context, hosts []string, after int64) ([]poll.Orphan, error) {
	events, err := o.queue.Events(ctx, queue.Filter{
		State: string(queue.EventUnresolved), Hosts: hosts, Oldest: true, After: after, Limit: atOnceOrphans,
	})
	list := make([]poll.Orphan, len(events))
	for i, e := range events {
		list[i] = poll.Orphan{N: e.N, Event: e.Event}
	}
	return list, err
}

// Resolve implements poll.Unresolved.
func (o orphans) Resolve(ctx context.Context, n int64, events []slot.Event, reason string) error {
	var wishes []queue.Wish
	for _, e := range events {
		wishes = append(wishes, wanted(o.desk.terms().rules, e))
	}
	_, err := o.queue.Resolve(ctx, n, wishes, reason)
	if errors.Is(err, queue.ErrStale) { // somebody else did
		return nil
	}
	return err
}

// found is a desk for what the timer path finds.
type found struct {
	desk
	feed *api.Feed
	log  *slog.Logger
}

// Accept implements poll.Sink. What no rule wants is not worth a step.
func (d found) Accept(ctx context.Context, list []poll.Found) error {
	now := d.terms()
	arrival := queue.Arrival{AnyNew: now.anyNew}
	for _, f := range list {
		w := wanted(now.rules, f.Event)
		if f.Rule != "" {
			w = scheduled(now.rules, f)
		}
		if len(w.Policies) > 0 {
			w.Condition = f.Condition
			arrival.Wishes = append(arrival.Wishes, w)
		}
	}
	if len(arrival.Wishes) == 0 {
		return nil
	}
	accepted, err := d.queue.Accept(ctx, arrival)
	for _, a := range accepted {
		if a.Intake == slot.Queued || a.Intake == slot.Coalesced {
			d.feed.Tell("work", a.Event.Ref.String())
		}
		if a.Reason == queue.ReasonUnresolved {
			d.givenUp(ctx, a)
		}
	}
	return err
}

// givenUp tells of a condition that outlived every attempt; not of what comes to work
// that was dead before.
func (d found) givenUp(ctx context.Context, a queue.Accepted) {
	items, err := d.queue.Items(ctx, queue.Filter{Ref: a.Event.Ref, Rule: &a.Rule})
	for _, it := range items {
		if err == nil && it.State == queue.Dead && it.Last.Equal(a.Event.At) {
			dispatch.GivenUp(d.log, it)
		}
	}
}

// scheduled is a wish for one rule alone.
func scheduled(rules rule.Set, f poll.Found) queue.Wish {
	w := queue.Wish{Event: f.Event}
	for _, r := range rules.Wanting(f.Event) {
		if r.Name == f.Rule {
			w.Policies = append(w.Policies, r.Policy())
		}
	}
	return w
}
