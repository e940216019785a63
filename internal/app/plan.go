package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/dispatch"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/rule"
)

// plans says what is to run, by the configuration of the moment it is asked.
type plans struct {
	config func() *config.Config
}

// Plan implements dispatch.Plans.
func (p plans) Plan(it queue.Item, sha string) (plan dispatch.Plan, err error) {
	cfg := p.config()
	r, ok := rule.New(cfg).Named(it.Policy.Rule)
	if !ok {
		return plan, fmt.Errorf("no rule has the name %q any more", it.Policy.Rule)
	}
	plan = dispatch.Plan{
		Policy: r.Policy(), Dir: workDir(cfg), Timeout: r.Timeout, TTL: r.TTL, Grace: r.Grace, Link: r.Link,
		LogBytes: cfg.Retention.LogBytes.V,
		Strip:    slices.DeleteFunc(Secrets(cfg), func(name string) bool { return slices.Contains(r.Env, name) }),
	}
	if own := it.Policy.Run; len(own) > 0 { // a wish that brought its command
		plan.Policy.Run, plan.Policy.Dir = own, it.Policy.Dir
		plan.Argv, plan.Dir = own, it.Policy.Dir
		return plan, nil
	}
	if plan.Argv, err = r.Argv(it.Ref, sha); err == nil && len(plan.Argv) == 0 {
		err = errors.New("[worker] has no command in the configuration of whoever works the queue")
	}
	return plan, err
}

// workDir is where commands of the configuration start: relative names in it count
// from the file's folder.
func workDir(cfg *config.Config) string {
	if cfg.File == "" {
		return ""
	}
	return filepath.Dir(cfg.File)
}

// Limits implements dispatch.Plans.
func (p plans) Limits() claim.Limits {
	l := p.config().Limits
	return claim.Limits{
		Running: int(l.Running.V), PerRepo: int(l.PerRepo.V), PerRef: l.RunsPerRef.V.N, Window: l.RunsPerRef.V.Per,
	}
}

// Secrets names the coordinator's own variables; no worker gets them, unless its
// rule lists them.
func Secrets(cfg *config.Config) []string {
	names := []string{"ONESLOT_STORE", "ONESLOT_CLAIMS", "ONESLOT_API_TOKEN"}
	for _, h := range cfg.Hooks {
		names = append(names, h.Secret.Env.V)
	}
	for _, t := range cfg.Tokens {
		names = append(names, t.Secret.Env.V)
	}
	for _, f := range cfg.Forges {
		if f.Token.Helper.V { // what gh would tell us, it reads there
			names = append(names, "GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
		}
		names = append(names, f.Token.Secret.Env.V)
	}
	names = append(names, cfg.Reservation.Key.Env.V)
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
