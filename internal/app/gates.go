package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/gate"
	"github.com/oneslot/oneslot/internal/slot"
)

// gatesOf builds the gates of a configuration, cheap first. What the claim's own
// step decides is not asked beforehand: hold, capacity, breaker.
func (a *App) gatesOf(cfg *config.Config, f forges) (*gate.Set, error) {
	return a.gatesFor(cfg, f, func(g config.Gate) bool { return !inClaim(g) })
}

// inClaim names the gates that a claim's transaction is.
func inClaim(g config.Gate) bool {
	return slices.Contains([]string{"hold", "capacity", "breaker"}, g.Type.V)
}

// gatesFor builds those gates of a configuration that are wanted.
func (a *App) gatesFor(cfg *config.Config, f forges, want func(config.Gate) bool) (*gate.Set, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("%w: this program's own path: %w", slot.ErrUnknown, err)
	}
	var entries []gate.Entry
	for i, g := range cfg.GatesInForce() {
		if !want(g) {
			continue
		}
		built, err := a.gateOf(cfg, f, g, self)
		if err != nil {
			return nil, refuseGate(g, err)
		}
		if built == nil {
			continue
		}
		entries = append(entries, gate.Entry{
			Gate: built, Name: nameOf(g.Type.V, i, cfg.GatesInForce()),
			OnError: gate.OnError{Closed: g.OnError.V.Closed, For: g.OnError.V.For},
			Timeout: g.Timeout.V, Every: g.Every.V,
		})
	}
	return gate.NewSet(a.Clock, a.Memory, entries...), nil
}

// nameOf tells gates of one type apart by their place.
func nameOf(kind string, at int, all []config.Gate) string {
	same := 0
	for _, g := range all[:at] {
		if g.Type.V == kind {
			same++
		}
	}
	if same == 0 {
		return kind
	}
	return fmt.Sprintf("%s-%d", kind, same+1)
}

// gateOf builds one gate; nil for one that the queue itself is.
func (a *App) gateOf(cfg *config.Config, f forges, g config.Gate, self string) (gate.Gate, error) {
	counts := counts{a}
	facts := facts{cfg, f}
	switch g.Type.V {
	case "capacity":
		return gate.NewCapacity(counts, int(cfg.Limits.Running.V), int(cfg.Limits.PerRepo.V)), nil
	case "breaker":
		return gate.NewBreaker(counts, cfg.Limits.RunsPerRef.V.N, cfg.Limits.RunsPerRef.V.Per, a.Clock), nil
	case "trust":
		return gate.NewTrust(trustOf(cfg, facts)), nil
	case "closed":
		return gate.NewClosed(facts), nil
	case "landed":
		return gate.NewLanded(facts), nil
	case "open_pr":
		return gate.NewOpenPR(facts, trustOf(cfg, facts), g.Then.V == "defer"), nil
	case "head_moved":
		return gate.NewHeadMoved(facts), nil
	case "draft":
		return gate.NewDraft(facts), nil
	case "still_failing":
		return gate.NewStillFailing(facts, cfg.Trust.Own.V), nil
	case "label":
		return gate.NewLabel(facts, g.Labels.V), nil
	case "assignee":
		return gate.NewAssignee(facts, cfg.Trust.Own.V), nil
	case "comment":
		return gate.NewComment(facts, trustOf(cfg, facts), g.Pattern.V)
	case "hours":
		h, err := gate.ParseHours(g.Hours.V, g.TZ.V)
		return gate.NewHours(h, a.Clock), err
	case "systemd":
		return gate.NewSystemd(gate.Systemd{User: g.User.V, Units: g.Units.V, HoldUnit: g.HoldUnit.V, Program: []string{self}})
	case "docker":
		return gate.NewDocker(gate.Containers{Name: g.Name.V, Label: g.Label.V})
	case "podman":
		return gate.NewPodman(gate.Containers{Name: g.Name.V, Label: g.Label.V})
	case "process":
		return gate.NewProcess(gate.Process{PIDFile: g.PidFile.V, Flock: g.Flock.V})
	case "command":
		return gate.NewCommand(gate.Command{Run: g.Run.V, Dir: workDir(cfg), Env: without(os.Environ(), Secrets(cfg))})
	case "http":
		return gate.NewHTTP(g.URL.V)
	}
	return nil, nil // hold: the slot itself tells; already_handled: decided when an event is accepted
}

func trustOf(cfg *config.Config, f gate.Facts) gate.Trust {
	return gate.Trust{
		Associations: cfg.Trust.Associations.V, Logins: cfg.Trust.Logins.V, Bots: cfg.Trust.Bots.V, Facts: f,
	}
}

// facts are the configured forges, as gates see them.
type facts struct {
	config *config.Config
	forges forges
}

// For implements gate.Facts.
func (f facts) For(ref slot.Ref) (gate.Forge, string, bool) {
	client, ok := f.forges.forgeOf(ref)
	of, _ := f.config.ForgeOf(ref.Host())
	return client, of.Type.V, ok
}

// without drops variables by name.
func without(env, names []string) []string {
	return slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}

// counts reads from the store what the cheap gates look at.
type counts struct{ app *App }

// Running implements gate.Counts: what a claim's own step would count.
func (c counts) Running(ctx context.Context, beside slot.Ref) (all, inRepo int, err error) {
	live, err := c.app.Store.Live(ctx)
	for _, cl := range live {
		if cl.Kind == slot.Waiting || cl.Ref == beside || c.over(ctx, cl) {
			continue
		}
		all++
		if cl.Ref.Repo() == beside.Repo() {
			inRepo++
		}
	}
	return all, inRepo, err
}

// over reports that the holder of a live claim surely works no more, or its run has
// left nothing: nobody may ever take its slot.
func (c counts) over(ctx context.Context, cl slot.Claim) bool {
	return c.ended(ctx, cl) || claim.Unworked(cl)
}

// ended reports that a live claim can never be renewed again.
func (c counts) ended(ctx context.Context, cl slot.Claim) bool {
	return c.app.Ender().Overtaken(cl) || cl.StopReason != "" && c.app.Ender().Cleared(ctx, cl) || cl.Kind == slot.Waiting && cl.Expired()
}

// RunsOf implements gate.Counts.
func (c counts) RunsOf(ctx context.Context, ref slot.Ref, since time.Time) (n int, err error) {
	runs, err := c.app.Store.Runs(ctx, ref, 0)
	for _, r := range runs {
		if r.StartedAt.After(since) {
			n++
		}
	}
	return n, err
}

// gates are the gates in force; a new configuration brings new ones.
type gates struct{ now atomic.Pointer[gate.Set] }

func (g *gates) Tick() { g.now.Load().Tick() }

func (g *gates) Decide(ctx context.Context, ask gate.Ask) gate.Decision {
	return g.now.Load().Decide(ctx, ask)
}

func (g *gates) Hold(ctx context.Context, ask gate.Ask, run gate.Run) (gate.Decision, func(context.Context)) {
	return g.now.Load().Hold(ctx, ask, run)
}
